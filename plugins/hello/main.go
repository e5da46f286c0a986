// Command hello is a plugin of Quoin in one file: a tool that agents call, and
// a handler of events.
package main

import (
	"fmt"

	"github.com/quoin-cms/quoin/sdk/plugin"
)

type greeting struct {
	Name string `json:"name" doc:"who to greet"`
}

func main() { build().Serve() }

func build() *plugin.Plugin {
	p := plugin.New("hello", "0.1.0").About("Greets people and notes what is published.")
	p.Needs(plugin.CapKV)
	plugin.Tool(p, "hello", "Greets someone by name.", greet, plugin.ReadOnly)
	p.OnEvent("content.published.*", published)
	p.Command("published", "", "Lists what was published last.", list)
	return p
}

func greet(c *plugin.Call, in greeting) (string, error) {
	return fmt.Sprintf("Hello %s, from %s!", in.Name, c.User().DisplayName), nil
}

func published(c *plugin.Call, e plugin.Event) error {
	c.Log().Info("published", "subject", e.Subject, "by", e.Actor)
	return c.KV().Set(fmt.Sprintf("published/%020d", e.ID), []byte(e.Subject), 0)
}

func list(c *plugin.Call, _ []string) error {
	keys, err := c.KV().Keys("published/", "")
	if err != nil {
		return err
	}
	for _, key := range keys {
		subject, _, err := c.KV().Get(key)
		if err != nil {
			return err
		}
		c.Print("%s", subject)
	}
	return nil
}
