package schema

import (
	"math"
	"strconv"
	"strings"

	"github.com/quoin-cms/quoin/core/rawjson"
)

// opts reads members of a JSON object that PHP may have written as []. A
// member of another type than asked for counts as absent: exports of many
// versions are about, and an option that has no meaning here must not refuse
// them.
type opts []byte

func (o opts) get(key string) []byte {
	v, _ := rawjson.Get(o, key)
	return v
}

func (o opts) sub(key string) opts { return opts(o.get(key)) }

func (o opts) str(key string) string {
	s, _ := rawjson.String(o.get(key))
	return s
}

func (o opts) flag(key string) bool {
	v := strings.TrimSpace(string(o.get(key)))
	return v == "true" || v == "1" || v == `"1"`
}

func (o opts) num(key string) *float64 {
	v := strings.Trim(strings.TrimSpace(string(o.get(key))), `"`)
	if f, err := strconv.ParseFloat(v, 64); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) { // JSON has neither
		return &f
	}
	return nil
}

func (o opts) int(key string) int {
	if f := o.num(key); f != nil && *f > -1e9 && *f < 1e9 {
		return int(*f)
	}
	return 0
}

// strings reads an array of strings; a single string counts as one.
func (o opts) strings(key string) []string {
	v := o.get(key)
	if s, ok := rawjson.String(v); ok && s != "" {
		return []string{s}
	}
	var list []string
	if rawjson.KindOf(v) != rawjson.Array {
		return nil
	}
	for it := rawjson.Iterate(v); it.Next(); {
		if s, ok := rawjson.String(it.Value()); ok {
			list = append(list, s)
		}
	}
	return list
}

// lines reads a text area: one value per line.
func (o opts) lines(key string) []string {
	s := strings.ReplaceAll(o.str(key), "\r", "")
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimRight(s, "\n"), "\n")
}

// commas reads a list of names in one string: "page,news".
func (o opts) commas(key string) []string {
	var list []string
	for _, one := range o.strings(key) {
		for s := range strings.SplitSeq(one, ",") {
			if s = strings.TrimSpace(s); s != "" {
				list = append(list, s)
			}
		}
	}
	return list
}

// dict reads an object of strings.
func (o opts) dict(key string) map[string]string {
	m := map[string]string{}
	v := o.get(key)
	if rawjson.KindOf(v) != rawjson.Map {
		return m
	}
	for it := rawjson.Iterate(v); it.Next(); {
		if s, ok := rawjson.String(it.Value()); ok && s != "" && s != "not-defined" {
			m[string(it.Key())] = s
		}
	}
	return m
}
