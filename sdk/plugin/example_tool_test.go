package plugin_test

import (
	"fmt"

	"github.com/quoin-cms/quoin/sdk/plugin"
)

type question struct {
	Page string `json:"page" doc:"ouuid of the page"`
	Max  int    `json:"max,omitempty" doc:"how many characters; all when left out"`
}

type summary struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

// titles is a whole plugin: a tool that reads a page with the rights of who
// asks. Agents see it as titles_summary.
func titles() *plugin.Plugin {
	p := plugin.New("titles", "1.0.0").About("Sums up pages.")
	p.Needs(plugin.CapDocumentsRead)
	plugin.Tool(p, "summary", "Tells title and beginning of a page.", summarize, plugin.ReadOnly)
	return p
}

func summarize(c *plugin.Call, in question) (*summary, error) {
	d, err := c.Document("page", in.Page)
	if plugin.NotFound(err) {
		return nil, fmt.Errorf("there is no page %s", in.Page) // the agent reads it
	}
	if err != nil {
		return nil, err
	}
	var page struct{ Title, Body string }
	if err := d.Decode(&page); err != nil {
		return nil, err
	}
	text := []rune(page.Body)
	if in.Max > 0 && len(text) > in.Max {
		text = text[:in.Max]
	}
	return &summary{page.Title, string(text)}, nil
}

// A tool for agents. This is all of main.
func Example_tool() {
	titles().Serve()
}
