package form

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/xml"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// sheet takes rows. Close ends the file.
type sheet interface {
	Row(cells []string) error
	Close() error
}

// newSheet makes a sheet of the format csv or xlsx.
func newSheet(format string, w io.Writer) (sheet, string, error) {
	switch format {
	case "csv":
		return &csvSheet{w: csv.NewWriter(w), raw: w}, "text/csv; charset=utf-8", nil
	case "xlsx":
		return &xlsxSheet{zip: zip.NewWriter(w)}, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", nil
	}
	return nil, "", problem.Field(problem.Invalid, "format", "must be csv or xlsx")
}

// csvSheet writes CSV (RFC 4180) as spreadsheets open it: with a byte order
// mark, and no cell that they would run as a formula.
type csvSheet struct {
	w     *csv.Writer
	raw   io.Writer
	begun bool
}

// Row implements sheet.
func (s *csvSheet) Row(cells []string) error {
	if !s.begun {
		s.begun, s.w.UseCRLF = true, true
		if _, err := io.WriteString(s.raw, "\ufeff"); err != nil {
			return err
		}
	}
	safe := make([]string, len(cells))
	for i, c := range cells {
		safe[i] = harmless(c)
	}
	return s.w.Write(safe)
}

// Close implements sheet.
func (s *csvSheet) Close() error {
	s.w.Flush()
	return s.w.Error()
}

// harmless keeps a cell from being a formula: it may come from anybody who can
// fill in a form (OWASP, CSV injection). A number stays one.
func harmless(cell string) string {
	if cell == "" || !strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return cell
	}
	if _, err := strconv.ParseFloat(cell, 64); err == nil && !strings.ContainsAny(cell, "xXpPnN_") {
		return cell
	}
	return "'" + cell
}

// xlsxSheet writes the least workbook that spreadsheet programs open (ECMA-376),
// row by row: strings stand in the cells, so that nothing has to be kept.
type xlsxSheet struct {
	zip *zip.Writer
	row int
	out *bufio.Writer
}

const xmlHead = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"

// parts are all files of a workbook but the sheet.
func parts() [][2]string {
	return [][2]string{
		{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`},
		{"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
		{"xl/workbook.xml", `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Submissions" sheetId="1" r:id="rId1"/></sheets></workbook>`},
		{"xl/_rels/workbook.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`},
	}
}

func (s *xlsxSheet) begin() error {
	for _, p := range parts() {
		w, err := s.zip.Create(p[0])
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, xmlHead+p[1]); err != nil {
			return err
		}
	}
	w, err := s.zip.Create("xl/worksheets/sheet1.xml")
	if err != nil {
		return err
	}
	s.out = bufio.NewWriter(w)
	_, err = s.out.WriteString(xmlHead + `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>`)
	return err
}

// maxCell is the longest text of a cell in a workbook, in characters.
const maxCell = 32_767

// Row implements sheet.
func (s *xlsxSheet) Row(cells []string) error {
	if s.out == nil {
		if err := s.begin(); err != nil {
			return err
		}
	}
	s.row++
	b := []byte(`<row r="` + strconv.Itoa(s.row) + `">`)
	for _, c := range cells {
		b = append(b, `<c t="inlineStr"><is><t xml:space="preserve">`...)
		b = append(b, escape(c)...)
		b = append(b, `</t></is></c>`...)
	}
	_, err := s.out.Write(append(b, `</row>`...))
	return err
}

// escape writes a text for XML, cut to what a cell holds.
func escape(s string) []byte {
	n := 0
	for at := range s {
		if n++; n > maxCell {
			s = s[:at]
			break
		}
	}
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a buffer has no errors
	return b.Bytes()
}

// Close implements sheet.
func (s *xlsxSheet) Close() error {
	if s.out == nil {
		if err := s.begin(); err != nil {
			return err
		}
	}
	if _, err := s.out.WriteString(`</sheetData></worksheet>`); err != nil {
		return err
	}
	if err := s.out.Flush(); err != nil {
		return err
	}
	return s.zip.Close()
}

// fixed are the columns that every submission has.
func fixed() []string {
	return []string{"id", "created", "name", "instance", "locale", "label", "processTryCounter", "processBy", "expireDate", "files"}
}

// maxColumns bounds the fields of an export.
const maxColumns = 2000

// Export writes the submissions that pass as a table: the fixed columns, then
// one for each member of their data. It reads them twice, and keeps one page at
// a time.
func (s *Service) Export(ctx context.Context, f Filter, out sheet) (n int, err error) {
	if err := crm(ctx); err != nil {
		return 0, err
	}
	who, _ := auth.Require(ctx)
	seen := map[string]bool{}
	var fields []string
	err = s.each(ctx, f, func(sub *Submission) error {
		for it := rawjson.Iterate(sub.Data); rawjson.KindOf(sub.Data) == rawjson.Map && it.Next(); {
			if key := string(it.Key()); !seen[key] {
				if len(fields) == maxColumns {
					return problem.New(problem.Unprocessable, "the submissions have more than %d different fields: export one form at a time", maxColumns)
				}
				seen[key] = true
				fields = append(fields, key)
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	slices.Sort(fields)
	if err := out.Row(append(fixed(), fields...)); err != nil {
		return 0, err
	}
	err = s.each(ctx, f, func(sub *Submission) error {
		if err := s.store.files(ctx, sub); err != nil {
			return err
		}
		n++
		return out.Row(cells(sub, fields))
	})
	if err == nil {
		err = out.Close()
	}
	if err == nil {
		err = s.note(ctx, who, "*", "export of "+strconv.Itoa(n)+" submissions")
	}
	return n, err
}

func cells(sub *Submission, fields []string) []string {
	var files []string
	for _, f := range sub.Files {
		files = append(files, f.Filename)
	}
	expires := ""
	if !sub.ExpiresAt.IsZero() {
		expires = date(sub.ExpiresAt)
	}
	row := []string{
		sub.ID, date(sub.CreatedAt), sub.Name, sub.Instance, sub.Locale, sub.Label, strconv.Itoa(sub.Tries), sub.ProcessBy, expires, strings.Join(files, ", "),
	}
	for _, key := range fields {
		row = append(row, cell(sub.Data, key))
	}
	return row
}

// cell gives a member of the data as text; lists and objects stay JSON.
func cell(data []byte, key string) string {
	if rawjson.KindOf(data) != rawjson.Map {
		return ""
	}
	value, ok := rawjson.Get(data, key)
	if !ok || rawjson.KindOf(value) == rawjson.Null {
		return ""
	}
	if text, ok := rawjson.String(value); ok {
		return text
	}
	return string(value)
}
