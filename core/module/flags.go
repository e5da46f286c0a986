package module

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/conf"
)

// flag reads one flag, with its value from the following words if need be, and
// gives the words that are left. A list may be given several times.
func (l *Line) flag(word string, words []string, given map[string]bool) ([]string, error) {
	name, value, hasValue := strings.Cut(strings.TrimPrefix(word, "--"), "=")
	old, known := l.flags[name]
	if !known || !strings.HasPrefix(word, "--") {
		return nil, l.unknownFlag(word)
	}
	if _, yes := old.(bool); yes && !hasValue {
		value = "true"
	} else if !hasValue {
		if len(words) == 0 {
			return nil, fmt.Errorf("--%s needs a value", name)
		}
		value, words = words[0], words[1:]
	}
	list, isList := old.([]string)
	if given[name] && !isList {
		return nil, fmt.Errorf("--%s is given twice", name)
	}
	if isList {
		if !given[name] {
			list = nil
		}
		l.flags[name] = append(list[:len(list):len(list)], strings.Split(value, ",")...)
		given[name] = true
		return words, nil
	}
	given[name] = true
	v, err := typed(old, value)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", name, err)
	}
	l.flags[name] = v
	return words, nil
}

func (l *Line) unknownFlag(word string) error {
	word, _, _ = strings.Cut(word, "=")
	var names []string
	for _, f := range l.Command.Flags {
		names = append(names, "--"+f.Name)
	}
	if near := conf.Nearest(word, names); near != "" {
		return fmt.Errorf("there is no option %.100q; did you mean %q?", word, near)
	}
	if names == nil {
		return fmt.Errorf("there is no option %.100q: it has none", word)
	}
	return fmt.Errorf("there is no option %.100q; there are %s", word, strings.Join(names, ", "))
}

// typed reads a value of the type of like.
func typed(like any, value string) (any, error) {
	switch like.(type) {
	case bool:
		v, err := strconv.ParseBool(value)
		if err != nil {
			return nil, fmt.Errorf("%.100q is neither true nor false", value)
		}
		return v, nil
	case int:
		v, err := strconv.Atoi(value)
		if err != nil {
			return nil, fmt.Errorf("%.100q is not a whole number", value)
		}
		return v, nil
	case time.Duration:
		v, err := time.ParseDuration(value)
		if err != nil {
			return nil, fmt.Errorf("%.100q is not a duration such as 90s or 24h", value)
		}
		return v, nil
	}
	return value, nil
}

// number reports whether a word that begins with a minus is a number.
func number(word string) bool {
	_, err := strconv.ParseFloat(word, 64)
	return err == nil
}
