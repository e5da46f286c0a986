package schema_test

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/modules/content/schema"
)

// complete is a document that has all that is mandatory.
const complete = `{"title":"T","active":false,"tags":["a"],"people":[{"name":"Ann"}]}`

func codes(list []problem.FieldError) string {
	var out []string
	for _, f := range list {
		out = append(out, f.Path+":"+f.Code)
	}
	sort.Strings(out)
	return strings.Join(out, " ")
}

func TestValidateValues(t *testing.T) {
	c := everything(t)
	node := func(inner string) string { return fmt.Sprintf("%q", inner) }
	cases := []struct{ member, errors, warnings string }{
		{`"summary":"x"`, "", ""},
		{`"summary":1`, "summary:type", ""},
		{`"summary":null,"count":null,"image":null,"fr":null,"blocks":null,"period":null`, "", ""},
		{`"mail":"ann@example.org"`, "", ""},
		{`"mail":"ann"`, "mail:format", ""},
		{`"mail":7`, "mail:type", ""},
		{`"count":7`, "", ""},
		{`"count":7.0`, "", ""},
		{`"count":7.5`, "count:type", ""},
		{`"count":"7"`, "count:type", ""},
		{`"count":-1`, "count:min", ""},
		{`"count":101`, "count:max", ""},
		{`"weight":1.5e3`, "", ""},
		{`"weight":true`, "weight:type", ""},
		{`"layout":"wide"`, "", ""},
		{`"layout":""`, "", ""},
		{`"layout":"huge"`, "layout:choice", ""},
		{`"layout":["wide"]`, "layout:type", ""},
		{`"layout":[]`, "", ""},
		{`"kind":{"a":1}`, "kind:type", ""},
		{`"free":"whatever"`, "", ""},
		{`"users":"one"`, "", "users:single"},
		{`"users":["one","two",null]`, "", ""},
		{`"users":["one",2]`, "users[1]:type", ""},
		{`"version":"final"`, "", ""},
		{`"version":"other"`, "version:choice", ""},
		{`"parent":"page:1-a"`, "", ""},
		{`"parent":"user:1"`, "parent:link_type", ""},
		{`"parent":"page"`, "parent:format", ""},
		{`"parent":":x"`, "parent:format", ""},
		{`"related":["page:1","any_thing:2"]`, "", ""},
		{`"related":["page:1","x y:2"]`, "related[1]:format", ""},
		{`"day":"2024-02-29"`, "", ""},
		{`"day":"2023-02-29"`, "day:format", ""},
		{`"day":"2024/02/29"`, "day:format", ""},
		{`"day":["2024-02-29"]`, "", "day:single"},
		{`"day":["2024-02-29","2024-03-01"]`, "day:type", ""},
		{`"day":20240229`, "day:type", ""},
		{`"old_day":"2024/05/17"`, "", ""},
		{`"days":["17.05.2024","31.12.2024"]`, "", ""},
		{`"days":["17.05.2024","31.11.2024"]`, "days[1]:format", ""},
		{`"moment":"2024-05-17T09:30:00+02:00"`, "", ""},
		{`"moment":"2024-05-17T09:30:00.123Z"`, "", ""},
		{`"moment":"2024-05-17 09:30"`, "moment:format", ""},
		{`"hour":"23:59"`, "", ""},
		{`"hour":"24:00"`, "hour:format", ""},
		{`"period":{"starts":"2024-05-17T00:00:00+02:00","ends":"2024-05-18T00:00:00Z"}`, "", ""},
		{`"period":{"starts":"x"}`, "period.starts:format", ""},
		{`"period":"x"`, "period:type", ""},
		{`"season_starts":"2024-05-17T00:00:00+02:00"`, "", ""},
		{`"season_ends":5`, "season_ends:type", ""},
		{`"image":{"_hash":"abc","_size":12,"_name":"a.png","_type":"image/png","_algo":"sha1"}`, "", ""},
		{`"image":{"sha1":"abc","filesize":"12","filename":"a","mimetype":"b"}`, "", ""},
		{`"image":{"filename":"a"}`, "image:hash", ""},
		{`"image":{"sha1":"","filename":"a"}`, "image:hash", ""},
		{`"image":{"sha1":"abc","filesize":1.5}`, "image.filesize:type", ""},
		{`"image":{"sha1":"abc","filesize":"big"}`, "image.filesize:type", ""},
		{`"image":{"sha1":1}`, "image.sha1:type image:hash", ""},
		{`"image":{"sha1":"abc","owner":"me"}`, "", "image.owner:unknown"},
		{`"image":[{"sha1":"abc"}]`, "", "image:single"},
		{`"image":[{"sha1":"abc"},{"sha1":"abd"}]`, "image:type", ""},
		{`"image":[]`, "", ""},
		{`"image":"abc"`, "image:type", ""},
		{`"gallery":[{"sha1":"abc"},{"_hash":"abd"},{}]`, "", ""},
		{`"gallery":{"sha1":"abc"}`, "", "gallery:single"},
		{`"gallery":[{"sha1":"abc"},1]`, "gallery[1]:type", ""},
		{`"address":{"street":"S","number":1}`, "", ""},
		{`"address":{"number":1}`, "address.street:required", ""},
		{`"address":{"street":"S","zip":1}`, "", "address.zip:unknown"},
		{`"address":[{"street":"S"},{"street":1}]`, "address[1].street:type", ""},
		{`"address":[]`, "", ""},
		{`"address":1`, "address:type", ""},
		{`"fr":{"body":"<p>","slug":"s"}`, "", ""},
		{`"fr":{"slug":"s"}`, "fr.body:required", ""},
		{`"fr":{"body":"","slug":1}`, "fr.body:required fr.slug:type", ""},
		{`"fr":{"body":"b","show":true}`, "fr.teaser:required", ""},
		{`"fr":{"body":"b","show":true,"teaser":"t"}`, "", ""},
		{`"fr":{"body":"b","show":false}`, "", ""},
		{`"fr":[{"body":"b"}]`, "fr:type", ""},
		{`"fr":"b"`, "fr:type", ""},
		{`"noindex":true,"meta_title":"x"`, "", ""},
		{`"noindex":1`, "noindex:type", ""},
		{`"settings":{"a":[1]},"hidden":[1],"paths":"x","id":"u"`, "", ""},
		{`"all_text":"x"`, "", "all_text:unknown"},
		{`"_sha1":"x","_contenttype":"y","_mine":1`, "", "_mine:unknown"},
		{`"menu":"[{\"id\":\"1\",\"label\":\"x\",\"type\":\"any\"}]"`, "", ""},
		{`"entries":["a","b"]`, "", ""},
		{`"blocks":"[]"`, "", ""},
		{`"blocks":""`, "", ""},
		{`"blocks":"[{"`, "blocks:json", ""},
		{`"blocks":"{\"a\":1}"`, "blocks:type", ""},
		{`"blocks":5`, "blocks:type", ""},
		{`"blocks":` + node(`[{"id":"1","type":"paragraph","label":"x","object":{"label":"x","text":"t"},"children":[]}]`), "", ""},
		{`"blocks":[{"type":"paragraph","object":{"text":"t"}}]`, "", ""},
		{`"blocks":` + node(`[{"type":"paragraph","object":{}}]`), "", "blocks[0].object.text:required"},
		{`"blocks":` + node(`[{"type":"other","object":{"x":1}}]`), "", "blocks[0].type:node_type"},
		{`"blocks":` + node(`[{"type":"paragraph","object":{"text":1}}]`), "blocks[0].object.text:type", ""},
		{`"blocks":` + node(`[{"type":"card","object":{"target":"news:1"},"children":[{"type":"card","id":5}]}]`),
			"blocks[0].children[0].id:type", "blocks[0].object.target:link_type"},
		{`"blocks":` + node(`["x"]`), "blocks[0]:type", ""},
	}
	for _, k := range cases {
		raw := []byte(strings.TrimSuffix(complete, "}") + "," + k.member + "}")
		if err := rawjson.CheckObject(raw, rawjson.Limits{}); err != nil {
			t.Fatalf("%s: %v", k.member, err)
		}
		res := c.Validate(raw)
		if got := codes(res.Errors); got != k.errors {
			t.Errorf("%s: errors %q, want %q", k.member, got, k.errors)
		}
		if got := codes(res.Warnings); got != k.warnings {
			t.Errorf("%s: warnings %q, want %q", k.member, got, k.warnings)
		}
		if (k.errors == "") != res.OK() {
			t.Errorf("%s: OK is %v", k.member, res.OK())
		}
	}
}

func TestValidateMandatory(t *testing.T) {
	c := everything(t)
	cases := []struct{ raw, want string }{
		{complete, ""},
		{`{}`, "active:required people:required tags:required title:required"},
		{`[]`, "active:required people:required tags:required title:required"},
		{`{"title":"","active":false,"tags":[],"people":[]}`, "people:required tags:required title:required"},
		{`{"title":null,"active":true,"tags":["a"],"people":[{"name":"A"},{"photo":null},{"name":""}]}`,
			"people[1].name:required people[2].name:required title:required"},
		{`{"title":"T","active":true,"tags":["a"],"people":[{"name":"A"},{"name":"A"},{"name":"A"},{"name":"A"}]}`, "people:max_items"},
		{`{"title":"T","active":true,"tags":["a"],"people":{"a":1}}`, "people:type"},
		{`"x"`, ":type"},
	}
	for _, k := range cases {
		if got := codes(c.Validate([]byte(k.raw)).Errors); got != k.want {
			t.Errorf("%s: %q, want %q", k.raw, got, k.want)
		}
	}
	for _, raw := range []string{`{}`, `{"title":"","people":[{}],"fr":{"show":true}}`} {
		if res := c.ValidateDraft([]byte(raw)); len(res.Errors) > 0 {
			t.Errorf("draft %s: %+v", raw, res.Errors)
		}
	}
	if res := c.ValidateDraft([]byte(`{"title":1}`)); codes(res.Errors) != "title:type" {
		t.Errorf("a draft has types too: %+v", res)
	}
}

func TestValidateIsBounded(t *testing.T) {
	c := everything(t)
	var b strings.Builder
	b.WriteString(`{"title":"T"`)
	for i := range 5000 {
		fmt.Fprintf(&b, `,"k%d":1`, i)
	}
	b.WriteString("}")
	res := c.Validate([]byte(b.String()))
	if n := len(res.Warnings); n != 101 || res.Warnings[100].Code != "more" {
		t.Errorf("%d warnings", n)
	}
}

func TestManyMandatoryFields(t *testing.T) {
	var fields, doc []string
	for i := range 70 {
		fields = append(fields, fmt.Sprintf(`{"name":"f%d","type":"text","required":true}`, i))
		if i != 3 && i != 66 {
			doc = append(doc, fmt.Sprintf(`"f%d":"x"`, i))
		}
	}
	ct, err := schema.Parse([]byte(`{"name":"wide","fields":[` + strings.Join(fields, ",") + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := schema.Compile(ct, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := codes(c.Validate([]byte("{" + strings.Join(doc, ",") + "}")).Errors); got != "f3:required f66:required" {
		t.Errorf("got %q", got)
	}
}

// TestEmptyKey: a key without letters is told as such, and not as an element.
func TestEmptyKey(t *testing.T) {
	r := everything(t).Validate([]byte(`{"":1}`))
	if !slices.ContainsFunc(r.Warnings, func(f problem.FieldError) bool { return f.Path == `""` && f.Code == "unknown" }) {
		t.Errorf("%v", r.Warnings)
	}
}
