package embedded

import (
	"encoding/binary"
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// automaton matches whole strings by a regular expression, a step per
// character: its states are sets of places in the compiled expression, made
// when they are first met. It is for one goroutine.
type automaton struct {
	prog   *syntax.Prog
	plain  *regexp.Regexp // for what the automaton cannot do
	states []state
	byKey  map[string]int32
	start  int32
	held   int // places in all states
	mark   []bool
	key    []byte
}

// state is a set of places, and where each ASCII character leads: 0 is not
// known yet, 1 is nowhere.
type state struct {
	places []uint32
	final  bool
	next   [128]int32
}

// deadState matches nothing any more.
const deadState = 1

// maxStates and maxPlaces bound the memory of an automaton. One that needs more
// begins anew, which costs time in proportion only.
const (
	maxStates = 1024
	maxPlaces = 1 << 18
)

// newAutomaton compiles an expression of Go's syntax.
func newAutomaton(pattern string) (*automaton, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	a := &automaton{prog: prog, mark: make([]bool, len(prog.Inst))}
	for i := range prog.Inst {
		if prog.Inst[i].Op == syntax.InstEmptyWidth {
			a.plain, err = regexp.Compile(`\A(?:` + pattern + `)\z`)
			return a, err
		}
	}
	a.reset()
	return a, nil
}

func (a *automaton) reset() {
	a.states = append(make([]state, 0, 8), state{}, state{}) // unknown and dead
	a.held = 0
	a.byKey = map[string]int32{"": deadState}
	a.start = a.state(a.closure(nil, uint32(a.prog.Start)))
}

// closure adds what can be reached from a place without a character.
func (a *automaton) closure(places []uint32, at uint32) []uint32 {
	if a.mark[at] {
		return places
	}
	a.mark[at] = true
	switch in := &a.prog.Inst[at]; in.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		return a.closure(a.closure(places, in.Out), in.Arg)
	case syntax.InstCapture, syntax.InstNop:
		return a.closure(places, in.Out)
	case syntax.InstFail:
		return places
	}
	return append(places, at)
}

// state gives the number of the state of places, which it may change.
func (a *automaton) state(places []uint32) int32 {
	clear(a.mark)
	slices.Sort(places)
	a.key = a.key[:0]
	for _, p := range places {
		a.key = binary.LittleEndian.AppendUint32(a.key, p)
	}
	if n, ok := a.byKey[string(a.key)]; ok {
		return n
	}
	s := state{places: places}
	a.held += len(places)
	for _, p := range places {
		s.final = s.final || a.prog.Inst[p].Op == syntax.InstMatch
	}
	a.states = append(a.states, s)
	n := int32(len(a.states) - 1)
	a.byKey[string(a.key)] = n
	return n
}

// step gives the state behind a character.
func (a *automaton) step(from int32, r rune) int32 {
	if len(a.states) > maxStates || a.held > maxPlaces {
		places := a.states[from].places
		a.reset()
		from = a.state(places)
	}
	var places []uint32
	for _, p := range a.states[from].places {
		if in := &a.prog.Inst[p]; in.Op != syntax.InstMatch && in.MatchRune(r) {
			places = a.closure(places, in.Out)
		}
	}
	to := a.state(places)
	if r < 128 {
		a.states[from].next[r] = to
	}
	return to
}

// matches tells whether the whole of s matches.
func (a *automaton) matches(s string) bool {
	if a.plain != nil {
		return a.plain.MatchString(s)
	}
	at := a.start
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			to := a.states[at].next[c]
			if to == 0 {
				to = a.step(at, rune(c))
			}
			at = to
			i++
		} else {
			r, n := utf8.DecodeRuneInString(s[i:])
			at = a.step(at, r)
			i += n
		}
		if at == deadState {
			return false
		}
	}
	return a.states[at].final
}
