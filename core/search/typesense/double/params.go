package double

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
)

// params are the parameters of one search, as text.
type params map[string]string

func ofQuery(q url.Values) params {
	p := params{}
	for k, v := range q {
		p[k] = v[0]
	}
	return p
}

// readSearches reads the body of a multi_search.
func (s *Server) readSearches(body []byte) ([]params, *failure) {
	var envelope map[string]json.RawMessage
	if json.Unmarshal(body, &envelope) != nil {
		return nil, fail(400, "Bad JSON.")
	}
	if string(envelope["union"]) == "true" {
		return nil, s.unsupported("a union of searches, which gives no facets")
	}
	var list []map[string]json.RawMessage
	raw, ok := envelope["searches"]
	if !ok || json.Unmarshal(raw, &list) != nil {
		return nil, fail(400, "Missing `searches` array.")
	}
	if len(list) == 0 {
		return nil, fail(500, "Embedded params parsing error.")
	}
	var out []params
	for _, one := range list {
		p := params{}
		for k, raw := range one {
			raw = bytes.TrimSpace(raw)
			switch raw[0] {
			case '[', '{', 'n':
				return nil, fail(400, "One or more search parameters are malformed.")
			case '"':
				var text string
				_ = json.Unmarshal(raw, &text)
				p[k] = text
			default:
				p[k] = string(raw)
			}
		}
		out = append(out, p)
	}
	return out, nil
}

// defaults lays the common parameters of the query string under p.
func (p params) defaults(common params) {
	for k, v := range common {
		if _, ok := p[k]; !ok {
			p[k] = v
		}
	}
}

func (p params) text(name, or string) string {
	if v, ok := p[name]; ok {
		return v
	}
	return or
}

func (p params) flag(name string, or bool) bool {
	if v, ok := p[name]; ok {
		return v == "true"
	}
	return or
}

// number reads a parameter that is not negative.
func (p params) number(name string, or int) (int, *failure) {
	v, ok := p[name]
	if !ok {
		return or, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 {
		return 0, fail(400, "Parameter `"+name+"` must be an unsigned integer.")
	}
	return n, nil
}

// numbers reads several parameters at once.
func (p params) numbers(into map[string]*int) *failure {
	for name, to := range into {
		n, err := p.number(name, *to)
		if err != nil {
			return err
		}
		*to = n
	}
	return nil
}

// words splits a parameter at commas.
func (p params) words(name string) []string {
	var out []string
	for w := range strings.SplitSeq(p[name], ",") {
		if w = strings.TrimSpace(w); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// outside splits at commas that are outside of brackets of any kind.
func outside(list string) []string {
	var out []string
	depth, start := 0, 0
	for i := 0; i <= len(list); i++ {
		switch {
		case i == len(list), list[i] == ',' && depth == 0:
			if w := strings.TrimSpace(list[start:i]); w != "" {
				out = append(out, w)
			}
			start = i + 1
		case strings.IndexByte("([", list[i]) >= 0:
			depth++
		case strings.IndexByte(")]", list[i]) >= 0:
			depth--
		}
	}
	return out
}
