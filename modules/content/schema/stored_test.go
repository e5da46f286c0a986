package schema_test

import (
	"testing"

	"github.com/quoin-cms/quoin/modules/content/schema"
)

func TestStored(t *testing.T) {
	c, err := schema.Compile(mustParse(t, `{"name":"t","fields":[
		{"name":"m","type":"jsonmenu","fields":[{"name":"box","type":"container","fields":[{"name":"inner","type":"jsonmenu"}]}]},
		{"name":"list","type":"collection","fields":[{"name":"m","type":"jsonmenu"}]},
		{"name":"l","type":"multiplexed","values":["fr"],"fields":[{"name":"m","type":"jsonmenu"}]},
		{"name":"any","type":"json"}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct{ raw, want string }{
		{`{"a":1,"m":[ {"type":"box"} ],"b":2}`, `{"a":1,"m":"[{\"type\":\"box\"}]","b":2}`},
		{`{"m":[]}`, `{"m":"[]"}`},
		{`{"list":[{"m":[{}]},{"x":1}],"any":[1]}`, `{"list":[{"m":"[{}]"},{"x":1}],"any":[1]}`},
		{`{"fr":{"m":[1]}}`, `{"fr":{"m":"[1]"}}`},
		{`{"m":[{"type":"box","children":[{"type":"box","object":{"inner":[]}}]}]}`,
			`{"m":"[{\"type\":\"box\",\"children\":[{\"type\":\"box\",\"object\":{\"inner\":\"[]\"}}]}]"}`},
		{`[]`, `{}`},
	}
	for _, k := range cases {
		got := string(c.Stored([]byte(k.raw)))
		if got != k.want {
			t.Errorf("%s became %s, want %s", k.raw, got, k.want)
		}
		if again := string(c.Stored([]byte(got))); again != got {
			t.Errorf("%s is not stable: %s", got, again)
		}
	}
	same := []byte(`{"m": "[]", "any": [ ], "fr": {"m": null}}`)
	if got := c.Stored(same); &got[0] != &same[0] {
		t.Error("a document without array menus must not be copied")
	}
}
