package content_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// publish is a POST as the publisher.
func (s *server) publish(path string) *answer {
	s.Helper()
	return s.call("publisher", http.MethodPost, "/api/data/page/"+path, `[]`)
}

func TestPublish(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		one := s.post("/api/data/page/index/p", `{"title":"1"}`).is(200).id()
		s.told("content.finalize")
		withFlag := append(append([]string{}, envelope...), "already-published")
		s.publish("publish/p/preview").is(200).keys(withFlag...).has("success", "true", "already-published", "true", "revision_id", one)
		s.publish("publish/p/live").is(200).keys(withFlag...).has("success", "true", "already-published", "false", "revision_id", one)
		s.publish("publish/p/live").is(200).has("already-published", "true")
		s.told("content.published.live")

		two := s.post("/api/data/page/index/p", `{"title":"2"}`).is(200).id()
		s.where("p", two, "preview", one, "live")
		s.publish("publish/p/preview/" + one).is(409)
		s.publish("publish/p/live/"+two).is(200).has("already-published", "false")
		s.publish("publish/p/live/"+one).is(200).has("already-published", "false", "revision_id", one)
		s.where("p", two, "preview", one, "live")
		s.told("content.finalize", "content.published.live", "content.published.live")

		draft := s.post("/api/data/page/merge/p", `{"title":"3"}`).is(200).id()
		s.publish("publish/p/live/"+draft).is(409).has("code", `"draft_exists"`)
		s.publish("publish/p/live").is(200).has("revision_id", two)
		s.told("content.published.live")

		// One that was never finalized is there, but cannot be published.
		s.post("/api/data/page/create/new", `{"title":"1"}`).is(200)
		s.publish("publish/new/live").is(409).has("code", `"draft_exists"`)
		s.clock.Advance(1e12) // the lock ends
		s.publish("delete/new").is(200)
		s.publish("publish/new/live").is(404)
		s.publish("delete/p").is(200)
		s.publish("publish/p/live").is(404)
		s.post("/api/data/page/create/p", `{"title":"1"}`).is(200)
		s.publish("publish/p/live").is(409).has("code", `"draft_exists"`)
		s.told("content.delete", "content.delete")
	})
}

// where checks which revisions of a document are in which environments: id,
// environments, id, environments …; the others are in none.
func (s *server) where(ouuid string, want ...string) {
	s.Helper()
	var list []struct {
		ID           int64
		Environments []string
	}
	s.get("/api/data/page/revisions/" + ouuid).is(200).decode(&list)
	var got []string
	for _, r := range list {
		if len(r.Environments) > 0 {
			got = append(got, strconv.FormatInt(r.ID, 10), strings.Join(r.Environments, " "))
		}
	}
	if strings.Join(got, ",") != strings.Join(want, ",") {
		s.Errorf("%s is published as %v, want %v", ouuid, got, want)
	}
}

func TestUnpublish(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		id := s.post("/api/data/page/index/p", `{"title":"1"}`).is(200).id()
		s.publish("publish/p/live").is(200)
		s.told("content.finalize", "content.published.live")
		s.publish("unpublish/p/preview").is(409)
		keys := []string{"acknowledged", "success", "ouuid", "type", "was-published"}
		s.publish("unpublish/p/live").is(200).keys(keys...).has("success", "true", "was-published", "true")
		s.where("p", id, "preview")
		s.publish("unpublish/p/live").is(200).has("success", "true", "was-published", "false").keys(append(keys, "notice")...)
		s.told("content.unpublish")
		s.publish("publish/p/live").is(200).has("already-published", "false")
		s.told("content.published.live")
		s.publish("unpublish/p/nowhere").is(404).has("code", `"unknown_environment"`)
		s.publish("publish/p/nowhere").is(404)
	})
}

func TestDeleteAndTrash(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		one := s.post("/api/data/page/index/d", `{"title":"1"}`).is(200).id()
		s.publish("publish/d/live").is(200)
		s.events()
		s.refreshed.take()
		s.publish("delete/d").is(200).keys("acknowledged", "success", "ouuid", "type").has("success", "true", "ouuid", `"d"`, "type", `"page"`)
		if waited := s.refreshed.take(); len(waited) != 1 { // clients search at once
			t.Errorf("waited for %v", waited)
		}
		s.told("content.delete")
		s.get("/api/data/page/d").is(404).has("code", `"unknown_document"`)
		s.publish("delete/d").is(404)
		for _, path := range []string{"update/d", "replace/d", "merge/d"} {
			s.post("/api/data/page/"+path, `{"title":"2"}`).is(404)
		}
		s.publish("publish/d/live").is(404)
		s.publish("publish/d/live/" + one).is(404)
		s.publish("unpublish/d/live").is(404)
		s.publish("finalize/" + one).is(404)
		s.told()
		s.where("d")

		two := s.post("/api/data/page/index/d", `{"title":"2"}`).is(200).id()
		s.where("d", two, "preview")
		s.told("content.finalize")
		var list []struct {
			Number  int64
			Deleted bool
		}
		s.get("/api/data/page/revisions/d").decode(&list)
		if len(list) != 2 || list[0].Number != 2 || list[0].Deleted || list[1].Deleted {
			t.Errorf("revisions %+v", list)
		}

		s.publish("delete/d?refresh=false").is(200)
		if waited := s.refreshed.take(); len(waited) != 0 {
			t.Errorf("waited for %v", waited)
		}
		s.events()
		s.post("/api/data/page/restore/d/"+one, nil).is(200).keys(envelope...)
		s.get("/api/data/page/d").is(200).has("revision.title", `"1"`)
		s.told("content.finalize")
	})
}

// TestTrashStaysTrash: a draft on a document in the trash that is thrown away
// brings nothing back.
func TestTrashStaysTrash(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		old := s.post("/api/data/page/index/d", `{"title":"1"}`).is(200).id()
		s.publish("delete/d").is(200)
		for path, data := range map[string]string{"create/d": `{"count":2}`, "index/d": `{"count":"many"}`} {
			id := s.post("/api/data/page/"+path, data).is(200).id()
			s.publish("publish/d/live/" + old).is(404)
			s.post("/api/data/page/discard/"+id, nil).is(200)
			s.get("/api/data/page/d").is(404)
			s.where("d")
		}
		s.events()
		draft := s.post("/api/data/page/create/d", `{"title":"2"}`).is(200).id()
		s.post("/api/data/page/finalize/"+draft, nil).is(200)
		s.told("content.finalize")
		s.where("d", draft, "preview")
		s.publish("publish/d/live/" + old).is(200)

		s.post("/api/data/page/merge/d", `{"title":"3"}`).is(200)
		s.call("author", http.MethodPost, "/api/data/page/delete/d", nil).is(403)
		s.clock.Advance(1e12)
		s.publish("delete/d").is(200)
		back := s.post("/api/data/page/index/d", `{"title":"4"}`).is(200).id()
		s.where("d", back, "preview")
		var drafts []struct{ ID int64 }
		s.get("/api/meta/drafts").is(200).decode(&drafts)
		if len(drafts) != 0 {
			t.Errorf("drafts %v", drafts)
		}
	})
}

func TestRestore(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		one := s.post("/api/data/page/index/r", `{"title":"1","count":1}`).is(200).id()
		s.clock.Advance(1e9)
		s.post("/api/data/page/index/r", `{"title":"2"}`).is(200)
		s.events()
		a := s.post("/api/data/page/restore/r/"+one+"?refresh=true", `[]`).is(200).keys(envelope...).has("ouuid", `"r"`)
		s.get("/api/data/page/r").has("id", a.id(), "revision.title", `"1"`, "revision.count", "1", "revision._finalization_datetime", `"2026-05-04T10:00:01+00:00"`)
		s.told("content.finalize")
		s.post("/api/data/page/index/other", `{"title":"1"}`).is(200)
		s.post("/api/data/page/restore/other/"+one, nil).is(400)

		s.put("content-type", strings.Replace(pageType, `"name":"count"`, `"name":"amount"`, 1))
		s.post("/api/data/page/restore/r/"+one, nil).is(200) // the field is unknown now: a warning
		s.put("content-type", export(`{"name":"page","environment":"preview","roles":{"delete":"ROLE_AUTHOR"},"fields":[{"name":"body","type":"text","required":true}]}`))
		rows := s.rows()
		s.post("/api/data/page/restore/r/"+one, nil).is(422).has("code", `"validation"`)
		if after := s.rows(); after != rows {
			t.Errorf("rows %s, before %s", after, rows)
		}
	})
}

func TestRevisions(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		for _, title := range []string{"1", "2", "3"} {
			s.post("/api/data/page/index/r", `{"title":"`+title+`"}`).is(200)
		}
		draft := s.post("/api/data/page/merge/r", `{"title":"4"}`).is(200).id()
		var list []map[string]any
		s.get("/api/data/page/revisions/r").is(200).decode(&list)
		if len(list) != 4 || list[0]["number"] != 4.0 || list[3]["number"] != 1.0 {
			t.Fatalf("revisions %v", list)
		}
		if list[0]["draft"] != true || list[0]["locked_by"] != "author" || list[0]["finalized"] != nil || list[1]["locked_by"] != nil {
			t.Errorf("the draft is %v", list[0])
		}
		for _, key := range []string{"id", "number", "ouuid", "type", "draft", "deleted", "created", "created_by", "finalized", "finalized_by", "environments"} {
			if _, ok := list[1][key]; !ok {
				t.Errorf("no %s in %v", key, list[1])
			}
		}
		s.get("/api/data/page/revisions/r?limit=2").decode(&list)
		if len(list) != 2 {
			t.Errorf("limit 2 gives %d", len(list))
		}
		s.get("/api/data/page/revisions/r?before=3").decode(&list)
		if len(list) != 2 || list[0]["number"] != 2.0 {
			t.Errorf("before 3: %v", list)
		}
		s.get("/api/data/page/revisions/r?before=1").is(200).decode(&list)
		if len(list) != 0 {
			t.Errorf("before 1: %v", list)
		}
		s.get("/api/data/page/revisions/r/"+draft).is(200).has("revision", `{"title":"4"}`, "id", draft, "draft", "true", "ouuid", `"r"`, "number", "4")
		s.get("/api/data/page/revisions/r?limit=0").is(400)
		s.get("/api/data/page/revisions/r?limit=1001").is(400)
		s.get("/api/data/page/revisions/r?before=x").is(400)
	})
}

// TestPublishFromNowhere: a document that is in no environment, because its
// type had another default one, can be published and deleted like any other.
func TestPublishFromNowhere(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		id := s.post("/api/data/page/index/p", `{"title":"1"}`).is(200).id()
		s.put("content-type", strings.Replace(pageType, `"environment":"preview"`, `"environment":"live"`, 1))
		s.publish("unpublish/p/preview").is(200).has("was-published", "true")
		s.where("p")
		s.publish("publish/p/live").is(200).has("revision_id", id, "already-published", "false")
		s.where("p", id, "live")
		s.publish("delete/p").is(200)
		s.publish("publish/p/live").is(404)
		s.publish("publish/p/preview/" + id).is(404)
	})
}
