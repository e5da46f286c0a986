package file

import (
	"mime"
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of what clients say about files, in bytes.
const (
	maxName = 255
	maxType = 127
)

// cleanName makes a name that is one, and nothing else: no folders, no control
// characters, no text that changes the direction of other text.
func cleanName(name string) string {
	name = strings.ToValidUTF8(name, "")
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' {
			return -1
		}
		return r
	}, name))
	if len(name) > maxName { // the ending says what it is: keep it
		ext := path.Ext(name)
		if len(ext) > 16 {
			ext = ""
		}
		name = strings.TrimSpace(cut(name, maxName-len(ext)) + ext)
	}
	if strings.Trim(name, "./") == "" {
		return defaultName
	}
	return name
}

// cut shortens a text to n bytes at most, between characters.
func cut(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// cleanType gives a media type as headers may carry it, with its charset.
func cleanType(text string) string {
	if len(text) > maxType {
		return defaultType
	}
	kind, params, err := mime.ParseMediaType(text)
	if err != nil || !strings.Contains(kind, "/") {
		return defaultType
	}
	if charset := params["charset"]; charset != "" {
		return mime.FormatMediaType(kind, map[string]string{"charset": charset})
	}
	return kind
}

// link gives the address under which clients show a file.
func link(folder, hash, name, typ string) string {
	q := url.Values{"name": {name}, "type": {typ}}
	return folder + hash + "?" + q.Encode()
}

// disposition says how a file is to be shown and called (RFC 6266): a name in
// ASCII for old clients, and the real one (RFC 8187).
func disposition(kind, name string) string {
	var ascii, encoded strings.Builder
	plain := true
	for _, r := range name {
		switch {
		case r < 0x20 || r > 0x7e:
			ascii.WriteByte('_')
			plain = false
		case r == '"' || r == '\\' || r == '%': // % is undone by some, quotes are not understood by others
			ascii.WriteByte('_')
			plain = false
		default:
			ascii.WriteRune(r)
		}
	}
	header := kind + `; filename="` + ascii.String() + `"`
	if plain {
		return header
	}
	for i := range len(name) {
		c := name[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("!#$&+-.^_`|~", c) >= 0 {
			encoded.WriteByte(c)
			continue
		}
		const digits = "0123456789ABCDEF"
		encoded.WriteByte('%')
		encoded.WriteByte(digits[c>>4])
		encoded.WriteByte(digits[c&15])
	}
	return header + `; filename*=UTF-8''` + encoded.String()
}
