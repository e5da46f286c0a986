package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/sdk/client"
)

// answers are those that the schemas of the document do not tell.
func answers() map[string][]string {
	upload := `{"success":true,"available":%v,"uploaded":%d}`
	claim := `{"success":true,"job_id":"7","command":"x","output":null}`
	return map[string][]string{
		"job-next":           {claim},
		"job-commands":       {`[]`},
		"job-output":         {`{"output":"x","next":1,"done":true}`},
		"job-output events":  {"event: output\nid: 2\ndata: \"y\"\n\nevent: end\ndata: {\"next\":2,\"state\":\"done\"}\n\n"},
		"file-heads":         {`[true]`},
		"file-init-upload":   {fmt.Sprintf(upload, false, 0)},
		"file-chunk":         {fmt.Sprintf(upload, true, 4)},
		"file-hash-algo":     {`{"hash_algo":"sha1"}`},
		"data-bulk":          {`{"line":1,"success":true}`},
		"search-init-scroll": {`{"_scroll_id":"s","hits":{"hits":[{"_id":"x"}]}}`},
		"search-next-scroll": {`{"_scroll_id":"s","hits":{"hits":[]}}`},
		"form-list":          {`{"submissions":[{"id":"x"}],"next":9}`, `{"submissions":[],"next":null}`},
		"audit":              {`{"entries":[{"id":8}],"before":8}`, `{"entries":[],"before":0}`},
		"webhook-deliveries": {"[" + strings.Repeat(`{"id":"5"},`, 99) + `{"id":"4"}]`, `[]`},
		"data-revisions":     {"[" + strings.Repeat(`{"number":5},`, 999) + `{"number":4}]`, `[]`},
	}
}

// end gives the error of a call without its answer.
func end[T any](_ T, err error) error { return err }

// all goes through everything.
func all[T any](seq iter.Seq2[T, error]) error {
	for _, err := range seq {
		if err != nil {
			return err
		}
	}
	return nil
}

// shut closes a stream.
func shut[T io.Closer](c T, err error) error {
	if err == nil {
		err = c.Close()
	}
	return err
}

// everyCall calls every method of the client with all that it can say.
func everyCall(ctx context.Context, c *client.Client) map[string]func() error {
	table := map[string]func() error{
		"Client.Drafts": func() error {
			return end(c.Drafts(ctx, client.DraftFilter{Circles: []string{"a"}, Data: true, Limit: 3}))
		},
		"Client.Published": func() error { return end(c.Published(ctx, []string{"page:1"}, []string{"live"})) },
		"Client.OpenAPI":   func() error { return end(c.OpenAPI(ctx)) },
		"Client.Audit": func() error {
			return all(c.Audit(ctx, client.AuditFilter{Actor: "a", Type: "t*", Subject: "s", Since: time.Now(), Until: time.Now()}))
		},
		"Users.SignIn":      func() error { return end(c.Users.SignIn(ctx, "a", "b")) },
		"Users.Test":        func() error { return c.Users.Test(ctx) },
		"Users.Profile":     func() error { return end(c.Users.Profile(ctx)) },
		"Users.Profiles":    func() error { return end(c.Users.Profiles(ctx)) },
		"Users.ActAs":       func() error { return end(c.Users.ActAs(ctx, "a", "b")) },
		"Users.Tokens":      func() error { return end(c.Users.Tokens(ctx, "a")) },
		"Users.CreateToken": func() error { return end(c.Users.CreateToken(ctx, "a", time.Hour)) },
		"Users.RevokeToken": func() error { return c.Users.RevokeToken(ctx, "1") },
	}
	for _, more := range []map[string]func() error{
		documentCalls(ctx, c.Documents("page")), searchCalls(ctx, c.Search), fileCalls(ctx, c.Files), formCalls(ctx, c.Forms),
		webhookCalls(ctx, c.Webhooks), jobCalls(ctx, c.Jobs), configCalls(ctx, c.Config),
	} {
		for name, fn := range more {
			table[name] = fn
		}
	}
	return table
}

func documentCalls(ctx context.Context, d *client.Documents) map[string]func() error {
	data, r, m := json.RawMessage(`{}`), client.Refresh(), client.IfMatch("1")
	return map[string]func() error{
		"Documents.Get":             func() error { return end(d.Get(ctx, "1")) },
		"Documents.Exists":          func() error { return end(d.Exists(ctx, "1")) },
		"Documents.Index":           func() error { return end(d.Index(ctx, data, r)) },
		"Documents.Put":             func() error { return end(d.Put(ctx, "1", data, r, m)) },
		"Documents.Update":          func() error { return end(d.Update(ctx, "1", data, r, m)) },
		"Documents.Delete":          func() error { return end(d.Delete(ctx, "1", r, m)) },
		"Documents.Publish":         func() error { return end(d.Publish(ctx, "1", "live", r)) },
		"Documents.PublishRevision": func() error { return end(d.PublishRevision(ctx, "1", "live", 2, r)) },
		"Documents.Unpublish":       func() error { return end(d.Unpublish(ctx, "1", "live", r)) },
		"Documents.Revisions":       func() error { return all(d.Revisions(ctx, "1")) },
		"Documents.Revision":        func() error { return end(d.Revision(ctx, "1", 2)) },
		"Documents.Create":          func() error { return end(d.Create(ctx, data, r)) },
		"Documents.CreateAs":        func() error { return end(d.CreateAs(ctx, "1", data, r)) },
		"Documents.Replace":         func() error { return end(d.Replace(ctx, "1", data, r, m)) },
		"Documents.Merge":           func() error { return end(d.Merge(ctx, "1", data, r, m)) },
		"Documents.Finalize":        func() error { return end(d.Finalize(ctx, 2, r)) },
		"Documents.Discard":         func() error { return end(d.Discard(ctx, 2, r)) },
		"Documents.Restore":         func() error { return end(d.Restore(ctx, "1", 2, r, m)) },
		"Documents.Bulk":            func() error { return all(d.Bulk(ctx, slices.Values([]client.BulkLine{{}}), r)) },
		"Documents.Schema":          func() error { return end(d.Schema(ctx)) },
		"Documents.Names":           func() error { return end(d.Names(ctx)) },
	}
}

func searchCalls(ctx context.Context, s *client.Search) map[string]func() error {
	q := client.Query{More: map[string]json.RawMessage{"min_score": json.RawMessage("1")}}
	return map[string]func() error{
		"Search.Find":             func() error { return end(s.Find(ctx, q)) },
		"Search.Count":            func() error { return end(s.Count(ctx, q)) },
		"Search.Scroll":           func() error { return all(s.Scroll(ctx, q, time.Minute)) },
		"Search.Document":         func() error { return end(s.Document(ctx, client.Lookup{})) },
		"Search.Refresh":          func() error { return s.Refresh(ctx, "i") },
		"Search.Version":          func() error { return end(s.Version(ctx)) },
		"Search.Health":           func() error { return end(s.Health(ctx)) },
		"Search.HasIndex":         func() error { return end(s.HasIndex(ctx, "i")) },
		"Search.Indexes":          func() error { return end(s.Indexes(ctx, "i")) },
		"Search.Aliases":          func() error { return end(s.Aliases(ctx, "i")) },
		"Search.IndexesByType":    func() error { return end(s.IndexesByType(ctx, "i")) },
		"Search.Analyze":          func() error { return end(s.Analyze(ctx, "i", "t", client.Analysis{Analyzer: "a"})) },
		"Search.WithoutStopWords": func() error { return end(s.WithoutStopWords(ctx, "i", "a", []string{"w"})) },
	}
}

func fileCalls(ctx context.Context, f *client.Files) map[string]func() error {
	return map[string]func() error{
		"Files.HashAlgo":    func() error { return end(f.HashAlgo(ctx)) },
		"Files.Exists":      func() error { return end(f.Exists(ctx, "h")) },
		"Files.Heads":       func() error { return end(f.Heads(ctx, []string{"h"})) },
		"Files.Info":        func() error { return end(f.Info(ctx, "h")) },
		"Files.InfoQuickly": func() error { return end(f.InfoQuickly(ctx, "h")) },
		"Files.Open": func() error {
			for _, p := range []client.Part{{}, {Inline: true}, {Public: true}, {Inline: true, Public: true}} {
				p.Name, p.Type = "n", "t"
				if err := shut(f.Open(ctx, "h", p)); err != nil {
					return err
				}
			}
			return nil
		},
		"Files.Hash": func() error { _, _, err := f.Hash(ctx, strings.NewReader("")); return err },
		"Files.Upload": func() error {
			return end(f.Upload(ctx, strings.NewReader("text"), client.Upload{Name: "n", Type: "t"}))
		},
		"Files.UploadForm": func() error {
			return end(f.UploadForm(ctx, strings.NewReader("text"), client.Upload{Name: "n", Type: "t"}))
		},
	}
}

func formCalls(ctx context.Context, f *client.Forms) map[string]func() error {
	filter := client.SubmissionFilter{FormName: "f", Instance: "i", Locale: "l", Since: time.Now(), Until: time.Now(), Processed: "no"}
	return map[string]func() error{
		"Forms.Submit": func() error {
			return end(f.Submit(ctx, client.NewSubmission{Expires: time.Now(), Files: []client.NewFile{{}}}))
		},
		"Forms.Get":       func() error { return end(f.Get(ctx, "1", "https://x/{FILE_ID}")) },
		"Forms.Property":  func() error { return end(f.Property(ctx, "1", "data[x]")) },
		"Forms.OpenFile":  func() error { return shut(f.OpenFile(ctx, "1", "2")) },
		"Forms.NewCode":   func() error { return end(f.NewCode(ctx, "v")) },
		"Forms.Code":      func() error { return end(f.Code(ctx, "v")) },
		"Forms.CheckCode": func() error { return f.CheckCode(ctx, "v", "c") },
		"Forms.List":      func() error { return all(f.List(ctx, filter)) },
		"Forms.Export":    func() error { return shut(f.Export(ctx, filter, "csv")) },
		"Forms.Claim":     func() error { return end(f.Claim(ctx, "1")) },
		"Forms.ClaimNext": func() error { return end(f.ClaimNext(ctx, "f")) },
		"Forms.Complete":  func() error { return f.Complete(ctx, "1", "p", true) },
		"Forms.Fail":      func() error { return f.Fail(ctx, "1", "p") },
		"Forms.Delete":    func() error { return f.Delete(ctx, "1") },
		"Forms.Readers":   func() error { return end(f.Readers(ctx, "1")) },
	}
}

func webhookCalls(ctx context.Context, w *client.Webhooks) map[string]func() error {
	return map[string]func() error{
		"Webhooks.Subscribe":    func() error { _, _, err := w.Subscribe(ctx, client.Subscription{}); return err },
		"Webhooks.Unsubscribe":  func() error { return w.Unsubscribe(ctx, "1") },
		"Webhooks.List":         func() error { return end(w.List(ctx)) },
		"Webhooks.Get":          func() error { return end(w.Get(ctx, "1")) },
		"Webhooks.Update":       func() error { return end(w.Update(ctx, "1", client.SubscriptionChange{})) },
		"Webhooks.Pause":        func() error { return end(w.Pause(ctx, "1")) },
		"Webhooks.Resume":       func() error { return end(w.Resume(ctx, "1")) },
		"Webhooks.RotateSecret": func() error { return end(w.RotateSecret(ctx, "1")) },
		"Webhooks.Test":         func() error { return end(w.Test(ctx, "1", "webhook_ping")) },
		"Webhooks.Deliveries":   func() error { return all(w.Deliveries(ctx, "1", "failed")) },
		"Webhooks.Delivery":     func() error { return end(w.Delivery(ctx, "1", "2")) },
		"Webhooks.Replay":       func() error { return w.Replay(ctx, "1", "2") },
		"Webhooks.ReplaySince":  func() error { return end(w.ReplaySince(ctx, "1", time.Now())) },
		"Webhooks.ReplayAfter":  func() error { return end(w.ReplayAfter(ctx, "1", 2)) },
		"Webhooks.Events":       func() error { return end(w.Events(ctx)) },
	}
}

func jobCalls(ctx context.Context, j *client.Jobs) map[string]func() error {
	onClaim := func(fn func(*client.Claim) error) func() error {
		return func() error {
			c, err := j.Next(ctx, "tag", time.Second, 10*time.Second)
			if err != nil {
				return err
			}
			return fn(c)
		}
	}
	return map[string]func() error{
		"Jobs.Create":    func() error { return end(j.Create(ctx, client.NewJob{})) },
		"Jobs.Get":       func() error { return end(j.Get(ctx, "1")) },
		"Jobs.List":      func() error { return end(j.List(ctx)) },
		"Jobs.Start":     func() error { return end(j.Start(ctx, "1")) },
		"Jobs.Cancel":    func() error { return end(j.Cancel(ctx, "1")) },
		"Jobs.Retry":     func() error { return end(j.Retry(ctx, "1")) },
		"Jobs.Delete":    func() error { return j.Delete(ctx, "1") },
		"Jobs.Output":    func() error { return end(j.Output(ctx, "1", 2)) },
		"Jobs.Follow":    func() error { return all(j.Follow(ctx, "1", 1)) },
		"Jobs.Schedules": func() error { return end(j.Schedules(ctx)) },
		"Jobs.Commands":  func() error { return end(j.Commands(ctx)) },
		"Jobs.Next":      onClaim(func(*client.Claim) error { return nil }),
		"Jobs.Take":      func() error { return end(j.Take(ctx, "tag", "1", time.Second)) },
		"Jobs.Work": func() error {
			ctx, cancel := context.WithCancel(ctx)
			err := j.Work(ctx, "tag", func(context.Context, *client.Claim, io.Writer) error { cancel(); return nil })
			if errors.Is(err, context.Canceled) {
				err = nil
			}
			return err
		},
		"Claim.Print":     onClaim(func(c *client.Claim) error { return end(c.Print(ctx, "x")) }),
		"Claim.Heartbeat": onClaim(func(c *client.Claim) error { return end(c.Heartbeat(ctx)) }),
		"Claim.Complete":  onClaim(func(c *client.Claim) error { return c.Complete(ctx) }),
		"Claim.Fail":      onClaim(func(c *client.Claim) error { return c.Fail(ctx, "x", 2) }),
	}
}

func configCalls(ctx context.Context, g *client.Config) map[string]func() error {
	yes, export := true, json.RawMessage(`{}`)
	return map[string]func() error{
		"Config.Kinds":        func() error { return end(g.Kinds(ctx)) },
		"Config.ContentTypes": func() error { return end(g.ContentTypes(ctx)) },
		"Config.List":         func() error { return end(g.List(ctx, "filter")) },
		"Config.Versions":     func() error { return end(g.Versions(ctx)) },
		"Config.Get":          func() error { return end(g.Get(ctx, "filter", "n")) },
		"Config.Put":          func() error { return end(g.Put(ctx, "filter", "n", export)) },
		"Config.Create":       func() error { return end(g.Create(ctx, "filter", export)) },
		"Config.Delete":       func() error { return g.Delete(ctx, "filter", "n") },
		"Config.Environments": func() error { return end(g.Environments(ctx, client.EnvironmentFilter{Managed: &yes, Snapshot: &yes})) },
		"Config.AttachAlias":  func() error { return g.AttachAlias(ctx, "a", "e") },
	}
}
