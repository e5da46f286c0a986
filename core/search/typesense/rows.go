package typesense

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/analysis"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// maxID is the longest id of a row in bytes: the server tells no more of a
// token apart, and rows of nested objects are found by the id of the document.
const maxID = 88

// docID gives the id of the row of a document. It is made of the symbols of the
// keyword code, so nothing in it needs quotes and the server folds nothing.
func docID(k search.Key) string {
	text := k.Type + ":" + k.OUUID
	raw := appendSymbols(make([]byte, 0, 2*len(text)), text, maxID+1)
	if len(raw) <= maxID {
		return string(raw)
	}
	return string(raw[:maxID-42]) + "zy" + hash40(text)
}

// orderOf gives 63 bits of the hash of an id.
func orderOf(id string) int64 {
	sum := sha256.Sum256([]byte(id))
	return int64(binary.BigEndian.Uint64(sum[:8]) >> 1)
}

// naming is what a field is called in the rows.
type naming struct {
	column string
	length string // of a text
	list   string // of a text whose tokens are listed
	sort   string // smallest value of the path; empty for texts
	max    string
	paths  []string // codes of the path and of those around it
}

func (g *generation) naming(f *mapping.Field) *naming {
	if n, ok := g.names.Load(f); ok {
		return n.(*naming)
	}
	n := &naming{column: columnOf(f)}
	if f.Family == mapping.Text {
		n.length = lengthColumnOf(f)
	}
	if f.Listed {
		n.list = listColumnOf(f)
	}
	if f.Family != mapping.Text || f.Listed {
		n.sort = SortName(f.Family.Numeric(), f.Path, false)
		n.max = SortName(f.Family.Numeric(), f.Path, true)
	}
	for i := range len(f.Path) {
		if f.Path[i] == '.' {
			n.paths = append(n.paths, EncodeKeyword(f.Path[:i]))
		}
	}
	n.paths = append(n.paths, EncodeKeyword(f.Path))
	g.names.Store(f, n)
	return n
}

// row is a row while it is made.
type row struct {
	texts   map[string][]string // k_, t_ and f_ columns
	numbers map[string][]int64
	words   map[string]int64  // w_ columns
	low     map[string]string // smallest and largest keyword by sort field
	high    map[string]string
	least   map[string]float64 // smallest and largest number by sort field
	most    map[string]float64
	maxOf   map[string]string // sort field → its _max
	seen    map[*naming]bool
	paths   []string
	dups    []string
}

func newRow() *row {
	return &row{
		texts: map[string][]string{}, numbers: map[string][]int64{}, words: map[string]int64{}, low: map[string]string{}, high: map[string]string{},
		least: map[string]float64{}, most: map[string]float64{}, maxOf: map[string]string{},
		seen: map[*naming]bool{},
	}
}

func (r *row) add(g *generation, v *mapping.Value, b *analysis.Buffer) {
	n := g.naming(v.Field)
	if !r.seen[n] {
		r.seen[n] = true
		r.paths = append(r.paths, n.paths...)
	}
	switch v.Field.Family {
	case mapping.Text:
		r.text(n, v, b)
	case mapping.Keyword:
		r.keyword(n.column, string(v.Text))
		r.order(n, string(v.Text))
	default:
		r.number(n, v.Num)
	}
}

func (r *row) keyword(column, text string) {
	r.texts[column] = append(r.texts[column], EncodeKeyword(text))
}

// order keeps the extremes of the strings of a path.
func (r *row) order(n *naming, text string) {
	if old, ok := r.low[n.sort]; !ok || text < old {
		r.low[n.sort] = text
	}
	if old, ok := r.high[n.sort]; !ok || text > old {
		r.high[n.sort] = text
	}
	r.maxOf[n.sort] = n.max
}

func (r *row) number(n *naming, x float64) {
	r.numbers[n.column] = append(r.numbers[n.column], EncodeNumber(x))
	if old, ok := r.least[n.sort]; !ok || x < old {
		r.least[n.sort] = x
	}
	if old, ok := r.most[n.sort]; !ok || x > old {
		r.most[n.sort] = x
	}
	r.maxOf[n.sort] = n.max
}

// text adds the tokens of a text, separated by spaces.
func (r *row) text(n *naming, v *mapping.Value, b *analysis.Buffer) {
	b.Reset()
	v.Field.Analyzer.Append(b, v.Text)
	var line strings.Builder
	words, last := int64(0), ^uint32(0)
	for _, t := range b.Tokens {
		if t.Pos != last { // synonyms at the same place count once
			words++
			last = t.Pos
		}
		term := string(b.Term(t))
		if term == "" {
			continue
		}
		if line.Len() > 0 {
			line.WriteByte(' ')
		}
		line.WriteString(EncodeToken(term))
		if n.list != "" {
			r.keyword(n.list, term)
			r.order(n, term)
		}
	}
	r.words[n.length] += words
	if line.Len() > 0 {
		r.texts[n.column] = append(r.texts[n.column], line.String())
	}
}

// tidy sorts what the server takes for sets and leaves out doubles. Of numbers
// it is noted, because sums count them.
func (r *row) tidy() {
	for n := range r.seen {
		if list, ok := r.numbers[n.column]; ok {
			slices.Sort(list)
			r.numbers[n.column] = slices.Compact(list)
			if len(r.numbers[n.column]) < len(list) {
				r.dups = append(r.dups, n.paths[len(n.paths)-1])
			}
		}
		for _, name := range []string{n.column, n.list} {
			if list, ok := r.texts[name]; ok && name[0] != inText[0] {
				slices.Sort(list)
				r.texts[name] = slices.Compact(list)
			}
		}
	}
	slices.Sort(r.paths)
	r.paths = slices.Compact(r.paths)
	slices.Sort(r.dups)
	r.dups = slices.Compact(r.dups)
}

// appendJSON writes the row behind what is in dst already, which is an open
// object with members, and gives the names of its columns.
func (r *row) appendJSON(dst []byte, names map[string]bool) []byte {
	r.tidy()
	key := func(name string) {
		names[name] = true
		dst = append(append(append(dst, `,"`...), name...), `":`...)
	}
	list := func(texts []string) {
		for i, t := range texts {
			dst = append(dst, listMark(i), '"')
			dst = append(append(dst, t...), '"')
		}
		dst = append(dst, ']')
	}
	for name, texts := range r.texts {
		key(name)
		list(texts)
	}
	for name, numbers := range r.numbers {
		key(name)
		for i, n := range numbers {
			dst = strconv.AppendInt(append(dst, listMark(i)), n, 10)
		}
		dst = append(dst, ']')
	}
	for name, n := range r.words {
		key(name)
		dst = append(strconv.AppendInt(append(dst, '['), n, 10), ']')
	}
	for name, low := range r.low {
		key(name)
		dst = append(append(append(dst, '"'), EncodeSort(low)...), '"')
		key(r.maxOf[name])
		dst = append(append(append(dst, '"'), EncodeSort(r.high[name])...), '"')
	}
	for name, least := range r.least {
		key(name)
		dst = strconv.AppendInt(dst, EncodeNumber(least), 10)
		key(r.maxOf[name])
		dst = strconv.AppendInt(dst, EncodeNumber(r.most[name]), 10)
	}
	dst = append(dst, `,"`+fieldPaths+`":`...)
	if len(r.paths) == 0 {
		dst = append(dst, '[', ']')
	} else {
		list(r.paths)
	}
	if len(r.dups) > 0 {
		key(fieldRepeated)
		list(r.dups)
	}
	return append(dst, '}')
}

func listMark(i int) byte {
	if i == 0 {
		return '['
	}
	return ','
}

// made is a document in the form of rows, one JSON object each.
type made struct {
	id     string
	main   []byte
	nested [][]byte
}

// maker turns documents into rows. It is used by one goroutine.
type maker struct {
	g      *generation
	record mapping.Record
	buffer analysis.Buffer
	// Names of the columns of all rows so far.
	main, rows map[string]bool
}

func newMaker(g *generation) *maker {
	return &maker{g: g, main: map[string]bool{}, rows: map[string]bool{}}
}

// make takes a document apart. An error says that it is no JSON object.
func (m *maker) make(d *search.Doc) (out made, err error) {
	if err := m.g.walk(d, &m.record); err != nil {
		return out, err
	}
	rows := make([]*row, len(m.record.Objects))
	for i := range rows {
		rows[i] = newRow()
	}
	for i := range m.record.Values {
		v := &m.record.Values[i]
		rows[v.Object].add(m.g, v, &m.buffer)
	}
	out.id = docID(d.Key)
	out.main = appendHead(nil, out.id)
	out.main = rawjson.AppendString(append(out.main, `,"`+fieldKey+`":`...), d.Key.Type+":"+d.Key.OUUID)
	out.main = strconv.AppendInt(append(out.main, `,"`+fieldRef+`":`...), d.Ref, 10)
	out.main = rawjson.AppendString(append(out.main, `,"`+fieldSource+`":`...), string(d.Raw))
	out.main = rows[0].appendJSON(out.main, m.main)
	for i, o := range m.record.Objects {
		if i == 0 {
			continue
		}
		up := out.id
		if o.Parent > 0 {
			up = nestedID(out.id, o.Parent)
		}
		line := appendHead(nil, nestedID(out.id, i))
		line = append(line, `,"`+fieldRoot+`":"`+out.id+`","`+fieldUp+`":"`+up+`","`+fieldSpace+`":"`+EncodeKeyword(o.Space.Path)+`"`...)
		out.nested = append(out.nested, rows[i].appendJSON(line, m.rows))
	}
	return out, nil
}

// nestedID gives the id of a nested row: that of the document and the place of
// the object among those of the document, from 1, in the order in which it is
// walked through.
func nestedID(root string, object int) string { return root + "x" + strconv.Itoa(object) }

func appendHead(dst []byte, id string) []byte {
	dst = append(append(append(dst, `{"id":"`...), id...), `","`+fieldOrder+`":`...)
	return strconv.AppendInt(dst, orderOf(id), 10)
}
