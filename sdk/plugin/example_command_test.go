package plugin_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/quoin-cms/quoin/sdk/plugin"
)

// counter is a whole plugin: quoin plugin run counter pages prints how many
// pages there are, and how many there were the last time. Two runs at once count
// once.
func counter() *plugin.Plugin {
	p := plugin.New("counter", "1.0.0").About("Counts pages.")
	p.Needs(plugin.CapSearch, plugin.CapKV)
	p.Command("pages", "", "Counts the pages.", func(c *plugin.Call, args []string) error {
		if len(args) > 0 {
			return fmt.Errorf("pages takes no arguments, not %q", args)
		}
		first, err := c.KV().SetIfAbsent("running", []byte(c.User().Username), time.Minute)
		if err != nil {
			return err
		}
		if !first {
			return errors.New("somebody counts already")
		}
		defer func() { _ = c.KV().Delete("running") }()
		return count(c)
	})
	return p
}

func count(c *plugin.Call) error {
	answer, err := c.Search(map[string]any{"contentTypes": []string{"page"}, "size": 0})
	if err != nil {
		return err
	}
	var found struct {
		Hits struct {
			Total struct{ Value int }
		}
	}
	if err := json.Unmarshal(answer, &found); err != nil {
		return err
	}
	last, ok, err := c.KV().Get("last")
	if err != nil {
		return err
	}
	c.Print("%d pages", found.Hits.Total.Value)
	if ok {
		c.Print("the last time there were %s", last)
	}
	return c.KV().Set("last", fmt.Append(nil, found.Hits.Total.Value), 0)
}

// A command for operators, which can be a job as well.
func Example_command() {
	counter().Serve()
}
