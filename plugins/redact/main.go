// Command redact is a plugin of Quoin that takes fields out of what webhook
// endpoints get, before it is signed.
package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync/atomic"

	"github.com/quoin-cms/quoin/sdk/plugin"
)

type settings struct {
	Fields []string `json:"fields" doc:"names of fields, at any depth"`
	With   string   `json:"with,omitempty" doc:"what stands in their place; left out they are removed"`
}

func main() { build().Serve() }

func build() *plugin.Plugin {
	var now atomic.Pointer[settings]
	now.Store(&settings{})
	p := plugin.New("redact", "0.1.0").About("Takes fields out of webhook calls.")
	plugin.Config(p, func(_ *plugin.Call, s settings) error {
		if slices.Contains(s.Fields, "") {
			return plugin.Field("fields", "holds an empty name")
		}
		now.Store(&s)
		return nil
	})
	p.TransformWebhook("*", func(_ *plugin.Call, d *plugin.Delivery) error {
		s := now.Load()
		if len(s.Fields) == 0 {
			return nil
		}
		var err error
		d.Body, err = redact(d.Body, s)
		return err
	})
	return p
}

// redact writes the body anew without the fields; numbers stay as they are
// written.
func redact(body []byte, s *settings) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(strip(v, s))
}

func strip(v any, s *settings) any {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			switch {
			case !slices.Contains(s.Fields, key):
				v[key] = strip(inner, s)
			case s.With == "":
				delete(v, key)
			default:
				v[key] = s.With
			}
		}
	case []any:
		for i := range v {
			v[i] = strip(v[i], s)
		}
	}
	return v
}
