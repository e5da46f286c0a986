// Command pdftext is a plugin of Quoin that makes uploaded PDFs findable: it
// writes their text into a field of the document that they belong to, when the
// document is finalized (the event) or for those that are there (the command
// run). Its settings say which fields:
//
//	{"fields": [{"type": "report", "file": "pdf", "text": "pdf_text"}]}
//
// A PDF is read in a process of its own, which is ended when it takes too long
// and cannot take more memory than is good: a file that does either, or cannot
// be read, has no text.
package main

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/quoin-cms/quoin/sdk/plugin"
)

type settings struct {
	Fields []field `json:"fields" doc:"which text goes where"`
}

type field struct {
	Type string `json:"type" doc:"content type"`
	File string `json:"file" doc:"its field that holds a file, or several"`
	Text string `json:"text" doc:"its field that gets the text"`
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == reader {
		os.Exit(readPDF(os.Stdin, os.Stdout, os.Stderr)) //nolint:forbidigo // this is main
	}
	build().Serve()
}

// pdftext is the plugin with its settings.
type pdftext struct {
	settings atomic.Pointer[settings]
	readers  chan struct{} // as many read a file at the same time
}

func build() *plugin.Plugin {
	t := &pdftext{readers: make(chan struct{}, 2)}
	t.settings.Store(&settings{})
	p := plugin.New("pdftext", "0.1.0").About("Writes the text of uploaded PDFs into a field of their document.")
	p.Needs(plugin.CapDocumentsRead, plugin.CapDocumentsWrite, plugin.CapFilesRead, plugin.CapSearch, plugin.CapKV)
	plugin.Config(p, t.configure)
	p.OnEvent("content.finalize", t.finalized)
	p.Command("run", "[TYPE]", "Writes the text of the PDFs of all documents, or of those of one type", t.run)
	return p
}

func (t *pdftext) configure(_ *plugin.Call, s settings) error {
	var errs []error
	for i, f := range s.Fields {
		at := fmt.Sprintf("fields[%d]", i)
		for name, value := range map[string]string{"type": f.Type, "file": f.File, "text": f.Text} {
			if value == "" {
				errs = append(errs, plugin.Field(at+"."+name, "is empty"))
			}
		}
		if f.File == f.Text {
			errs = append(errs, plugin.Field(at+".text", "must be another field than file"))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	t.settings.Store(&s)
	return nil
}
