package conf

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes is a size in bytes. It is written as a number of bytes or with a unit:
// B, KB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (powers of 1024).
type Bytes int64

// Sizes for defaults: 32 * conf.MiB.
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
	TiB Bytes = 1 << 40
)

type byteUnit struct {
	name string
	size Bytes
}

// byteUnits lists longer names first, so that "KiB" is not read as "B".
func byteUnits() []byteUnit {
	return []byteUnit{
		{"TiB", TiB}, {"GiB", GiB}, {"MiB", MiB}, {"KiB", KiB},
		{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1},
	}
}

// ParseBytes reads a size such as "32MiB", "1.5 GB" or "4096". Sizes are not
// negative and fit an int64.
func ParseBytes(text string) (Bytes, error) {
	number, unit := strings.TrimSpace(text), Bytes(1)
	for _, u := range byteUnits() {
		if len(number) > len(u.name) && strings.EqualFold(number[len(number)-len(u.name):], u.name) {
			number, unit = strings.TrimSpace(number[:len(number)-len(u.name)]), u.size
			break
		}
	}
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		if n < 0 || n > math.MaxInt64/int64(unit) {
			return 0, fmt.Errorf("is out of range")
		}
		return Bytes(n) * unit, nil
	}
	if strings.Trim(number, "0123456789.") != "" {
		return 0, fmt.Errorf("is not a size such as 512KiB, 32MiB or 1GB")
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, fmt.Errorf("is not a size such as 512KiB, 32MiB or 1GB")
	}
	if f *= float64(unit); f >= math.MaxInt64 {
		return 0, fmt.Errorf("is out of range")
	}
	return Bytes(f), nil
}

// String gives the size exactly, in the unit that makes the number shortest.
func (b Bytes) String() string {
	best, unit := int64(b), ""
	for _, u := range byteUnits() {
		if n := int64(b / u.size); u.size > 1 && n != 0 && b%u.size == 0 && n < best {
			best, unit = n, u.name
		}
	}
	return strconv.FormatInt(best, 10) + unit
}

// UnmarshalText reads the size as ParseBytes does.
func (b *Bytes) UnmarshalText(text []byte) error {
	n, err := ParseBytes(string(text))
	if err == nil {
		*b = n
	}
	return err
}
