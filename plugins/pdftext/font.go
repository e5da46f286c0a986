package main

import (
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
)

// font tells what a string says and how wide it is.
type font struct {
	letters pdf.TextEncoding
	plain   *pdf.Font       // of one byte each; nil for two
	widths  map[int]float64 // of a font with two
	other   float64         // width of the letters that widths does not have
}

// maxWidths bounds the list of widths: there are no more letters.
const maxWidths = 1 << 16

func newFont(v pdf.Value) *font {
	plain := &pdf.Font{V: v}
	f := &font{letters: plain.Encoder(), plain: plain}
	if v.Key("Subtype").Name() != "Type0" {
		return f
	}
	below := v.Key("DescendantFonts").Index(0)
	f.plain, f.widths, f.other = nil, widthsOf(below.Key("W")), 1000
	if w := below.Key("DW"); !w.IsNull() {
		f.other = w.Float64()
	}
	return f
}

// widthsOf reads a list of "first [width…]" and "first last width" (ISO 32000-1,
// 9.7.4.3).
func widthsOf(list pdf.Value) map[int]float64 {
	widths := map[int]float64{}
	for i := 0; i+1 < list.Len() && len(widths) < maxWidths; {
		first := int(list.Index(i).Int64())
		if each := list.Index(i + 1); each.Kind() == pdf.Array {
			for j := range min(each.Len(), maxWidths) {
				widths[first+j] = each.Index(j).Float64()
			}
			i += 2
			continue
		}
		last, width := int(list.Index(i+1).Int64()), list.Index(i+2).Float64()
		for code := first; code <= last && code-first < maxWidths; code++ {
			widths[code] = width
		}
		i += 3
	}
	return widths
}

// read gives the text of a string, and how far it goes.
func (f *font) read(raw string, s *state) (text string, width float64) {
	text = f.letters.Decode(raw)
	total, letters, blanks := 0.0, 0, 0
	if f.plain == nil {
		for i := 0; i+1 < len(raw); i += 2 {
			w, ok := f.widths[int(raw[i])<<8|int(raw[i+1])]
			if !ok {
				w = f.other
			}
			total += w
			letters++
		}
	} else {
		for i := range len(raw) {
			total += f.plain.Width(int(raw[i]))
			letters++
			if raw[i] == ' ' {
				blanks++
			}
		}
	}
	if total == 0 { // one of those fonts that every reader knows
		total = 500 * float64(utf8.RuneCountInString(text))
	}
	return text, (total/1000*s.size + float64(letters)*s.chars + float64(blanks)*s.words) * s.scale
}
