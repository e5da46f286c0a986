package typesense

import (
	"fmt"
	"strconv"
	"strings"
)

// checkFilter looks at a filter. prefixes tells whether it may have some, which
// is where the server can be told to look at all candidates.
func checkFilter(filter string, prefixes bool) error {
	if strings.IndexByte(filter, 0) >= 0 {
		return fmt.Errorf("the filter has a NUL byte")
	}
	if strings.Count(filter, "`")%2 != 0 {
		return fmt.Errorf("a backtick of the filter is not closed")
	}
	if strings.Contains(bare(filter), ".{") {
		return fmt.Errorf("a filter on objects inside objects, which is never answered")
	}
	own, joins, err := splitJoins(filter)
	if err != nil {
		return err
	}
	if err := checkConditions(own, prefixes); err != nil {
		return err
	}
	for _, join := range joins {
		if len(join) > limitJoin {
			return fmt.Errorf("a join has %d bytes", len(join))
		}
		if strings.Contains(bare(join), "$") {
			return fmt.Errorf("a join inside a join")
		}
		if err := checkConditions(join, false); err != nil {
			return fmt.Errorf("in a join: %w", err)
		}
	}
	return nil
}

// bare leaves out what stands in backticks.
func bare(text string) string {
	if !strings.Contains(text, "`") {
		return text
	}
	var b strings.Builder
	for i, part := range strings.Split(text, "`") {
		if i%2 == 0 {
			b.WriteString(part)
		}
	}
	return b.String()
}

// splitJoins takes the bodies of joins, $collection(…), out of a filter. A
// condition stays where each has been.
func splitJoins(filter string) (own string, joins []string, err error) {
	var b strings.Builder
	for {
		before, rest, found := cutBare(filter, '$')
		b.WriteString(before)
		if !found {
			return b.String(), joins, nil
		}
		name, rest, found := strings.Cut(rest, "(")
		end := closing(rest)
		if !found || name == "" || strings.ContainsAny(name, " :&|)") || end < 0 {
			return "", nil, fmt.Errorf("a join that is not closed")
		}
		b.WriteString("join:=x")
		joins = append(joins, rest[:end])
		filter = rest[end+1:]
	}
}

// cutBare is strings.Cut for a byte outside backticks.
func cutBare(text string, sep byte) (before, after string, found bool) {
	quoted := false
	for i := range len(text) {
		switch {
		case text[i] == '`':
			quoted = !quoted
		case text[i] == sep && !quoted:
			return text[:i], text[i+1:], true
		}
	}
	return text, "", false
}

// closing gives the place of the parenthesis that closes one opened before the
// text; -1 if there is none.
func closing(text string) int {
	depth, quoted := 1, false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '`':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// checkConditions looks at the conditions of a filter without joins.
func checkConditions(filter string, prefixes bool) error {
	n := 0
	for part := range strings.FieldsFuncSeq(bare(filter), func(r rune) bool { return r == '&' || r == '|' || r == '(' || r == ')' }) {
		field, value, is := strings.Cut(strings.TrimSpace(part), ":")
		if !is {
			continue
		}
		n++
		if !prefixes && strings.Contains(value, "*") {
			return fmt.Errorf("a prefix on %.60q, of which only four candidates would be looked at", field)
		}
		if strings.Contains(value, "[..") || strings.Contains(value, "..]") {
			return fmt.Errorf("a range on %.60q with an open end, which finds nothing", field)
		}
		if err := checkIntegers(field, value); err != nil {
			return err
		}
	}
	if n > limitConditions {
		return fmt.Errorf("%d conditions", n)
	}
	return nil
}

// checkIntegers refuses numbers that do not fit into 64 bits, where numbers are
// expected: the request, and the multi_search around it, would never be
// answered.
func checkIntegers(field, value string) error {
	field = strings.TrimLeft(field, "!([ ")
	prefix, _, _ := strings.Cut(field, "_")
	switch prefix {
	case inKeyword, inText, inTokens, inSort, "id":
		return nil
	case "":
		if field != fieldOrder && field != "" {
			return nil
		}
	}
	for digits := range strings.FieldsFuncSeq(value, func(r rune) bool { return r < '0' || r > '9' }) {
		if _, err := strconv.ParseInt(digits, 10, 64); err != nil {
			return fmt.Errorf("a number of %.60q is beyond 64 bits", field)
		}
	}
	return nil
}

// checkSort looks at a sort: weights of _eval are numbers, and its conditions
// are those of a filter without joins.
func checkSort(sort string) error {
	if strings.IndexByte(sort, 0) >= 0 {
		return fmt.Errorf("the sort has a NUL byte")
	}
	if strings.Contains(bare(sort), "$") {
		return fmt.Errorf("a join in a sort")
	}
	for part := range strings.FieldsFuncSeq(bare(sort), func(r rune) bool { return r == '&' || r == '|' || r == '(' || r == ')' }) {
		field, value, _ := strings.Cut(strings.TrimSpace(part), ":")
		if strings.ContainsAny(field, "[,") { // the first condition of _eval, or a weight before another
			field = strings.TrimLeft(field, "[, ")
		}
		if err := checkIntegers(field, value); err != nil {
			return err
		}
	}
	return nil
}
