package module

import (
	"errors"
	"strings"
	"unicode"
)

// Words splits a command line as a shell does: at spaces, with single quotes
// around what is meant literally, double quotes in which a backslash escapes
// " and \, and a backslash before any other character that is meant literally.
// There is no shell: line breaks are refused anywhere, and so are ; | & < >
// outside of quotes, because whoever writes them expects more than this.
func Words(line string) ([]string, error) {
	s := splitter{rest: []rune(line)}
	for len(s.rest) > 0 {
		if err := s.next(); err != nil {
			return nil, err
		}
	}
	s.finish()
	return s.words, nil
}

// splitter is a line on its way to words.
type splitter struct {
	rest  []rune
	words []string
	word  strings.Builder
	open  bool // there is a word, maybe an empty one
}

func (s *splitter) finish() {
	if s.open {
		s.words = append(s.words, s.word.String())
	}
	s.word.Reset()
	s.open = false
}

func (s *splitter) next() error {
	r := s.rest[0]
	s.rest = s.rest[1:]
	switch {
	case r == '\t' || r == ' ':
		s.finish()
		return nil
	case unicode.IsControl(r):
		return errors.New("a command is one line: it must not hold line breaks or other control characters")
	case r == '\'' || r == '"':
		s.open = true
		return s.quoted(r)
	case r == '\\':
		if len(s.rest) == 0 {
			return errors.New("a backslash at the end escapes nothing")
		}
		if r = s.rest[0]; unicode.IsControl(r) {
			return errors.New("a command is one line: a line break cannot be escaped")
		}
		s.rest = s.rest[1:]
	case strings.ContainsRune(";|&<>", r):
		return errors.New("commands are not run by a shell: " + string(r) + " must stand in quotes, and one job is one command")
	}
	s.open = true
	s.word.WriteRune(r)
	return nil
}

// quoted takes what stands before the closing quote.
func (s *splitter) quoted(quote rune) error {
	for i := 0; i < len(s.rest); i++ {
		r := s.rest[i]
		switch {
		case r == quote:
			s.rest = s.rest[i+1:]
			return nil
		case unicode.IsControl(r) && r != '\t':
			return errors.New("a command is one line: it must not hold line breaks or other control characters")
		case quote == '"' && r == '\\' && i+1 < len(s.rest) && strings.ContainsRune(`"\`, s.rest[i+1]):
			i++
			r = s.rest[i]
		}
		s.word.WriteRune(r)
	}
	return errors.New("a quote " + string(quote) + " is not closed")
}
