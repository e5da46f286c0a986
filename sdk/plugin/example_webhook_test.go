package plugin_test

import (
	"encoding/json"

	"github.com/quoin-cms/quoin/sdk/plugin"
)

// slim is a whole plugin: endpoints get the names of what changed and not the
// data. The server signs what the plugin made. Deletions are kept to oneself.
func slim() *plugin.Plugin {
	p := plugin.New("slim", "1.0.0").About("Takes the data out of webhook calls.")
	p.TransformWebhook("content.*", func(_ *plugin.Call, d *plugin.Delivery) error {
		if d.Event == "content.delete" {
			d.Skip = true // no call is made, and it counts as delivered
			return nil
		}
		var call struct {
			Event string         `json:"event"`
			Data  map[string]any `json:"data"`
		}
		if err := json.Unmarshal(d.Body, &call); err != nil {
			return err
		}
		delete(call.Data, "raw_data")
		var err error
		d.Body, err = json.Marshal(call)
		d.Headers["X-Slim"] = "1"
		return err
	})
	return p
}

// A change of webhook calls before they are signed.
func Example_webhook() {
	slim().Serve()
}
