package analysis

import (
	"bytes"
	"html"
	"strings"
)

// inlineTags leave no trace; all other tags become a line break, so that words
// on both sides stay apart.
const inlineTags = " a abbr acronym b basefont bdo big cite code dfn em font i img input kbd label q s samp select small span strike strong sub sup textarea tt u var "

// htmlStrip removes tags, comments, scripts and styles and decodes entities.
func htmlStrip(text []byte) ([]byte, []edit) {
	if bytes.IndexByte(text, '<') < 0 && bytes.IndexByte(text, '&') < 0 {
		return text, nil
	}
	w := rewriter{out: make([]byte, 0, len(text))}
	lastClose := bytes.LastIndexByte(text, '>')
	for i := 0; i < len(text); {
		switch text[i] {
		case '<':
			end, with := i, ""
			if i < lastClose { // else no search for the end, which may be far
				end, with = tag(text, i)
			}
			if end == i {
				w.out = append(w.out, '<')
				i++
				break
			}
			w.replace([]byte(with), end)
			i = end
		case '&':
			end, with := entity(text, i)
			if end > i+1 {
				w.replace([]byte(with), end)
			} else {
				w.out = append(w.out, '&')
			}
			i = end
		default:
			w.out = append(w.out, text[i])
			i++
		}
	}
	return w.out, w.edits
}

// tag gives the end of the markup at i and what stands for it; the end is i if
// there is none.
func tag(text []byte, i int) (end int, with string) {
	rest := text[i:]
	if bytes.HasPrefix(rest, []byte("<!--")) {
		if e := bytes.Index(rest, []byte("-->")); e >= 0 {
			return i + e + 3, ""
		}
		return len(text), ""
	}
	if len(rest) < 3 {
		return i, ""
	}
	at := 1
	closing := rest[1] == '/'
	if closing || rest[1] == '!' || rest[1] == '?' {
		at = 2
	}
	n := at
	for n < len(rest) && n-at < 20 && isTagByte(rest[n]) {
		n++
	}
	close := bytes.IndexByte(rest, '>')
	if n == at || close < 0 {
		return i, ""
	}
	name := strings.ToLower(string(rest[at:n]))
	end = i + close + 1
	if !closing && (name == "script" || name == "style") {
		if e := indexFold(text[end:], "</"+name); e >= 0 {
			if g := bytes.IndexByte(text[end+e:], '>'); g >= 0 {
				return end + e + g + 1, "\n"
			}
		}
		return len(text), "\n"
	}
	if at == 1 || closing {
		if strings.Contains(inlineTags, " "+name+" ") {
			return end, ""
		}
	}
	return end, "\n"
}

func isTagByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == ':'
}

// indexFold is bytes.Index without regard to the case of ASCII letters.
func indexFold(b []byte, s string) int {
	for i := 0; i+len(s) <= len(b); i++ {
		j := bytes.IndexByte(b[i:], s[0])
		if j < 0 {
			return -1
		}
		if i += j; i+len(s) <= len(b) && strings.EqualFold(string(b[i:i+len(s)]), s) {
			return i
		}
	}
	return -1
}

// entity gives the end of the entity at i and its character; the end is i+1 if
// there is none.
func entity(text []byte, i int) (end int, with string) {
	stop := bytes.IndexByte(text[i:min(len(text), i+34)], ';')
	if stop < 2 {
		return i + 1, ""
	}
	raw := string(text[i : i+stop+1])
	if with = html.UnescapeString(raw); with == raw {
		return i + 1, ""
	}
	if with == "\u00a0" {
		with = " "
	}
	return i + stop + 1, with
}
