package main

import (
	"math"
	"strings"
	"unicode"

	"github.com/ledongthuc/pdf"
)

// matrix is one of PDF: a b c d e f (ISO 32000-1, 8.3.3).
type matrix [6]float64

func (m matrix) mul(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

func shift(x, y float64) matrix { return matrix{1, 0, 0, 1, x, y} }

// state is what decides where text is shown (ISO 32000-1, 9.3).
type state struct {
	page, line, text matrix
	font             *font
	size, scale      float64
	chars, words     float64 // further space after a letter, after a blank
	leading          float64
}

// walker reads the operators that show text, and those that move where it is
// shown. A file says where each piece stands and seldom where a word ends: that
// is where there is a gap.
type walker struct {
	to    *strings.Builder
	now   state
	saved []state
	forms int // how deep

	started    bool
	endX, endY float64 // of the last piece, on the page
}

// Bounds against files that are made to be expensive.
const (
	maxForms = 8
	maxSaved = 1000
)

func newWalker(to *strings.Builder) *walker {
	one := shift(0, 0)
	return &walker{to: to, now: state{page: one, line: one, text: one, scale: 1}}
}

// read interprets the content of a page or of a form.
func (w *walker) read(content, resources pdf.Value) {
	fonts := map[string]*font{}
	pdf.Interpret(content, func(stack *pdf.Stack, operator string) {
		args := make([]pdf.Value, stack.Len())
		for i := len(args) - 1; i >= 0; i-- {
			args[i] = stack.Pop()
		}
		if w.to.Len() >= maxText {
			return
		}
		switch {
		case operator == "Tf" && len(args) == 2:
			name := args[0].Name()
			if fonts[name] == nil {
				fonts[name] = newFont(resources.Key("Font").Key(name))
			}
			w.now.font, w.now.size = fonts[name], args[1].Float64()
		case operator == "Do" && len(args) == 1:
			w.form(resources.Key("XObject").Key(args[0].Name()), resources)
		case strings.HasPrefix(operator, "T") && len(operator) == 2, operator == "'", operator == `"`:
			w.write(operator, args)
		default:
			w.place(operator, args)
		}
	})
}

// form reads content that several places may show.
func (w *walker) form(form, resources pdf.Value) {
	if form.Key("Subtype").Name() != "Form" || w.forms == maxForms {
		return
	}
	own := form.Key("Resources")
	if own.IsNull() {
		own = resources
	}
	before, saved := w.now, w.saved
	w.forms++
	if m := form.Key("Matrix"); m.Len() == 6 {
		w.now.page = matrixOf(m.Index).mul(w.now.page)
	}
	w.saved = nil
	w.read(form, own)
	w.forms--
	w.now, w.saved = before, saved
}

func matrixOf(at func(int) pdf.Value) (m matrix) {
	for i := range m {
		m[i] = at(i).Float64()
	}
	return m
}

// place does what moves everything.
func (w *walker) place(operator string, args []pdf.Value) {
	switch operator {
	case "q":
		if len(w.saved) < maxSaved {
			w.saved = append(w.saved, w.now)
		}
	case "Q":
		if n := len(w.saved); n > 0 {
			w.now, w.saved = w.saved[n-1], w.saved[:n-1]
		}
	case "cm":
		if len(args) == 6 {
			w.now.page = matrixOf(func(i int) pdf.Value { return args[i] }).mul(w.now.page)
		}
	case "BT":
		w.now.line, w.now.text = shift(0, 0), shift(0, 0)
	}
}

// write does what shows text or moves it.
func (w *walker) write(operator string, args []pdf.Value) {
	s := &w.now
	number := func(i int) float64 {
		if i >= len(args) {
			return 0
		}
		return args[i].Float64()
	}
	switch operator {
	case "Tc":
		s.chars = number(0)
	case "Tw":
		s.words = number(0)
	case "Tz":
		s.scale = number(0) / 100
	case "TL":
		s.leading = number(0)
	case "TD":
		s.leading = -number(1)
		s.move(number(0), number(1))
	case "Td":
		s.move(number(0), number(1))
	case "T*":
		s.move(0, -s.leading)
	case "Tm":
		if len(args) == 6 {
			s.line = matrixOf(func(i int) pdf.Value { return args[i] })
			s.text = s.line
		}
	case "Tj", "TJ", "'", `"`:
		if operator == `"` {
			s.words, s.chars = number(0), number(1)
		}
		if operator == "'" || operator == `"` {
			s.move(0, -s.leading)
		}
		if len(args) > 0 {
			w.show(args[len(args)-1])
		}
	}
}

// move begins another line.
func (s *state) move(x, y float64) {
	s.line = shift(x, y).mul(s.line)
	s.text = s.line
}

// show writes a string, or a list of strings with the space between them.
func (w *walker) show(v pdf.Value) {
	if v.Kind() != pdf.Array {
		w.piece(v.RawString())
		return
	}
	for i := range v.Len() {
		if x := v.Index(i); x.Kind() == pdf.String {
			w.piece(x.RawString())
		} else {
			w.now.text = shift(-x.Float64()/1000*w.now.size*w.now.scale, 0).mul(w.now.text)
		}
	}
}

// piece writes one string and goes on to its end.
func (w *walker) piece(raw string) {
	s := &w.now
	if s.font == nil || raw == "" {
		return
	}
	text, width := s.font.read(raw, s)
	at := s.text.mul(s.page)
	if length := math.Hypot(at[0], at[1]); w.started && length > 0 {
		x, y := (at[4]-w.endX)/length, (at[5]-w.endY)/length
		along, across := x*at[0]+y*at[1], y*at[0]-x*at[1]
		switch height := math.Abs(s.size) * length; {
		case math.Abs(across) > height/2:
			w.to.WriteByte('\n')
		case along > height/7, along < -height:
			w.to.WriteByte(' ')
		}
	}
	for _, letter := range text {
		if !unicode.IsControl(letter) {
			w.to.WriteRune(letter)
		}
	}
	s.text = shift(width, 0).mul(s.text)
	end := s.text.mul(s.page)
	w.started, w.endX, w.endY = true, end[4], end[5]
}
