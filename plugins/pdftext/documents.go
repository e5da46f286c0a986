package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/quoin-cms/quoin/sdk/plugin"
)

// finalized writes the text of a document that was finalized. What it writes
// makes such an event as well, and ends there: the text is there already.
func (t *pdftext) finalized(c *plugin.Call, e plugin.Event) error {
	var about struct {
		Type  string `json:"content_type"`
		OUUID string `json:"ouuid"`
	}
	if err := json.Unmarshal(e.Data, &about); err != nil {
		return plugin.Permanent(err)
	}
	_, err := t.document(c, about.Type, about.OUUID, false)
	if status.Code(err) == codes.NotFound {
		return nil // it was deleted meanwhile
	}
	return err
}

// document writes the texts of a document that are not there, and tells whether
// there were any. again reads files that were read before.
func (t *pdftext) document(c *plugin.Call, contentType, ouuid string, again bool) (written bool, err error) {
	var wanted []field
	for _, f := range t.settings.Load().Fields {
		if f.Type == contentType {
			wanted = append(wanted, f)
		}
	}
	if len(wanted) == 0 {
		return false, nil
	}
	d, err := c.Document(contentType, ouuid)
	if err != nil {
		return false, err
	}
	var data map[string]json.RawMessage
	if err := json.Unmarshal(d.Data, &data); err != nil {
		return false, err
	}
	changes, marks := map[string]string{}, map[string]string{}
	for _, f := range wanted {
		files := pdfsIn(data[f.File])
		key := strings.Join([]string{"read", contentType, ouuid, f.Text}, "/")
		mark := strings.Join(files, " ")
		if known, ok, err := c.KV().Get(key); err != nil {
			return false, err
		} else if !again && ok && string(known) == mark || !ok && mark == "" {
			continue
		}
		text, err := t.textOf(c, d, files)
		if err != nil {
			return false, err
		}
		var has string
		_ = json.Unmarshal(data[f.Text], &has) // what is no text is none
		if has != text {
			changes[f.Text] = text
		}
		marks[key] = mark
	}
	if len(changes) > 0 {
		if err := c.Merge(contentType, ouuid, changes); err != nil {
			return false, err
		}
	}
	for key, mark := range marks {
		if err := c.KV().Set(key, []byte(mark), 0); err != nil {
			return false, err
		}
	}
	return len(changes) > 0, nil
}

// textOf joins the texts of files. One that cannot be read is told in the log.
func (t *pdftext) textOf(c *plugin.Call, d *plugin.Document, hashes []string) (string, error) {
	var texts []string
	size := 0
	for _, hash := range hashes {
		text, err := t.extract(c, hash)
		var no *unreadable
		if errors.As(err, &no) || status.Code(err) == codes.NotFound {
			c.Log().Warn("a file has no text", "type", d.Type, "ouuid", d.OUUID, "file", hash, "error", err.Error())
			continue
		}
		if err != nil {
			return "", err
		}
		if size += len(text); size > maxText {
			break
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n\n"), nil
}

// maxFiles bounds the files of one field.
const maxFiles = 20

// pdfsIn gives the hashes of the PDFs in a field that holds a file, or several.
func pdfsIn(value json.RawMessage) (hashes []string) {
	type file struct {
		SHA1     string `json:"sha1"`
		Hash     string `json:"_hash"`
		Name     string `json:"filename"`
		OtherOne string `json:"_name"`
		MIME     string `json:"mimetype"`
		OtherTwo string `json:"_type"`
	}
	var files []file
	if value = bytes.TrimSpace(value); bytes.HasPrefix(value, []byte("{")) {
		value = fmt.Appendf(nil, "[%s]", value)
	}
	_ = json.Unmarshal(value, &files) // what is no file has none
	for _, f := range files {
		hash, name, kind := f.SHA1, f.Name, f.MIME
		if f.Hash != "" {
			hash, name, kind = f.Hash, f.OtherOne, f.OtherTwo
		}
		if hash != "" && len(hashes) < maxFiles && (kind == "application/pdf" || strings.HasSuffix(strings.ToLower(name), ".pdf")) {
			hashes = append(hashes, hash)
		}
	}
	return hashes
}

// page is how many documents are asked for at once.
const page = 100

// run writes the texts of all documents, or of those of one type. Documents that
// cannot be written are told and passed over.
func (t *pdftext) run(c *plugin.Call, args []string) error {
	types := map[string]bool{}
	for _, f := range t.settings.Load().Fields {
		if len(args) == 0 || f.Type == args[0] {
			types[f.Type] = true
		}
	}
	if len(args) > 1 || len(types) == 0 {
		return errors.New("give one content type of the settings, or none for all of them")
	}
	for contentType := range types {
		if err := t.runType(c, contentType); err != nil {
			return err
		}
	}
	return nil
}

func (t *pdftext) runType(c *plugin.Call, contentType string) error {
	seen, written, failed := 0, 0, 0
	last := ""
	for {
		found, total, err := documentsOf(c, contentType, last)
		if err != nil {
			return err
		}
		for _, ouuid := range found {
			if seen++; ouuid == last {
				continue // it comes once for each environment
			}
			last = ouuid
			ok, err := t.document(c, contentType, ouuid, true)
			if c.Err() != nil {
				return c.Err()
			}
			if err != nil {
				failed++
				c.Print("%s:%s: %v", contentType, ouuid, err)
			}
			if ok {
				written++
			}
		}
		c.Print("%s: %d of %d looked at, %d texts written, %d failed", contentType, seen, max(seen, total), written, failed)
		if len(found) < page {
			return nil
		}
	}
}

// documentsOf gives the identifiers of the documents of a type after one, a page
// of them, and how many there are in all.
func documentsOf(c *plugin.Call, contentType, after string) (ouuids []string, total int, err error) {
	search := map[string]any{
		"contentTypes": []string{contentType}, "query": map[string]any{"term": map[string]any{"_contenttype": contentType}},
		"sort": []string{"_id"}, "size": page, "sources": []string{"_contenttype"},
	}
	if after != "" {
		search["search_after"] = []string{after}
	}
	answer, err := c.Search(search)
	if err != nil {
		return nil, 0, err
	}
	var r struct {
		Hits struct {
			Total struct{ Value int }
			Hits  []struct {
				ID string `json:"_id"`
			}
		}
	}
	if err := json.Unmarshal(answer, &r); err != nil {
		return nil, 0, fmt.Errorf("the answer of the search: %w", err)
	}
	for _, h := range r.Hits.Hits {
		ouuids = append(ouuids, h.ID)
	}
	return ouuids, r.Hits.Total.Value, nil
}
