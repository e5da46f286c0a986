// Command linkcheck is a plugin of Quoin that finds broken links between
// documents: a tool for agents that reads one document and looks up every
// ems://object and ems://asset link in it, with the rights of who asks.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/quoin-cms/quoin/sdk/plugin"
)

// maxLinks bounds how many links of one document are followed.
const maxLinks = 500

var link = regexp.MustCompile(`ems://(object|asset|file):([A-Za-z0-9_-]+)(?::([A-Za-z0-9_-]+))?`)

type where struct {
	Type  string `json:"type" doc:"content type of the document"`
	OUUID string `json:"ouuid" doc:"identifier of the document"`
}

type report struct {
	Checked   int      `json:"checked" doc:"links in the document"`
	Broken    []broken `json:"broken"`
	Referrers []string `json:"referrers" doc:"documents that link to this one"`
}

type broken struct {
	Link string `json:"link"`
	Why  string `json:"why"`
}

func main() { build().Serve() }

func build() *plugin.Plugin {
	p := plugin.New("linkcheck", "0.1.0").About("Finds broken links between documents.")
	p.Needs(plugin.CapDocumentsRead, plugin.CapFilesRead, plugin.CapSearch)
	plugin.Tool(p, "check", "Checks every ems:// link of a document and lists the documents that link to it.", check, plugin.ReadOnly, plugin.Title("Check links"))
	return p
}

func check(c *plugin.Call, in where) (report, error) {
	d, err := c.Document(in.Type, in.OUUID)
	if err != nil {
		return report{}, err
	}
	r := report{Broken: []broken{}, Referrers: []string{}}
	seen := map[string]bool{}
	for _, m := range link.FindAllStringSubmatch(string(d.Data), maxLinks) {
		if seen[m[0]] {
			continue
		}
		seen[m[0]] = true
		r.Checked++
		why, err := lookUp(c, m[1], m[2], m[3])
		if err != nil {
			return r, err
		}
		if why != "" {
			r.Broken = append(r.Broken, broken{m[0], why})
		}
		c.Progress(float64(r.Checked), 0, m[0])
	}
	r.Referrers, err = referrers(c, in)
	return r, err
}

// lookUp says why a link is broken, or nothing.
func lookUp(c *plugin.Call, kind, first, second string) (why string, err error) {
	switch {
	case kind != "object":
		_, err = c.ReadFile(first, io.Discard)
	case second == "":
		return "it names no document", nil
	default:
		_, err = c.Document(first, second)
	}
	switch status.Code(err) {
	case codes.OK:
		return "", nil
	case codes.NotFound:
		return "it is not there", nil
	case codes.PermissionDenied:
		return "you may not see it", nil
	}
	return "", err
}

// referrers finds the documents whose text names this one.
func referrers(c *plugin.Call, in where) ([]string, error) {
	text := fmt.Sprintf("ems://object:%s:%s", in.Type, in.OUUID)
	answer, err := c.Search(map[string]any{
		"query": map[string]any{"multi_match": map[string]any{"query": text, "type": "phrase", "fields": []string{"_all"}}}, "size": 100, "_source": false,
	})
	if err != nil {
		return nil, err
	}
	var found struct {
		Hits struct {
			Hits []struct {
				ID string `json:"_id"`
			} `json:"hits"`
		} `json:"hits"`
	}
	if err := json.Unmarshal(answer, &found); err != nil {
		return nil, fmt.Errorf("the answer of the search: %w", err)
	}
	list := []string{}
	for _, h := range found.Hits.Hits {
		if h.ID != in.OUUID {
			list = append(list, h.ID)
		}
	}
	return list, nil
}
