package embedded

// compact gives a segment without deleted documents. Only the writer changes
// a segment, and it is the caller, so no lock is needed to read it.
func (s *segment) compact() *segment {
	out := newSegment()
	numbers := make([][]uint32, len(s.spaces))
	s.move(out, s.root(), numbers)
	for old, doc := range numbers[0] {
		if doc != gone {
			out.refs = append(out.refs, s.refs[old])
		}
	}
	for _, f := range s.families {
		if f != nil {
			out.put(f.renumber(numbers[f.field.Space.ID]))
		}
	}
	return out
}

// move gives the live objects of a space and of those inside it new numbers.
func (s *segment) move(out *segment, sp *space, numbers [][]uint32) {
	to := make([]uint32, sp.n)
	numbers[sp.of.ID] = to
	fresh := out.root()
	if sp.parent != nil {
		fresh = out.spaceOf(sp.of)
	}
	for old := range sp.n {
		to[old] = gone
		if !sp.live.Contains(old) {
			continue
		}
		outer := uint32(0)
		if sp.parent != nil {
			outer = numbers[sp.parent.of.ID][sp.up[old]]
		}
		to[old] = fresh.add(outer)
	}
	fresh.live.RunOptimize()
	for _, kid := range sp.kids {
		s.move(out, kid, numbers)
	}
}
