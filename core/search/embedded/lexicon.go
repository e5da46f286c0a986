package embedded

// lexicon numbers the terms of several dictionaries: those of the first, which is
// the longest, by their ordinals, and those that it does not have behind them.
// Most searches have a base and a tail with few terms of its own, so to count
// is as quick as in one dictionary. It belongs to one search.
type lexicon struct {
	first  *family
	others map[*family][]uint32 // numbers by ordinal, gone where none was asked for
	extra  []string             // terms that first does not have
	ids    map[string]uint32    // their numbers
}

// lexicon gives the one with a first dictionary; any other may be part of it.
func (r *run) lexicon(first *family) *lexicon {
	if u := r.lexicons[first]; u != nil {
		return u
	}
	if r.lexicons == nil {
		r.lexicons = map[*family]*lexicon{}
	}
	u := &lexicon{first: first}
	r.lexicons[first] = u
	return u
}

func (u *lexicon) size() int { return u.first.dict.size() + len(u.extra) }

func (u *lexicon) term(id uint32) string {
	if n := u.first.dict.size(); int(id) >= n {
		return u.extra[int(id)-n]
	}
	return u.first.dict.term(id)
}

// numbers gives what is known of the numbers of a dictionary.
func (u *lexicon) numbers(f *family) []uint32 {
	if list := u.others[f]; list != nil {
		return list
	}
	if u.others == nil {
		u.others, u.ids = map[*family][]uint32{}, map[string]uint32{}
	}
	list := make([]uint32, f.dict.size())
	for i := range list {
		list[i] = gone
	}
	u.others[f] = list
	return list
}

// number gives the number of a term of a dictionary that is not the first.
func (u *lexicon) number(f *family, ord uint32) uint32 {
	term := f.dict.term(ord)
	if id, ok := u.first.dict.find(term); ok {
		return id
	}
	id, ok := u.ids[term]
	if !ok {
		id = uint32(u.size())
		u.ids[term] = id
		u.extra = append(u.extra, term)
	}
	return id
}
