package content_test

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/modules/content"
)

// envelope are the members of every answer to a write.
var envelope = []string{"acknowledged", "success", "ouuid", "type", "revision_id"}

// index stores a document as the author and gives its ouuid.
func (s *server) index(data string) string {
	s.Helper()
	return s.post("/api/data/page/index", data).is(200).has("success", "true").text("ouuid")
}

func TestIndexAndGet(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		a := s.post("/api/data/page/index", `{"title":"Home"}`).is(200)
		a.keys(envelope...).has("acknowledged", "true", "success", "true", "type", `"page"`)
		id, ouuid := a.id(), a.text("ouuid")
		if got := a.header.Get("ETag"); got != `"`+id+`"` {
			t.Errorf("ETag %s of revision %s", got, id)
		}
		if got := a.header.Get("Content-Type"); got != "application/json" {
			t.Errorf("Content-Type %s", got)
		}
		s.told("content.finalize")
		for _, path := range []string{"/api/data/page/", "/api/data/page/get/", "/json/data/page/"} {
			g := s.get(path + ouuid).is(200)
			g.keys("acknowledged", "success", "revision", "ouuid", "id").has("id", id, "ouuid", `"`+ouuid+`"`,
				"acknowledged", "true", "success", "true",
				"revision.title", `"Home"`, "revision._contenttype", `"page"`, "revision._finalized_by", `"author"`,
				"revision._finalization_datetime", `"2026-05-04T10:00:00+00:00"`)
			if got := g.header.Get("ETag"); got != `"`+id+`"` {
				t.Errorf("ETag %s", got)
			}
		}
		h := s.call("author", http.MethodHead, "/api/data/page/"+ouuid, nil).is(200)
		if len(h.body) != 0 {
			t.Errorf("HEAD answered a body: %s", h.body)
		}
		s.call("author", http.MethodHead, "/api/data/page/none", nil).is(404)
		s.told()
	})
}

func TestIndexReplacesAndUpdateMerges(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		first := s.post("/api/data/page/index/one", `{"title":"A","count":1,"data":{"x":[1]}}`).is(200)
		first.has("ouuid", `"one"`)
		s.post("/api/data/page/update/one", `{"data":{"y":2},"price":5}`).is(200).keys(envelope...)
		s.get("/api/data/page/one").has("revision.title", `"A"`, "revision.count", "1", "revision.data", `{"y":2}`, "revision.price", "5")
		s.clock.Advance(1e9)
		last := s.post("/api/data/page/index/one", `{"title":"B"}`).is(200)
		g := s.get("/api/data/page/one").has("revision.title", `"B"`, "revision.count", "", "id", last.id())
		if keys := strings.Join(keysOf([]byte(g.raw("revision"))), " "); keys != "title _contenttype _finalization_datetime _finalized_by _sha1" {
			t.Errorf("members %s", keys)
		}
		if first.id() == last.id() {
			t.Error("two states share a revision id")
		}
		s.told("content.finalize", "content.finalize", "content.finalize")
	})
}

func TestEmptyBodies(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		ouuid := s.index(`{"title":"A"}`)
		s.post("/api/data/page/update/"+ouuid, `[]`).is(200).has("success", "true") // PHP's empty object
		s.post("/api/data/page/update/"+ouuid, ` { } `).is(200).has("success", "true")
		s.post("/api/data/page/index", `[]`).is(200).has("success", "false", "error", `["title: is required"]`)
		draft := s.post("/api/data/page/merge/"+ouuid, `{"title":"B"}`).is(200).id()
		s.post("/api/data/page/finalize/"+draft, `[]`).is(200).has("success", "true")
		draft = s.post("/api/data/page/merge/"+ouuid, `{"title":"C"}`).is(200).id()
		s.post("/api/data/page/discard/"+draft, `[]`).is(200).has("success", "true")
		for _, call := range []string{"create", "draft", "replace/" + ouuid, "merge/" + ouuid} {
			s.post("/api/data/page/"+call, `[]`).is(400)
			s.post("/api/data/page/"+call, `{}`).is(400)
		}
		s.call("publisher", http.MethodPost, "/api/data/page/delete/"+ouuid, `[]`).is(200).has("success", "true")
	})
}

// TestBodiesAreReadWhateverTheirLabel: curl labels JSON as a form.
func TestBodiesAreReadWhateverTheirLabel(t *testing.T) {
	s := serve(t, nil)
	for _, label := range []string{"application/json; charset=utf-8", "application/x-www-form-urlencoded", "text/plain", ""} {
		s.post("/api/data/page/index", `{"title":"A"}`, "Content-Type", label).is(200).has("success", "true")
	}
}

// TestDataSurvives: key order, number literals, {} and [], escapes.
func TestDataSurvives(t *testing.T) {
	const data = `{"z":1.0,"a":1e3,"big":123456789012345678901234567890,"neg":-0,"exp":1E-7,"o":{},"l":[],"n":null,` +
		`"nested":{"b":1,"a":[{"y":2,"x":1.50}]},"text":"\u00e9\/é\ud83d\ude00\n","":"empty key","k\u00e9y":true}`
	engines(t, func(t *testing.T, s *server) {
		body := `{"title":"A","data":` + data + `}`
		s.post("/api/data/page/index/d", body).is(200).has("success", "true")
		s.get("/api/data/page/d").has("revision.data", data)
		s.post("/api/data/page/update/d", `{"count":3}`).is(200)
		s.get("/api/data/page/d").has("revision.data", data, "revision.count", "3")
		draft := s.post("/api/data/page/replace/d", "\n\t"+body+" ").is(200).id()
		s.post("/api/data/page/finalize/"+draft, nil).is(200)
		s.get("/api/data/page/d").has("revision.data", data)
		s.post("/api/data/page/index/d", `{"title":"B"}`).is(200)
		s.post("/api/data/page/restore/d/"+draft, nil).is(200)
		s.get("/api/data/page/d").has("revision.data", data)
	})
}

// TestSystemFieldsAreOurs: what a client sends under their names is dropped,
// and the names of versions are kept.
func TestSystemFieldsAreOurs(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		s.put("content-type", strings.Replace(pageType, `"versionTags":[]`, `"versionTags":["draft","final"]`, 1))
		s.post("/api/data/page/index/v", `{"_contenttype":"evil","title":"A","_sha1":"0","_finalized_by":"root","_finalization_datetime":"1999-01-01",
			"_published_datetime":"x","_signature":"x","_version_uuid":"018f2c1e-7d57-7cc0-9a39-6f1d7a0b7c11","_version_tag":"final"}`).is(200).keys(envelope...)
		s.post("/api/data/page/update/v", `{"count":1}`).is(200)
		g := s.get("/api/data/page/v").has("revision._contenttype", `"page"`, "revision._finalized_by", `"author"`,
			"revision._version_uuid", `"018f2c1e-7d57-7cc0-9a39-6f1d7a0b7c11"`, "revision._version_tag", `"final"`)
		keys := strings.Join(keysOf([]byte(g.raw("revision"))), " ")
		if keys != "title _version_uuid _version_tag count _contenttype _finalization_datetime _finalized_by _sha1" {
			t.Errorf("members %s", keys)
		}
	})
}

// TestSHA1 works the hash out anew from what a read answers.
func TestSHA1(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		s.post("/api/data/page/index/h", `{ "title" : "é", "data" : {"b":1.0, "a":[{ }]} }`).is(200)
		g := s.get("/api/data/page/h")
		normal := rawjson.Normalize(nil, rawjson.Without(nil, []byte(g.raw("revision")), "_sha1"))
		want := `{"_contenttype":"page","_finalization_datetime":"2026-05-04T10:00:00+00:00","_finalized_by":"author","data":{"a":[{}],"b":1.0},"title":"é"}`
		if string(normal) != want {
			t.Errorf("normalised %s, want %s", normal, want)
		}
		sum := sha1.Sum(normal)
		g.has("revision._sha1", `"`+hex.EncodeToString(sum[:])+`"`)
	})
}

// TestMenusAreStoredAsText: websites read a menu as a string of JSON.
func TestMenusAreStoredAsText(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		const menu = `[{"id":"1","label":"A","type":"entry","object":{"text":"x"}}]`
		const kept = `"[{\"id\":\"1\",\"label\":\"A\",\"type\":\"entry\",\"object\":{\"text\":\"x\"}}]"`
		s.post("/api/data/page/index/m", `{"title":"A","menu":`+menu+`}`).is(200).has("success", "true")
		s.get("/api/data/page/m").has("revision.menu", kept)
		s.post("/api/data/page/update/m", `{"menu":`+menu+`}`).is(200).has("success", "true")
		s.get("/api/data/page/m").has("revision.menu", kept)
		draft := s.post("/api/data/page/create/m2", `{"title":"A","menu":`+menu+`}`).is(200).id()
		s.get("/api/data/page/m2").has("revision.menu", kept)
		s.post("/api/data/page/finalize/"+draft, nil).is(200)
		s.get("/api/data/page/m2").has("revision.menu", kept)
		s.post("/api/data/page/merge/m2", `{"menu":`+menu+`}`).is(200)
		s.get("/api/data/page/m2").has("revision.menu", kept)
	})
}

func TestUnknownFieldsAreKept(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		a := s.post("/api/data/page/index/u", `{"title":"A","surprise":{"x":[1]}}`).is(200).has("success", "true")
		a.keys(append(envelope, "warning")...)
		if !strings.Contains(a.raw("warning"), "surprise") {
			t.Errorf("warning %s", a.raw("warning"))
		}
		s.get("/api/data/page/u").has("revision.surprise", `{"x":[1]}`)
	})
}

// TestFailedValidation is what websites' forms rely on: 200, success false, the
// id of a draft that can be discarded (contract-notes 1.5).
func TestFailedValidation(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		a := s.post("/api/data/page/index/f", `{"count":"many","blocks":[{"text":"a"},{"x":1}]}`).is(200)
		a.keys(append(envelope, "warning", "error")...).has("success", "false", "ouuid", `"f"`, "type", `"page"`)
		for _, path := range []string{"title: ", "count: ", "blocks[1].text: "} {
			if !strings.Contains(a.raw("error"), path) {
				t.Errorf("no finding about %q: %s", path, a.raw("error"))
			}
		}
		s.told()
		s.get("/api/data/page/f").is(200).has("revision.count", `"many"`, "id", a.id())
		again := s.post("/api/data/page/index/f", `{"count":"more"}`).is(200).has("success", "false", "revision_id", a.id())
		if again.header.Get("ETag") == a.header.Get("ETag") {
			t.Error("another state of the draft has the same ETag")
		}
		s.post("/api/data/page/discard/"+a.id(), `[]`).is(200).has("success", "true", "revision_id", a.id(), "type", `"page"`).keys(envelope...)
		s.get("/api/data/page/f").is(404)
		s.told()

		s.post("/api/data/page/index/f", `{"title":"A","price":1}`).is(200).has("success", "true")
		bad := s.post("/api/data/page/update/f", `{"count":"many"}`).is(200).has("success", "false").id()
		s.post("/api/data/page/update/f", `{"count":2}`).is(200).has("success", "true")
		s.get("/api/data/page/f").has("revision.title", `"A"`, "revision.count", "2", "revision.price", "1")
		s.post("/api/data/page/discard/"+bad, `[]`).is(404)
		numbers := []int64{}
		var list []struct{ Number int64 }
		s.get("/api/data/page/revisions/f").is(200).decode(&list)
		for _, r := range list {
			numbers = append(numbers, r.Number)
		}
		if len(numbers) != 2 || numbers[0] != 2 || numbers[1] != 1 {
			t.Errorf("numbers %v, want [2 1]", numbers)
		}
		s.told("content.finalize", "content.finalize")
	})
}

func TestIfMatch(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		one := s.post("/api/data/page/index/m", `{"title":"1"}`).is(200)
		two := s.post("/api/data/page/index/m", `{"title":"2"}`, "If-Match", one.header.Get("ETag")).is(200)
		rows := s.rows()
		for _, call := range []string{"index/m", "update/m", "replace/m", "merge/m"} {
			for _, tag := range []string{one.header.Get("ETag"), one.id(), `"x"`, `"", W/` + two.header.Get("ETag")} {
				s.post("/api/data/page/"+call, `{"title":"3"}`, "If-Match", tag).is(412).has("success", "false", "status", "412")
			}
		}
		s.call("publisher", http.MethodPost, "/api/data/page/delete/m", nil, "If-Match", one.header.Get("ETag")).is(412)
		s.post("/api/data/page/restore/m/"+one.id(), nil, "If-Match", one.header.Get("ETag")).is(412)
		s.post("/api/data/page/index/new", `{"title":"3"}`, "If-Match", "*").is(412)
		if after := s.rows(); after != rows {
			t.Errorf("rows %s, before %s", after, rows)
		}
		three := s.post("/api/data/page/update/m", `{"title":"3"}`, "If-Match", two.id()).is(200)
		s.post("/api/data/page/update/m", `{"title":"4"}`, "If-Match", `"x", `+three.header.Get("ETag")).is(200)
		s.post("/api/data/page/update/m", `{"title":"5"}`, "If-Match", "*").is(200)

		draft := s.post("/api/data/page/merge/m", `{"title":"6"}`, "If-Match", s.get("/api/data/page/m").header.Get("ETag")).is(200)
		if got := s.get("/api/data/page/m").header.Get("ETag"); got != draft.header.Get("ETag") {
			t.Errorf("ETag %s of the draft, %s when it was made", got, draft.header.Get("ETag"))
		}
		final := s.post("/api/data/page/finalize/"+draft.id(), nil).is(200)
		if got := final.header.Get("ETag"); got == draft.header.Get("ETag") || got != s.get("/api/data/page/m").header.Get("ETag") {
			t.Errorf("ETag %s after finalizing, %s before", got, draft.header.Get("ETag"))
		}
		s.post("/api/data/page/update/m", `{"title":"7"}`, "If-Match", draft.header.Get("ETag")).is(412)
		s.post("/api/data/page/update/m", `{"title":"7"}`, "If-Match", final.id()).is(200)
	})
}

func TestRefresh(t *testing.T) {
	s := serve(t, nil)
	waited := func(want int) {
		t.Helper()
		s.refreshed.mu.Lock()
		defer s.refreshed.mu.Unlock()
		if len(s.refreshed.keys) != want {
			t.Errorf("refreshed %v, want %d", s.refreshed.keys, want)
		}
		s.refreshed.keys = nil
	}
	ouuid := s.index(`{"title":"A"}`)
	waited(0)
	s.post("/api/data/page/index?refresh=true", `{"title":"A"}`).is(200)
	s.post("/api/data/page/index/"+ouuid+"?refresh=true", `{"title":"A"}`).is(200)
	s.post("/api/data/page/update/"+ouuid+"?refresh=true", `{"title":"B"}`).is(200)
	waited(3)
	s.post("/api/data/page/update/"+ouuid+"?refresh=true", `{"title":5}`).is(200).has("success", "false")
	waited(0)
	s.refreshed.err = errors.New("the index sleeps")
	a := s.post("/api/data/page/update/"+ouuid+"?refresh=true", `{"title":"C"}`).is(200).has("success", "true")
	if !strings.Contains(a.raw("warning"), "not searchable yet") {
		t.Errorf("no warning: %s", a.body)
	}
}

// TestLargestDocument: the bound is on the document, also on what a merge
// makes of it.
func TestLargestDocument(t *testing.T) {
	big := strings.Repeat("x", 1000)
	s := serve(t, func(c *content.Config) { c.MaxDocument = 2000 })
	ouuid := s.index(`{"title":"A","data":{"a":"` + big + `"}}`)
	rows := s.rows()
	s.post("/api/data/page/update/"+ouuid, `{"count":1,"x":"`+big+`"}`).is(413)
	s.post("/api/data/page/index", `{"title":"A","data":{"a":"`+strings.Repeat(big, 3)+`"}}`).is(413)
	// Without a length in the header the body is cut off while it is read.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/api/data/page/index", io.MultiReader(strings.NewReader(`{"title":"`+strings.Repeat(big, 3)+`"}`)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Auth-Token", "author")
	res, err := s.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != 413 {
		t.Errorf("status %d, want 413", res.StatusCode)
	}
	if after := s.rows(); after != rows {
		t.Errorf("rows %s, before %s", after, rows)
	}
}

// TestRevisionsWithoutData: a list of revisions takes no more memory than what
// it tells, however large the documents are.
func TestRevisionsWithoutData(t *testing.T) { // alone, because it counts what is allocated
	const revisions, size = 40, 1 << 20
	s := serve(t, nil)
	body := []byte(`{"title":"` + strings.Repeat("x", size) + `"}`)
	for range revisions {
		s.post("/api/data/page/index/d", body).is(200)
	}
	ctx := auth.With(t.Context(), testUsers()["author"])
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	list, err := s.Service.Revisions(ctx, "page", "d", 0, 1000)
	runtime.ReadMemStats(&after)
	if err != nil || len(list) != revisions {
		t.Fatalf("%d revisions, %v", len(list), err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > revisions*size/2 {
		t.Errorf("%d bytes for a list of %d revisions", used, revisions)
	}
}
