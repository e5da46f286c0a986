package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/uptrace/bunrouter"

	"github.com/quoin-cms/quoin/core/problem"
)

// tidy gives the URL that the router looks up: /json is the old name of /api,
// and slashes too many, at the end or between, mean nothing. (The router would
// answer them with a redirect, which clients repeat as GET.) The router works
// on the escaped path when there is one, and so does this. Lists in the query
// lose the brackets that PHP gives them.
func tidy(u *url.URL) *url.URL {
	path := u.RawPath
	if path == "" {
		path = u.Path
	}
	clean := path
	if clean == "" || strings.Contains(clean, "//") || strings.Contains(clean, "/.") {
		clean = bunrouter.CleanPath(clean)
	}
	if len(clean) > 1 {
		clean = strings.TrimSuffix(clean, "/")
	}
	if rest, old := strings.CutPrefix(clean, "/json/"); old {
		clean = "/api/" + rest
	}
	query := plainLists(u.RawQuery)
	if clean == path && query == u.RawQuery {
		return u
	}
	v := *u
	v.RawQuery = query
	if u.RawPath == "" {
		v.Path = clean
		return &v
	}
	plain, err := url.PathUnescape(clean)
	if err != nil { // net/url accepted the whole of it
		return u
	}
	v.Path, v.RawPath = plain, clean
	return &v
}

// plainLists gives a query without the brackets with which PHP names the values
// of a list: a[]=1 and a[0]=1, which its clients write, are both a=1.
func plainLists(query string) string {
	if !strings.Contains(query, "]") && !strings.Contains(strings.ToUpper(query), "%5D") {
		return query
	}
	parts := strings.Split(query, "&")
	for i, part := range parts {
		key, value, _ := strings.Cut(part, "=")
		plain, err := url.QueryUnescape(key)
		if err != nil { // refused by checkURL
			return query
		}
		if list, at, ok := strings.Cut(strings.TrimSuffix(plain, "]"), "["); ok && list != "" && len(list)+len(at)+2 == len(plain) && strings.Trim(at, "0123456789") == "" {
			parts[i] = url.QueryEscape(list) + "=" + value
		}
	}
	return strings.Join(parts, "&")
}

// checkURL refuses what no database keeps: text that is not UTF-8, and NUL.
func checkURL(u *url.URL) error {
	if !storable(u.Path) {
		return problem.New(problem.Invalid, "the path is not UTF-8 text")
	}
	query := u.RawQuery
	if strings.IndexByte(query, '%') >= 0 {
		plain, err := url.QueryUnescape(query)
		if err != nil {
			return problem.Wrap(err, problem.Invalid, "the query is not percent-encoded as it should be")
		}
		query = plain
	}
	if !storable(query) {
		return problem.New(problem.Invalid, "the query is not UTF-8 text")
	}
	return nil
}

func storable(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// wellFormed reports whether an operation can have the path: its parts are
// words, or parameters in braces.
func wellFormed(path string) bool {
	rest, ok := strings.CutPrefix(path, "/")
	for part := range strings.SplitSeq(rest, "/") {
		if part != "" && part[0] == '{' && part[len(part)-1] == '}' {
			part = part[1 : len(part)-1]
		}
		ok = ok && part != "" && !strings.ContainsAny(part, "{}:*")
	}
	return ok
}

// shapeOf makes paths that differ only in the names of parameters alike.
func shapeOf(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if strings.HasPrefix(p, "{") {
			parts[i] = "{}"
		}
	}
	return strings.Join(parts, "/")
}

// allowed lists the methods that a path answers to.
func (r *Router) allowed(u *url.URL) []string {
	var methods []string
	path := u.RawPath
	if path == "" {
		path = u.Path
	}
	parts := strings.Split(path, "/")
	for shape, by := range r.routes {
		pattern := strings.Split(shape, "/")
		if !slices.EqualFunc(pattern, parts, func(p, s string) bool { return p == s || p == "{}" && s != "" }) {
			continue
		}
		for m := range by {
			methods = append(methods, m)
			if m == http.MethodGet {
				methods = append(methods, http.MethodHead)
			}
		}
	}
	slices.Sort(methods)
	return slices.Compact(methods)
}
