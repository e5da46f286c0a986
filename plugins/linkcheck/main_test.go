package main

import (
	"encoding/json"
	"testing"

	"github.com/quoin-cms/quoin/sdk/plugintest"
)

func TestCheck(t *testing.T) {
	h := plugintest.Start(t, build(),
		plugintest.WithDocument("page", "one", `{"body":"<a href=\"ems://object:page:two\"> ems://object:page:gone ems://object:page ems://object:page:two"}`),
		plugintest.WithDocument("page", "two", `{}`),
		plugintest.WithSearch(func(json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(`{"hits":{"hits":[{"_id":"three"},{"_id":"one"}]}}`), nil
		}))
	var r report
	if err := json.Unmarshal(h.Tool("check", `{"type":"page","ouuid":"one"}`).Structured, &r); err != nil {
		t.Fatal(err)
	}
	if r.Checked != 3 || len(r.Broken) != 2 || r.Broken[0] != (broken{"ems://object:page:gone", "it is not there"}) || len(r.Referrers) != 1 {
		t.Errorf("the report is %+v", r)
	}
	if a := h.Tool("check", `{"type":"page","ouuid":"none"}`); !a.Failed {
		t.Errorf("a document that is not there gives %+v", a)
	}
	if a := h.Tool("check", `{"kind":"page"}`); !a.Failed {
		t.Errorf("wrong arguments give %+v", a)
	}
}
