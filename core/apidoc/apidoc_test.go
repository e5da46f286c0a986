package apidoc_test

import (
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/apidoc"
)

const shop = `{"openapi":"3.1.0","info":{"title":"Shop","version":"7"},"x-modules":{"order":"Takes <orders>."},
"paths":{"/orders/{id}":{"put":{"operationId":"order-put","summary":"Change an order","description":"All of it.","x-module":"order","x-roles":["ROLE_SHOP"],
"x-one-of-roles":["ROLE_A","ROLE_B"],"x-also":["/old/{id}"],
"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"integer","minimum":1},"example":7},{"name":"dry","in":"query","schema":{"type":"boolean","description":"change nothing"},"example":true}],
"requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Order"},"example":{"who":"Ada's","parts":[{"name":"<b>","parts":[]}]}}}},
"responses":{"200":{"content":{"text/plain":{"schema":{"description":"a sentence"},"example":"Done & dusted"}}},"404":{}}}},
"/status":{"get":{"operationId":"status","summary":"State","x-module":"order","responses":{"200":{"content":{"application/json":{"schema":{"type":"object","additionalProperties":{"type":"boolean"}}}}}}}}},
"components":{"schemas":{
"Order":{"type":"object","required":["who"],"properties":{"note":{"type":["string","null"],"maxLength":9},"who":{"type":"string","description":"name","enum":["Ada's","Eve"]},"parts":{"type":["array","null"],"items":{"$ref":"#/components/schemas/Part"}}}},
"Part":{"type":"object","properties":{"name":{"type":"string"},"parts":{"type":"array","items":{"$ref":"#/components/schemas/Part"}}}}}}}`

func TestPages(t *testing.T) {
	site, err := apidoc.Render([]byte(shop))
	if err != nil {
		t.Fatal(err)
	}
	if len(site.Pages) != 2 {
		t.Fatalf("%d pages", len(site.Pages))
	}
	for name, wants := range map[string][]string{
		"": {"Takes &lt;orders&gt;.", `href="/docs/order#order-put"`, "Change an order"},
		"order": {
			`id="order-put"`, "All of it.", "Needs <code>ROLE_SHOP</code>, and <code>ROLE_A</code> or <code>ROLE_B</code>.", "Also at <code>/old/{id}</code>.", "Needs no token.",
			"path, integer", "at least 1", "change nothing", "name; one of Ada&#39;s, Eve", "list of object or null", "a sentence", "Done &amp; dusted", "<b>404</b> Not Found",
			"curl -X PUT &#34;$QUOIN/orders/7?dry=true&#34; -H &#34;X-Auth-Token: $TOKEN&#34; \\\n  -d &#39;{&#34;who&#34;:&#34;Ada&#39;\\&#39;&#39;s&#34;", "&lt;name&gt;",
		},
	} {
		page := string(site.Pages[name])
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("the page %q lacks %s", name, want)
			}
		}
		if strings.Contains(page, "<b>\"") || strings.Count(page, "<main>") != 1 {
			t.Errorf("the page %q holds what it should escape", name)
		}
	}
	page := string(site.Pages["order"])
	if who, note := strings.Index(page, "<code>who</code>"), strings.Index(page, "<code>note</code>"); who < 0 || note < who {
		t.Error("what must be there stands first")
	}
	if n := strings.Count(page, "<code>parts</code>"); n != 2 {
		t.Errorf("a schema that holds itself is shown %d times", n)
	}
}

func TestWhatIsNoDocumentIsRefused(t *testing.T) {
	if _, err := apidoc.Render([]byte(`[]`)); err == nil {
		t.Error("no error")
	}
}
