package double

import (
	"math"
	"strconv"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
)

// intSpan is an inclusive range of integers.
type intSpan struct {
	lo, hi int64
	none   bool
}

func (f *filtering) bools(fd *field, rest string) (*roaring.Bitmap, *failure) {
	not, _, values, _ := operators(rest)
	var out gather
	for _, v := range values {
		n, ok := map[string]int64{"true": 1, "false": 0}[v]
		if !ok {
			return nil, fail(400, "Value of filter field `"+fd.Name+"` must be `true` or `false`.")
		}
		out.union(fd.ints[n])
	}
	return f.negate(out.set(), not), nil
}

// numbers evaluates a condition on integers or floats. A lone `!` without an
// equals sign is an error for numbers.
func (f *filtering) numbers(fd *field, rest string) (*roaring.Bitmap, *failure) {
	not, equal, values, list := operators(rest)
	if not && !equal {
		return nil, badComparator(fd)
	}
	var out gather
	for _, v := range values {
		if err := f.number(fd, unquote(v), list, &out); err != nil {
			return nil, err
		}
	}
	return f.negate(out.set(), not), nil
}

func badComparator(fd *field) *failure {
	return fail(400, "Error with filter field `"+fd.Name+"`: Numerical field has an invalid comparator.")
}

// comparison splits `>=5` into its sign and its number.
func comparison(v string) (sign, number string) {
	for _, sign := range []string{">=", "<=", ">", "<", "="} {
		if rest, ok := strings.CutPrefix(v, sign); ok {
			return sign, strings.TrimSpace(rest)
		}
	}
	return "=", v
}

func (f *filtering) number(fd *field, v string, list bool, out *gather) *failure {
	if lo, hi, ok := strings.Cut(v, ".."); ok && list {
		if lo == "" || hi == "" {
			f.s.violate("field %s: the open range [%s] selects nothing", fd.Name, v)
			return nil
		}
		if fd.scalar() == "float" {
			return f.floatSpan(fd, ">=", lo, hi, out)
		}
		a, err := f.integer(fd, lo)
		if err != nil {
			return err
		}
		b, err := f.integer(fd, hi)
		if err != nil {
			return err
		}
		fd.intsIn(intSpan{lo: a, hi: b}, out)
		return nil
	}
	sign, number := comparison(v)
	if fd.scalar() == "float" {
		return f.floatSpan(fd, sign, number, "", out)
	}
	n, err := f.integer(fd, number)
	if err != nil {
		return err
	}
	fd.intsIn(intsOf(sign, n), out)
	return nil
}

func intsOf(sign string, n int64) intSpan {
	switch sign {
	case ">=":
		return intSpan{lo: n, hi: math.MaxInt64}
	case "<=":
		return intSpan{lo: math.MinInt64, hi: n}
	case ">":
		return intSpan{lo: n + 1, hi: math.MaxInt64, none: n == math.MaxInt64}
	case "<":
		return intSpan{lo: math.MinInt64, hi: n - 1, none: n == math.MinInt64}
	}
	return intSpan{lo: n, hi: n}
}

// integer reads a literal of a filter. One outside int64 hangs a server.
func (f *filtering) integer(fd *field, literal string) (int64, *failure) {
	n, integer, inside := inInt64(strings.TrimSpace(literal))
	switch {
	case !inside && fd.scalar() == "int32":
		return 0, fail(400, "Error with filter field `"+fd.Name+"`: `"+literal+"` exceeds the range of an int32.")
	case !inside:
		return 0, f.s.fatal("field %s: %.40s is outside int64 and hangs the %s for ever", fd.Name, literal, f.where)
	case integer && fd.scalar() == "int32" && n != int64(int32(n)):
		return 0, fail(400, "Error with filter field `"+fd.Name+"`: `"+literal+"` exceeds the range of an int32.")
	case integer:
		return n, nil
	}
	if _, err := strconv.ParseFloat(strings.TrimSpace(literal), 64); err == nil {
		return 0, fail(400, "Error with filter field `"+fd.Name+"`: Not an "+fd.scalar()+".")
	}
	return 0, badComparator(fd)
}

func (f *field) intsIn(s intSpan, out *gather) {
	if s.none {
		return
	}
	if s.lo == s.hi {
		out.union(f.ints[s.lo])
		return
	}
	for n, b := range f.ints {
		if n >= s.lo && n <= s.hi {
			out.union(b)
		}
	}
}

func (f *filtering) floatSpan(fd *field, sign, from, to string, out *gather) *failure {
	lo, err := strconv.ParseFloat(strings.TrimSpace(from), 32)
	hi := lo
	if err == nil && to != "" {
		hi, err = strconv.ParseFloat(strings.TrimSpace(to), 32)
	}
	if err != nil {
		return badComparator(fd)
	}
	keep := func(n float64) bool { return n >= lo && n <= hi }
	switch {
	case to != "":
	case sign == ">=":
		keep = func(n float64) bool { return n >= lo }
	case sign == "<=":
		keep = func(n float64) bool { return n <= lo }
	case sign == ">":
		keep = func(n float64) bool { return n > lo }
	case sign == "<":
		keep = func(n float64) bool { return n < lo }
	}
	for n, b := range fd.floats {
		if keep(float64(n)) {
			out.union(b)
		}
	}
	return nil
}
