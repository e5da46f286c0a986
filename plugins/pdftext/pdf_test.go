package main

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
	"testing"
)

// object is one of a PDF: a dictionary without its brackets, and a stream.
type object struct{ dict, stream string }

// makePDF writes a file from objects; the first is the catalog.
func makePDF(objects ...object) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	var at []int
	for i, o := range objects {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n", i+1)
		if o.stream == "" {
			fmt.Fprintf(&b, "<<%s>>\nendobj\n", o.dict)
			continue
		}
		fmt.Fprintf(&b, "<<%s/Length %d>>\nstream\n%s\nendstream\nendobj\n", o.dict, len(o.stream), o.stream)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return b.Bytes()
}

const (
	catalog   = "/Type/Catalog/Pages 2 0 R"
	helvetica = "/Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding"
)

// pagesOf is a file with a page for each content, and further objects that
// resources may name; the first of these has the number 4+2*len(contents).
func pagesOf(resources string, contents []string, more ...object) []byte {
	objects := []object{{dict: catalog}, {}, {dict: helvetica}}
	if !strings.Contains(resources, "/Font") {
		resources += "/Font<</F1 3 0 R>>"
	}
	var kids []string
	for i, c := range contents {
		kids = append(kids, fmt.Sprintf("%d 0 R", 4+2*i))
		objects = append(objects,
			object{dict: fmt.Sprintf("/Type/Page/Parent 2 0 R/Contents %d 0 R/Resources<<%s>>", 5+2*i, resources)},
			object{dict: "/Filter/FlateDecode", stream: deflate(c)})
	}
	objects[1].dict = fmt.Sprintf("/Type/Pages/Count %d/Kids[%s]", len(contents), strings.Join(kids, " "))
	return makePDF(append(objects, more...)...)
}

func deflate(text string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(text)) // memory does not fail
	_ = w.Close()
	return b.String()
}

// simple is a file whose pages say these texts.
func simple(texts ...string) []byte {
	contents := make([]string, len(texts))
	for i, t := range texts {
		contents[i] = fmt.Sprintf("BT /F1 12 Tf 72 700 Td (%s) Tj ET", t)
	}
	return pagesOf("", contents)
}

const toUnicode = `/CIDInit /ProcSet findresource begin 12 dict begin begincmap
1 begincodespacerange <0000> <FFFF> endcodespacerange
2 beginbfchar <0001> <65E5> <0002> <672C> endbfchar
endcmap end end`

func TestTextOf(t *testing.T) {
	wide := []object{
		{dict: "/Type/Font/Subtype/Type0/BaseFont/Wide/Encoding/Identity-H/DescendantFonts[7 0 R]/ToUnicode 8 0 R"},
		{dict: "/Type/Font/Subtype/CIDFontType2/BaseFont/Wide/DW 1000/W[1[1000] 2 2 500]"},
		{stream: toUnicode},
	}
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"plain":           {simple("Hello world"), "Hello world"},
		"pages":           {simple("one", "two"), "one\n\ntwo"},
		"lines":           {pagesOf("", []string{"BT /F1 10 Tf 12 TL 0 0 Td (one) Tj T* (two) Tj (three) ' ET"}), "one\ntwo\nthree"},
		"gaps are blanks": {pagesOf("", []string{"BT /F1 10 Tf [(on) -20 (e) -400 (two)] TJ 200 0 Td (three) Tj ET"}), "one two three"},
		"letters apart":   {pagesOf("", []string{"BT /F1 10 Tf (w) Tj 5 0 Td (o) Tj 5 0 Td (r) Tj 5 0 Td (d) Tj ET"}), "word"},
		"turned":          {pagesOf("", []string{"BT /F1 10 Tf 0 1 -1 0 50 50 Tm (up) Tj 0 -20 Td (wards) Tj ET"}), "up\nwards"},
		"a form":          {pagesOf("/XObject<</X 6 0 R>>", []string{"q 1 0 0 1 0 100 cm /X Do Q BT /F1 10 Tf (after) Tj ET"}, object{dict: "/Subtype/Form", stream: "BT /F1 10 Tf (inside) Tj ET"}), "inside\nafter"},
		"two bytes":       {pagesOf("/Font<</F1 6 0 R>>", []string{"BT /F1 10 Tf <00010002> Tj ET"}, wide...), "日本"},
		"no text":         {pagesOf("", []string{"0 0 10 10 re f"}), ""},
		"half a page":     {pagesOf("", []string{"BT /F1 10 Tf (one) Tj Q Q Tm Tf Td ] >> (two) Tj ET"}), "one two"},
	} {
		got, err := textOf(bytes.NewReader(c.file), int64(len(c.file)))
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
}
