package dsl

import (
	"slices"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

// highlight reads which fields are to be marked; nil if none.
func (p *parser) highlight(n *node) (*search.Highlight, error) {
	o, err := open(n)
	if err != nil {
		return nil, err
	}
	plain := search.HighlightField{Pre: "<em>", Post: "</em>", Size: 100, Fragments: 5, BoundaryChars: ".,!? \t\n", MaxScan: 20}
	if plain, err = p.highlightOptions(o, plain); err != nil {
		return nil, err
	}
	fields := o.get("fields")
	if err := o.done("highlight"); err != nil || fields.empty() {
		return nil, err
	}
	list := []*node{fields}
	if fields.kind == jsonx.Array {
		list = fields.kids
	}
	out := &search.Highlight{}
	for _, one := range list {
		names, err := open(one)
		if err != nil {
			return nil, err
		}
		for i, name := range names.keys {
			in, err := open(names.kids[i])
			if err != nil {
				return nil, err
			}
			f, err := p.highlightOptions(in, plain)
			if err != nil {
				return nil, err
			}
			f.Name = name
			if err := in.done("highlight"); err != nil {
				return nil, err
			}
			out.Fields = append(out.Fields, f)
		}
	}
	if len(out.Fields) > 256 {
		return nil, fields.bad("more than 256 fields")
	}
	return out, nil
}

// highlightOptions reads the options of one field, or those of all, over f.
func (p *parser) highlightOptions(o *object, f search.HighlightField) (search.HighlightField, error) {
	if err := tags(o, &f); err != nil {
		return f, err
	}
	var err error
	if f.Size, err = o.whole("fragment_size", f.Size, 0, 1<<20); err != nil {
		return f, err
	}
	if f.Fragments, err = o.whole("number_of_fragments", f.Fragments, 0, 1000); err != nil {
		return f, err
	}
	if f.NoMatch, err = o.whole("no_match_size", f.NoMatch, 0, 1<<20); err != nil {
		return f, err
	}
	if o.get("require_field_match") != nil {
		same, err := o.flag("require_field_match")
		if err != nil {
			return f, err
		}
		f.AnyField = !same
	}
	if n := o.get("highlight_query"); !n.empty() {
		if f.Query, err = p.query(n); err != nil {
			return f, err
		}
	}
	if word, err := oneOf(o, "order", "score", "none"); err != nil {
		return f, err
	} else if word != "" {
		f.ByScore = word == "score"
	}
	if word, err := oneOf(o, "encoder", "html", "default"); err != nil {
		return f, err
	} else if word != "" {
		f.HTML = word == "html"
	}
	// These bound the work or are about how an index is stored.
	o.get("max_analyzed_offset", "phrase_limit", "force_source", "boundary_scanner_locale", "max_fragment_length")
	return f, boundaries(o, &f)
}

func tags(o *object, f *search.HighlightField) error {
	if word, err := oneOf(o, "tags_schema", "styled", "default"); err != nil {
		return err
	} else if word == "styled" {
		f.Pre, f.Post = `<em class="hlt1">`, "</em>"
	}
	for name, to := range map[string]*string{"pre_tags": &f.Pre, "post_tags": &f.Post} {
		if n := o.get(name); n != nil {
			tags, err := n.strings()
			if err != nil || len(tags) == 0 {
				return n.bad("a list of tags is expected")
			}
			*to = tags[0]
		}
	}
	return nil
}

// boundaries reads where texts may be cut. The type plain divides a text from
// its start, fvh cuts around what it marks, unified by sentences.
func boundaries(o *object, f *search.HighlightField) (err error) {
	kind, err := oneOf(o, "type", "unified", "plain", "fvh")
	if err != nil {
		return err
	}
	switch kind {
	case "unified":
		f.Cut = search.CutSentence
	case "plain":
		f.Cut = search.CutTokens
	case "fvh":
		f.Cut = search.CutChars
	}
	if _, err := oneOf(o, "fragmenter", "simple", "span"); err != nil {
		return err
	}
	word, err := oneOf(o, "boundary_scanner", "sentence", "word", "chars")
	if err != nil {
		return err
	}
	switch word {
	case "sentence":
		f.Cut = search.CutSentence
	case "word":
		f.Cut = search.CutWord
	case "chars":
		f.Cut = search.CutChars
	}
	if f.BoundaryChars, err = o.text("boundary_chars", f.BoundaryChars); err != nil {
		return err
	}
	f.MaxScan, err = o.whole("boundary_max_scan", f.MaxScan, 0, 1000)
	return err
}

// oneOf reads an optional word; empty if it is not there.
func oneOf(o *object, name string, words ...string) (string, error) {
	n := o.get(name)
	if n == nil {
		return "", nil
	}
	if !slices.Contains(words, n.text) {
		return "", n.bad("highlight does not support the %s %q; it may be one of %q", name, n.text, words)
	}
	return n.text, nil
}
