package content_test

import (
	"archive/zip"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/modules/content"
)

// TestRecomputeKeepsWhatIsWrittenMeanwhile: a document that somebody changes
// while it is being written anew has their data afterwards.
func TestRecomputeKeepsWhatIsWrittenMeanwhile(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		s.post("/api/data/page/index/d", `{"title":"A"}`).is(200)
		s.between(func() { s.post("/api/data/page/update/d", `{"title":"B"}`).is(200) })
		out, err := s.Run(t.Context(), content.RunRecompute, nil, "page")
		if err != nil || out != "1 documents written anew, 0 left alone.\n" {
			t.Errorf("%q, %v", out, err)
		}
		s.get("/api/data/page/d").is(200).has("revision.title", `"B"`)
		if n := s.count("SELECT count(*) FROM content_revision"); n != 3 {
			t.Errorf("%d revisions, want the first, theirs and the recomputed one", n)
		}
	})
}

// TestArchiveLeavesWhatIsWrittenMeanwhile: what is modified while it is being
// archived has not been unmodified for long.
func TestArchiveLeavesWhatIsWrittenMeanwhile(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		if s.db.Dialect() == db.SQLite {
			t.Skip("there nothing comes in between")
		}
		s.post("/api/data/page/index/d", `{"title":"A"}`).is(200)
		s.clock.Advance(48 * time.Hour)
		s.between(func() { s.post("/api/data/page/update/d", `{"title":"B"}`).is(200) })
		out, err := s.Run(t.Context(), content.RunArchive, map[string]any{"modified-before": "2026-05-06"}, "page")
		if err != nil || out != "0 documents put into the trash, 1 left alone.\n" {
			t.Errorf("%q, %v", out, err)
		}
		s.get("/api/data/page/d").is(200).has("revision.title", `"B"`)
	})
}

// TestImportRefusesEmptyFiles: a file of an archive that lost its content does
// not take the content of the document along.
func TestImportRefusesEmptyFiles(t *testing.T) {
	s := serve(t, nil)
	s.put("content-type", export(`{"name":"note","environment":"preview","fields":[{"name":"title","type":"text"}]}`))
	s.call("admin", http.MethodPost, "/api/data/note/index/d", `{"title":"A"}`).is(200)
	archive := filepath.Join(t.TempDir(), "documents.zip")
	f, err := os.Create(archive)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for name, text := range map[string]string{"d.json": "", "folder.json/": "", "folder.json/e.json": `{"title":"E"}`, "blank.json": "{}"} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(t.Context(), content.RunImport, nil, "note", archive)
	if err == nil || !strings.Contains(out, "failed: d.json: the file is empty") || !strings.HasPrefix(out, "2 documents imported, 1 left alone.") {
		t.Errorf("%v: %s", err, out)
	}
	s.get("/api/data/note/d").is(200).has("revision.title", `"A"`)
	s.get("/api/data/note/folder").is(404)
	s.get("/api/data/note/e").is(200)
	s.get("/api/data/note/blank").is(200)
}

// TestUnlockNamesItsUser: an empty name, as an unset variable of a shell gives
// it, is not everybody.
func TestUnlockNamesItsUser(t *testing.T) {
	s := serve(t, nil)
	id := s.post("/api/data/page/create/d", `{"title":"A"}`).is(200).id()
	if _, err := s.Run(t.Context(), content.RunUnlock, nil, ""); err == nil {
		t.Error("the locks of nobody were taken away")
	}
	s.call("other", http.MethodPost, "/api/data/page/finalize/"+id, nil).is(423)
	if out, err := s.Run(t.Context(), content.RunUnlock, nil, "author"); err != nil || out != "1 drafts unlocked, 0 left alone.\n" {
		t.Errorf("%q, %v", out, err)
	}
	s.call("other", http.MethodPost, "/api/data/page/finalize/"+id, nil).is(200)
}

// TestDiscardDraftsLeavesWhatIsWrittenMeanwhile: a draft that its author goes on
// with while drafts are thrown away is not one that nobody works on.
func TestDiscardDraftsLeavesWhatIsWrittenMeanwhile(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		author := auth.With(t.Context(), testUsers()["author"])
		s.post("/api/data/page/create/d", `{"title":"A"}`).is(200)
		s.clock.Advance(time.Hour)
		for _, force := range []bool{false, true} {
			s.between(func() {
				if _, err := s.Editor().UpdateDraft(author, port.Key{Type: "page", OUUID: "d"}, []byte(`{"title":"B"}`), false, ""); err != nil {
					t.Error(err)
				}
			})
			out, err := s.Run(t.Context(), content.RunDiscard, map[string]any{"older": 5 * time.Minute, "force": force})
			if err != nil || out != "0 drafts thrown away, 1 left alone.\n" {
				t.Errorf("force %t: %q, %v", force, out, err)
			}
			s.get("/api/data/page/d").is(200).has("revision.title", `"B"`)
			s.clock.Advance(time.Hour)
		}
		out, err := s.Run(t.Context(), content.RunDiscard, map[string]any{"older": 5 * time.Minute})
		if err != nil || out != "1 drafts thrown away, 0 left alone.\n" {
			t.Errorf("%q, %v", out, err)
		}
	})
}

// TestAlignLogsFailures: the report of an align leaves out why the server
// failed at a document, and the log has it.
func TestAlignLogsFailures(t *testing.T) {
	s := serve(t, nil)
	s.post("/api/data/page/index/d", `{"title":"A"}`).is(200)
	if err := s.db.InTx(t.Context(), func(ctx context.Context) error {
		return s.db.Queue(ctx, db.SQL("ALTER TABLE content_revision RENAME TO elsewhere"))
	}); err != nil {
		t.Fatal(err)
	}
	m, err := s.Service.Align(auth.With(t.Context(), testUsers()["super"]), "preview", "live", content.Selection{}, nil)
	if err != nil || m.Failed != 1 || len(m.Failures) != 1 || strings.Contains(m.Failures[0], "no such table") {
		t.Errorf("%+v, %v", m, err)
	}
	if log := s.log.String(); !strings.Contains(log, "no such table") || !strings.Contains(log, "ouuid=d") {
		t.Errorf("logged: %s", log)
	}
}

// writer is a function that takes what is printed.
type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// TestExportLeavesOutWhatIsDeletedMeanwhile: a document that goes away during an
// export is not in it, and the others are.
func TestExportLeavesOutWhatIsDeletedMeanwhile(t *testing.T) {
	s := serve(t, nil)
	for _, d := range []string{"a", "b", "c"} {
		s.post("/api/data/page/create/"+d, `{"title":"A"}`).is(200)
	}
	var got strings.Builder
	out := writer(func(p []byte) (int, error) {
		if got.Len() == 0 {
			s.call("author", http.MethodPost, "/api/data/page/discard/"+s.get("/api/data/page/b").raw("id"), nil).is(200)
		}
		return got.Write(p)
	})
	if err := s.RunTo(t.Context(), out, content.RunExport, map[string]any{"drafts": true}, "page"); err != nil {
		t.Error(err)
	}
	if want := `{"ouuid":"a","data":{"title":"A"}}` + "\n" + `{"ouuid":"c","data":{"title":"A"}}` + "\n"; got.String() != want {
		t.Errorf("exported %s", got.String())
	}
}

// TestRestoreOfALargeDocument: what the server adds to a document does not count
// when the document is written again.
func TestRestoreOfALargeDocument(t *testing.T) {
	s := serve(t, func(c *content.Config) { c.MaxDocument = 2048 })
	body := `{"title":"` + strings.Repeat("x", 2048-len(`{"title":""}`)) + `"}`
	id := s.post("/api/data/page/index/d", body).is(200).has("success", "true").id()
	s.post("/api/data/page/index/d", `{"title":"B"}`).is(200)
	s.post("/api/data/page/restore/d/"+id, nil).is(200).has("success", "true")
	if out, err := s.Run(t.Context(), content.RunRecompute, nil, "page"); err != nil {
		t.Errorf("%s, %v", out, err)
	}
	s.post("/api/data/page/index/d", body+" ").is(413)
}
