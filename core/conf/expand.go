package conf

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

const maxExpanded = 1 << 20 // bytes of one value after expansion

// expander replaces references in values.
type expander struct {
	env      map[string]string
	readFile func(string) ([]byte, error)
	scheme   *regexp.Regexp
}

func newExpander(env map[string]string, readFile func(string) ([]byte, error)) *expander {
	return &expander{env: env, readFile: readFile, scheme: regexp.MustCompile(`^\$\{[a-zA-Z]+:`)}
}

// expand replaces ${env:NAME}, ${env:NAME:-default} and ${file:/path} in the
// text, once, from left to right. $${ gives ${. A ${ that is not followed by a
// word and a colon is left alone; another word is an error. An error never
// shows what a reference gave.
func (e *expander) expand(text string) (string, error) {
	if !strings.Contains(text, "${") {
		return text, nil
	}
	var out strings.Builder
	for text != "" {
		i := strings.Index(text, "${")
		if i < 0 {
			out.WriteString(text)
			break
		}
		if i > 0 && text[i-1] == '$' {
			out.WriteString(text[:i-1] + "${")
			text = text[i+2:]
			continue
		}
		out.WriteString(text[:i])
		text = text[i:]
		if !e.scheme.MatchString(text) {
			out.WriteString("${")
			text = text[2:]
			continue
		}
		end := strings.IndexByte(text, '}')
		if end < 0 {
			return "", fmt.Errorf("a reference such as ${env:NAME} is not closed with }")
		}
		value, err := e.reference(text[2:end])
		if err != nil {
			return "", err
		}
		if out.Len()+len(value) > maxExpanded {
			return "", fmt.Errorf("the value is larger than %s after its references are read", Bytes(maxExpanded))
		}
		out.WriteString(value)
		text = text[end+1:]
	}
	return out.String(), nil
}

func (e *expander) reference(ref string) (string, error) {
	scheme, name, _ := strings.Cut(ref, ":")
	switch scheme {
	case "env":
		name, fallback, hasFallback := strings.Cut(name, ":-")
		value, set := e.env[name]
		switch {
		case hasFallback && value == "":
			return fallback, nil
		case !set:
			return "", fmt.Errorf("the environment variable %s is not set", name)
		}
		return value, nil
	case "file":
		if !filepath.IsAbs(name) {
			return "", fmt.Errorf("${file:%s} must name an absolute path", name)
		}
		content, err := e.readFile(name)
		if err != nil {
			return "", fmt.Errorf("${file:%s} cannot be read: %w", name, err)
		}
		return strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r"), nil
	}
	return "", fmt.Errorf("${%s:…} is not a reference; there are ${env:NAME} and ${file:/path}, and $${ is a literal ${", scheme)
}
