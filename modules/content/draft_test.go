package content_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
)

func TestDrafts(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		for _, path := range []string{"create", "draft", "create/one", "draft/two"} {
			a := s.post("/api/data/page/"+path, `{"count":1}`).is(200) // nothing is mandatory yet
			a.keys(envelope...).has("success", "true", "type", `"page"`)
			if _, ouuid, given := strings.Cut(path, "/"); given && a.text("ouuid") != ouuid {
				t.Errorf("%s: ouuid %s", path, a.text("ouuid"))
			}
			s.get("/api/data/page/"+a.text("ouuid")).is(200).has("id", a.id(), "revision", `{"count":1}`)
		}
		s.told()

		one := s.get("/api/data/page/one").raw("id")
		s.post("/api/data/page/finalize/"+one, `[]`).is(422).has("status", "422", "code", `"validation"`, "error", `["the document breaks its content type","title: is required"]`)
		s.post("/api/data/page/discard/"+one, `[]`).is(200).has("success", "true", "revision_id", one)
		s.get("/api/data/page/one").is(404)

		draft := s.post("/api/data/page/create/one", `{"title":"A","count":1}`).is(200).id()
		s.post("/api/data/page/create/one", `{"title":"A"}`).is(409).has("code", `"duplicate_ouuid"`)
		s.post("/api/data/page/finalize/"+draft, `[]`).is(200).keys(envelope...).has("success", "true", "ouuid", `"one"`, "revision_id", draft)
		s.told("content.finalize")
		a := s.post("/api/data/page/finalize/"+draft, `[]`).is(200).has("success", "true", "revision_id", draft)
		if a.raw("notice") == "" {
			t.Errorf("finalizing twice says nothing: %s", a.body)
		}
		s.told()
		s.post("/api/data/page/discard/"+draft, `[]`).is(400)

		replaced := s.post("/api/data/page/replace/one", `{"price":2}`).is(200).keys(envelope...).id()
		s.get("/api/data/page/one").has("revision", `{"price":2}`, "id", replaced)
		s.post("/api/data/page/discard/"+replaced, `[]`).is(200)
		s.get("/api/data/page/one").has("revision.title", `"A"`, "id", draft)
		merged := s.post("/api/data/page/merge/one", `{"price":2}`).is(200).keys(envelope...).id()
		s.get("/api/data/page/one").has("revision", `{"title":"A","count":1,"price":2}`, "id", merged)
		s.post("/api/data/page/finalize/"+merged+"?refresh=true", `[]`).is(200)
		s.get("/api/data/page/one").has("revision.price", "2", "revision.title", `"A"`)
		s.told("content.finalize")
		s.refreshed.mu.Lock()
		defer s.refreshed.mu.Unlock()
		if len(s.refreshed.keys) != 1 {
			t.Errorf("refreshed %v", s.refreshed.keys)
		}
	})
}

// TestFinalizeWithData: newer clients send the last changes along.
func TestFinalizeWithData(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		finalize := func(id string, body any) *answer { return s.post("/api/data/page/finalize/"+id, body) }
		id := s.post("/api/data/page/create/f", `{"title":"A","count":1}`).is(200).id()
		s.told()
		refused(t, finalize(id, `{"title":""}`), 422)
		refused(t, finalize(id, `{"count":"many"}`), 422)
		refused(t, finalize(id, `{"count":`), 400)
		refused(t, finalize(id, `[1]`), 400)
		s.get("/api/data/page/f").has("revision", `{"title":"A","count":1}`, "id", id)
		finalize(id, `{"count":2,"price":3,"_sha1":"mine"}`).is(200).keys(envelope...).has("success", "true", "revision_id", id)
		s.told("content.finalize")
		s.get("/api/data/page/f").has("revision.title", `"A"`, "revision.count", "2", "revision.price", "3")
		refused(t, finalize(id, `{"count":4}`), 409)
		for _, body := range []any{nil, ``, `[]`, `{}`} {
			finalize(id, body).is(200).has("success", "true")
		}
		s.told()

		s.put("content-type", fencedType)
		id = s.post("/api/data/page/create/g", `{"title":"A"}`).is(200).id()
		refused(t, finalize(id, `{"secret":1}`), 403)
		s.clock.Advance(1e12)
		s.call("webmaster", http.MethodPost, "/api/data/page/finalize/"+id, `{"secret":1}`).is(200)
		s.get("/api/data/page/g").has("revision.secret", "1")
	})
}

// TestDraftIsNoTrap: a draft that somebody made is in the way of every other
// write, and is never finalized or overwritten by the way (contract-notes 1.5).
func TestDraftIsNoTrap(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		s.post("/api/data/page/index/d", `{"title":"A"}`).is(200)
		draft := s.post("/api/data/page/merge/d", `{"title":"B"}`).is(200).id()
		rows := s.rows()
		for _, call := range []string{"index/d", "update/d", "replace/d", "merge/d"} {
			s.post("/api/data/page/"+call, `{"title":"C"}`).is(409).has("code", `"draft_exists"`, "success", "false")
			s.call("other", http.MethodPost, "/api/data/page/"+call, `{"title":"C"}`).is(423).has("success", "false", "status", "423")
		}
		s.post("/api/data/page/restore/d/"+draft, nil).is(409)
		for _, call := range []string{"finalize/" + draft, "discard/" + draft} {
			s.call("other", http.MethodPost, "/api/data/page/"+call, nil).is(423)
		}
		s.call("publisher", http.MethodPost, "/api/data/page/delete/d", nil).is(423)
		if after := s.rows(); after != rows {
			t.Errorf("rows %s, before %s", after, rows)
		}
		s.get("/api/data/page/d").has("revision.title", `"B"`, "id", draft)

		s.clock.Advance(time.Minute - time.Second)
		s.call("other", http.MethodPost, "/api/data/page/finalize/"+draft, nil).is(423)
		s.clock.Advance(time.Second + time.Millisecond)
		s.call("other", http.MethodPost, "/api/data/page/index/d", `{"title":"C"}`).is(409).has("code", `"draft_exists"`)
		s.call("other", http.MethodPost, "/api/data/page/finalize/"+draft, nil).is(200)
		s.get("/api/data/page/d").has("revision.title", `"B"`, "revision._finalized_by", `"other"`)
	})
}

// TestDraftTakesOverWhatFailed: replace and merge turn a failed draft into a
// real one, merged into what was valid.
func TestDraftTakesOverWhatFailed(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		s.post("/api/data/page/index/d", `{"title":"A","count":1}`).is(200)
		failed := s.post("/api/data/page/update/d", `{"count":"x"}`).is(200).has("success", "false").id()
		s.post("/api/data/page/merge/d", `{"price":1}`).is(200).has("revision_id", failed)
		s.get("/api/data/page/d").has("revision", `{"title":"A","count":1,"price":1}`)
		s.post("/api/data/page/index/d", `{"title":"C"}`).is(409)
		s.post("/api/data/page/finalize/"+failed, nil).is(200)
		s.told("content.finalize", "content.finalize")
	})
}

func TestDraftsAreChecked(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		s.post("/api/data/page/index/d", `{"title":"A"}`).is(200)
		rows := s.rows()
		for _, call := range []string{"create", "create/x", "replace/d", "merge/d"} {
			a := s.post("/api/data/page/"+call, `{"title":5}`).is(422).has("code", `"validation"`, "success", "false")
			if !strings.Contains(a.raw("errors"), `"path":"title"`) {
				t.Errorf("%s: %s", call, a.body)
			}
		}
		if after := s.rows(); after != rows {
			t.Errorf("rows %s, before %s", after, rows)
		}
	})
}

func TestUnknownDocumentsAndRevisions(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		s.put("content-type", strings.Replace(pageType, `"name":"page"`, `"name":"other"`, 1))
		foreign := s.post("/api/data/other/create", `{"title":"A"}`).is(200).id()
		mine := s.post("/api/data/page/index/mine", `{"title":"A"}`).is(200).id()
		rows := s.rows()
		for _, path := range []string{
			"update/none", "replace/none", "merge/none", "delete/none", "publish/none/live", "publish/none/live/" + mine, "unpublish/none/live",
			"finalize/999", "discard/999", "restore/none/999", "finalize/" + foreign, "discard/" + foreign, "restore/mine/" + foreign, "publish/mine/live/" + foreign,
		} {
			status := 404
			if path == "publish/none/live/"+mine {
				status = 400 // a revision of another document
			}
			s.call("publisher", http.MethodPost, "/api/data/page/"+path, `{"title":"B"}`).is(status).has("success", "false")
		}
		for _, path := range []string{"none", "get/none", "revisions/none", "revisions/none/" + mine, "revisions/mine/999", "revisions/mine/" + foreign} {
			s.get("/api/data/page/" + path).is(404)
		}
		if after := s.rows(); after != rows {
			t.Errorf("rows %s, before %s", after, rows)
		}
	})
}

// TestDiscardOfAState: who asks for a draft to be thrown away in the state they
// saw does not throw away what was written since.
func TestDiscardOfAState(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		ctx := auth.With(t.Context(), testUsers()["author"])
		key := port.Key{Type: "page", OUUID: "d"}
		saved, err := s.Editor().CreateDraft(ctx, key, []byte(`{"title":"A"}`))
		if err != nil {
			t.Fatal(err)
		}
		s.between(func() {
			if _, err := s.Editor().UpdateDraft(ctx, key, []byte(`{"title":"B"}`), false, ""); err != nil {
				t.Error(err)
			}
		})
		if _, err := s.Editor().Discard(ctx, key, saved.Revision, saved.ETag); !problem.Is(err, problem.PreconditionFailed) {
			t.Errorf("%v", err)
		}
		s.get("/api/data/page/d").is(200).has("revision.title", `"B"`)
		if _, err := s.Editor().Discard(ctx, port.Key{Type: "page", OUUID: "e"}, saved.Revision, ""); !problem.Is(err, problem.NotFound) {
			t.Errorf("of another document: %v", err)
		}
		if _, err := s.Editor().Discard(ctx, key, saved.Revision, ""); err != nil {
			t.Error(err)
		}
		s.get("/api/data/page/d").is(404)
	})
}
