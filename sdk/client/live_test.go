package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/sdk/client"
	"github.com/quoin-cms/quoin/sdk/webhook"
)

// check ends the test when something that must work does not.
func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestDraftsAndRevisions(t *testing.T) {
	c, ctx := connected(t), t.Context()
	pages := c.Documents("page")
	w, err := pages.CreateAs(ctx, "drafted", map[string]any{"label": "One"})
	check(t, err)
	if drafts, err := c.Drafts(ctx, client.DraftFilter{Data: true}); err != nil || len(drafts) == 0 || drafts[0].OUUID != "drafted" || drafts[0].Revision != w.Revision || !strings.Contains(string(drafts[0].Data), "One") || drafts[0].Created.IsZero() {
		t.Errorf("%+v, %v", drafts, err)
	}
	w, err = pages.Finalize(ctx, w.Revision, client.Refresh())
	check(t, err)
	first := w.Revision
	w, err = pages.Replace(ctx, "drafted", map[string]any{"label": "Two"})
	check(t, err)
	if _, err := pages.Merge(ctx, "drafted", map[string]any{"label": "Three"}); client.Status(err) != http.StatusConflict {
		t.Errorf("a second draft: %v", err)
	}
	_, err = pages.Discard(ctx, w.Revision)
	check(t, err)
	w, err = pages.Merge(ctx, "drafted", map[string]any{"template": "default"})
	check(t, err)
	_, err = pages.Finalize(ctx, w.Revision)
	check(t, err)
	w, err = pages.Publish(ctx, "drafted", "live", client.Refresh())
	if err != nil || w.Already {
		t.Errorf("%+v, %v", w, err)
	}
	if w, err = pages.PublishRevision(ctx, "drafted", "live", first); err != nil || w.Already {
		t.Errorf("%+v, %v", w, err)
	}
	if in, err := c.Published(ctx, []string{"page:drafted"}, nil); err != nil || in["drafted"].Revisions["live"] != first || in["drafted"].Status["live"] != "outdated" || in["drafted"].Revision != in["drafted"].Revisions["preview"] {
		t.Errorf("%v, %v", in, err)
	}
	if hit, err := c.Search.Document(ctx, client.Lookup{Index: "quoin_live", OUUID: "drafted"}); err != nil || hit.ID != "drafted" {
		t.Errorf("%+v, %v", hit, err)
	}
	if w, err = pages.Unpublish(ctx, "drafted", "live"); err != nil || !w.Was {
		t.Errorf("%+v, %v", w, err)
	}
	_, err = pages.Delete(ctx, "drafted")
	check(t, err)
	if there, err := pages.Exists(ctx, "drafted"); err != nil || there {
		t.Errorf("it is in the trash: %v, %v", there, err)
	}
	_, err = pages.Restore(ctx, "drafted", first)
	check(t, err)
	if there, err := pages.Exists(ctx, "drafted"); err != nil || !there {
		t.Errorf("it is back: %v, %v", there, err)
	}
	n := 0
	for r, err := range pages.Revisions(ctx, "drafted") {
		check(t, err)
		whole, err := pages.Revision(ctx, "drafted", r.ID)
		check(t, err)
		if whole.Number != r.Number || len(whole.Data) == 0 || r.Created.IsZero() || r.CreatedBy != "admin" {
			t.Errorf("%+v and %+v", r, whole)
		}
		n++
	}
	if n < 3 {
		t.Errorf("%d revisions", n)
	}
}

func TestABulkLargerThanAnyBuffer(t *testing.T) {
	c, ctx := connected(t), t.Context()
	const n = 2000
	text := strings.Repeat("x", 2000)
	lines := func(yield func(client.BulkLine) bool) {
		for i := range n {
			label := any(fmt.Sprint("bulk ", i, text))
			if i == 1000 {
				label = 1
			}
			data, err := json.Marshal(map[string]any{"label": label})
			if err != nil || !yield(client.BulkLine{OUUID: fmt.Sprintf("large-%d", i), Data: data}) {
				return
			}
		}
	}
	next := 0
	for r, err := range c.Documents("page").Bulk(ctx, lines, client.Refresh()) {
		check(t, err)
		if next++; r.Line != next || (r.Err() == nil) != (next != 1001) {
			t.Fatalf("%+v, line %d", r, next)
		}
	}
	if next != n {
		t.Errorf("%d results", next)
	}
	for _, err := range c.Documents("page").Bulk(ctx, lines) {
		check(t, err)
		break // leaving ends the call
	}
	if err := all(c.Documents("nothing").Bulk(ctx, lines)); client.Status(err) != http.StatusNotFound {
		t.Errorf("no such type: %v", err)
	}
}

func TestUsersAndTokens(t *testing.T) {
	c, ctx := connected(t), t.Context()
	p, err := c.Users.Profile(ctx)
	if err != nil || p.Username != "admin" || !p.ExpirationDate.IsZero() {
		t.Errorf("%+v, %v", p, err)
	}
	if all, err := c.Users.Profiles(ctx); err != nil || len(all) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	made, err := c.Users.CreateToken(ctx, "shop", time.Hour)
	check(t, err)
	check(t, c.WithToken(made.Secret).Users.Test(ctx))
	if tokens, err := c.Users.Tokens(ctx, ""); err != nil || !slices.ContainsFunc(tokens, func(o client.Token) bool { return o.ID == made.ID && o.Name == "shop" && !o.ExpiresAt.IsZero() }) {
		t.Errorf("%+v, %v", tokens, err)
	}
	check(t, c.Users.RevokeToken(ctx, made.ID))
	if err := c.WithToken(made.Secret).Users.Test(ctx); client.Status(err) != http.StatusUnauthorized {
		t.Errorf("a token that was revoked: %v", err)
	}
	if _, err := c.Users.ActAs(ctx, "nobody", "nobody@example.org"); client.Status(err) != http.StatusNotFound {
		t.Errorf("nobody: %v", err)
	}
}

func TestJobsAndTheirWorkers(t *testing.T) {
	c, ctx := connected(t), t.Context()
	id, err := c.Jobs.Create(ctx, client.NewJob{Command: "commands"})
	check(t, err)
	b, err := c.Jobs.Start(ctx, id)
	if err != nil || len(b.Errors) != 0 {
		t.Errorf("%+v, %v", b, err)
	}
	var text strings.Builder
	for o, err := range c.Jobs.Follow(ctx, id, 0) {
		check(t, err)
		text.WriteString(o.Text)
	}
	whole, err := c.Jobs.Get(ctx, id)
	if err != nil || whole.Output != text.String() || text.Len() == 0 || whole.State != "done" {
		t.Errorf("%+v, %v, and %d bytes were followed", whole, err, text.Len())
	}
	if o, err := c.Jobs.Output(ctx, id, 5); err != nil || o.Text != text.String()[5:] || !o.Done {
		t.Errorf("%+v, %v", o, err)
	}
	if claim, err := c.Jobs.Next(ctx, "idle", 0, 0); claim != nil || err != nil {
		t.Errorf("%+v, %v", claim, err)
	}

	failing, err := c.Jobs.Create(ctx, client.NewJob{Command: "fail", Tag: "live"})
	check(t, err)
	cancelled, err := c.Jobs.Create(ctx, client.NewJob{Command: "cancel", Tag: "live"})
	check(t, err)
	working, stop := context.WithCancel(ctx)
	defer stop()
	err = c.Jobs.Work(working, "live", func(ctx context.Context, job *client.Claim, out io.Writer) error {
		if job.Command == "fail" {
			return errors.New("no luck")
		}
		defer stop()
		if _, err := c.Jobs.Cancel(ctx, job.ID); err != nil {
			return err
		}
		_, err := io.WriteString(out, "still here\n") // hears of it
		<-ctx.Done()
		return errors.Join(err, context.Cause(ctx))
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the worker ends with %v", err)
	}
	if j, err := c.Jobs.Get(ctx, failing); err != nil || j.State != "failed" || !strings.Contains(j.Output, "no luck") {
		t.Errorf("%+v, %v", j, err)
	}
	if j, err := c.Jobs.Get(ctx, cancelled); err != nil || j.State != "cancelled" || !strings.Contains(j.Output, "still here") {
		t.Errorf("%+v, %v", j, err)
	}
	check(t, c.Jobs.Delete(ctx, failing))
	if _, err := c.Jobs.Get(ctx, failing); client.Status(err) != http.StatusNotFound {
		t.Errorf("it was removed: %v", err)
	}
	nobody := c.WithToken("qn_wrong")
	if err := nobody.Jobs.Work(ctx, "live", nil); client.Status(err) != http.StatusUnauthorized {
		t.Errorf("a worker that nobody knows: %v", err)
	}
}

func TestFormsAndCodes(t *testing.T) {
	c, ctx := connected(t), t.Context()
	s, err := c.Forms.Submit(ctx, client.NewSubmission{
		FormName: "live", Instance: "site", Locale: "en", Label: "Ada", Expires: time.Now().AddDate(1, 0, 0), Data: map[string]any{"email": "a@b"},
		Files: []client.NewFile{{Filename: "a.txt", MimeType: "text/plain", FormField: "f", Content: []byte("text")}, {Filename: "empty", MimeType: "text/plain", FormField: "g"}},
	})
	check(t, err)
	got, err := c.Forms.Get(ctx, s.ID, "https://x/{SUBMISSION_ID}/{FILE_ID}")
	if err != nil || got.Label != "Ada" || len(got.FileURLs) != 2 || got.Expires.IsZero() || got.Created.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
	if v, err := c.Forms.Property(ctx, s.ID, "data[email]"); err != nil || string(v) != `"a@b"` {
		t.Errorf("%s, %v", v, err)
	}
	f, err := c.Forms.OpenFile(ctx, s.ID, s.Files[0].ID)
	check(t, err)
	if text, err := io.ReadAll(f); err != nil || string(text) != "text" || f.Name != "a.txt" || f.Size != 4 {
		t.Errorf("%q, %v, %+v", text, err, f)
	}
	check(t, f.Close())
	table, err := c.Forms.Export(ctx, client.SubmissionFilter{FormName: "live"}, "csv")
	check(t, err)
	if text, err := io.ReadAll(table); err != nil || !strings.Contains(string(text), "a@b") {
		t.Errorf("%q, %v", text, err)
	}
	check(t, table.Close())
	for range 120 { // more than a page
		_, err := c.Forms.Submit(ctx, client.NewSubmission{FormName: "many", Instance: "site", Locale: "en", Data: map[string]any{}})
		check(t, err)
	}
	n := 0
	for _, err := range c.Forms.List(ctx, client.SubmissionFilter{FormName: "many", Since: time.Now().Add(-time.Hour)}) {
		check(t, err)
		n++
	}
	claim, err := c.Forms.Claim(ctx, s.ID)
	if err != nil || n != 120 {
		t.Fatalf("%d submissions, %v", n, err)
	}
	check(t, c.Forms.Fail(ctx, s.ID, claim.ProcessID))
	check(t, c.Forms.Delete(ctx, s.ID))
	if readers, err := c.Forms.Readers(ctx, s.ID); err != nil || len(readers) == 0 || readers[0].At.IsZero() {
		t.Errorf("%+v, %v", readers, err)
	}
	code, err := c.Forms.NewCode(ctx, "a@b")
	check(t, err)
	if err := c.Forms.CheckCode(ctx, "a@b", "wrong"); client.Status(err) != http.StatusBadRequest {
		t.Errorf("a wrong code: %v", err)
	}
	check(t, c.Forms.CheckCode(ctx, "a@b", code))
}

func TestWebhooksAreManaged(t *testing.T) {
	c, ctx := connected(t), t.Context()
	calls := make(chan *webhook.Event, 100)
	secrets := make(chan string, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secret := <-secrets
		secrets <- secret
		e, err := (&webhook.Verifier{Secrets: func(string) []string { return []string{secret} }}).Verify(r)
		if err != nil {
			t.Error(err)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		calls <- e
	}))
	defer receiver.Close()
	id, secret, err := c.Webhooks.Subscribe(ctx, client.Subscription{EndpointURL: receiver.URL, Events: []string{"content.finalize"}, Description: "live"})
	check(t, err)
	secrets <- secret
	_, err = c.Webhooks.Test(ctx, id, webhook.Ping)
	check(t, err)
	if e := <-calls; e.Type != webhook.Ping {
		t.Errorf("%+v", e)
	}
	_, err = c.Documents("page").Put(ctx, "hooked", map[string]any{"label": "Hooked"})
	check(t, err)
	for e := range calls {
		if e.Type == "content.finalize" && strings.Contains(string(e.Data), "hooked") {
			break
		}
	}
	var last *client.Delivery
	for d, err := range c.Webhooks.Deliveries(ctx, id, "") {
		check(t, err)
		if d.Event == webhook.Ping {
			last = d
		}
	}
	whole, err := c.Webhooks.Delivery(ctx, id, last.ID)
	for err == nil && len(whole.Attempts) == 0 { // it is written down behind the call
		<-time.After(10 * time.Millisecond)
		whole, err = c.Webhooks.Delivery(ctx, id, last.ID)
	}
	if err != nil || len(whole.Attempts) == 0 || len(whole.Payload) == 0 || whole.Created.IsZero() {
		t.Errorf("%+v, %v", whole, err)
	}
	rate := 5
	s, err := c.Webhooks.Update(ctx, id, client.SubscriptionChange{Rate: &rate})
	if err != nil || s.Rate != 5 || s.Description != "live" {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err = c.Webhooks.Pause(ctx, id); err != nil || s.Status != "paused" {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err = c.Webhooks.Resume(ctx, id); err != nil || s.Status != "active" {
		t.Errorf("%+v, %v", s, err)
	}
	if n, err := c.Webhooks.ReplaySince(ctx, id, time.Now().Add(-time.Hour)); err != nil || n == 0 {
		t.Errorf("%d calls again, %v", n, err)
	}
	if other, err := c.Webhooks.RotateSecret(ctx, id); err != nil || other == secret {
		t.Errorf("%q, %v", other, err)
	}
	if all, err := c.Webhooks.List(ctx); err != nil || !slices.ContainsFunc(all, func(s *client.SubscriptionState) bool { return s.ID == id && !s.OldSecretUntil.IsZero() }) {
		t.Errorf("%+v, %v", all, err)
	}
	check(t, c.Webhooks.Unsubscribe(ctx, id))
	if events, err := c.Webhooks.Events(ctx); err != nil || len(events) < 5 {
		t.Errorf("%+v, %v", events, err)
	}
}

func TestIndexesAndConfiguration(t *testing.T) {
	c, ctx := connected(t), t.Context()
	names, err := c.Documents("page").Names(ctx)
	if err != nil || names.Alias != "quoin_preview" || names.Environment != "preview" {
		t.Fatalf("%+v, %v", names, err)
	}
	indexes, err := c.Search.Indexes(ctx, names.Alias)
	if err != nil || len(indexes) != 1 {
		t.Fatalf("%v, %v", indexes, err)
	}
	if aliases, err := c.Search.Aliases(ctx, indexes[0]); err != nil || !slices.Contains(aliases, names.Alias) {
		t.Errorf("%v, %v", aliases, err)
	}
	if there, err := c.Search.HasIndex(ctx, "quoin_nothing"); err != nil || there {
		t.Errorf("%v, %v", there, err)
	}
	check(t, c.Search.Refresh(ctx, ""))
	if health, err := c.Search.Health(ctx); err != nil || health == "" {
		t.Errorf("%v, %v", health, err)
	}
	tokens, err := c.Search.Analyze(ctx, "", "Cornerstones", client.Analysis{Analyzer: "english"})
	if err != nil || len(tokens) != 1 || tokens[0].End != 12 {
		t.Errorf("%+v, %v", tokens, err)
	}
	if words, err := c.Search.WithoutStopWords(ctx, names.Alias, "english", []string{"the", "stone"}); err != nil || !slices.Equal(words, []string{"stone"}) {
		t.Errorf("%v, %v", words, err)
	}
	if schema, err := c.Documents("page").Schema(ctx); err != nil || !strings.Contains(string(schema), `"label"`) {
		t.Errorf("%s, %v", schema, err)
	}
	if kinds, err := c.Config.Kinds(ctx); err != nil || !slices.Contains(kinds, "content-type") {
		t.Errorf("%v, %v", kinds, err)
	}
	export, err := c.Config.Get(ctx, "content-type", "page")
	check(t, err)
	if id, err := c.Config.Put(ctx, "content-type", "page", export); err != nil || id == "" {
		t.Errorf("%q, %v", id, err)
	}
	if versions, err := c.Config.Versions(ctx); err != nil || versions["quoin"] == "" {
		t.Errorf("%v, %v", versions, err)
	}
	if schedules, err := c.Jobs.Schedules(ctx); err != nil || len(schedules) != 0 {
		t.Errorf("%v, %v", schedules, err)
	}
	if err := all(c.Audit(ctx, client.AuditFilter{})); client.Status(err) != http.StatusForbidden && err != nil {
		t.Errorf("%v", err)
	}
	if _, err := c.Search.Find(ctx, client.Query{Query: json.RawMessage(`{"mach_all":{}}`)}); client.Status(err) != http.StatusBadRequest {
		t.Errorf("a clause that is not there: %v", err)
	}
	if doc, err := c.OpenAPI(ctx); err != nil || len(doc) < 1000 {
		t.Errorf("%d bytes, %v", len(doc), err)
	}
}
