package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/sdk/client"
)

// From a password to the first document.
func Example() {
	ctx := context.Background()
	c, err := client.New(address)
	if err != nil {
		fmt.Println(err)
		return
	}
	token, err := c.Users.SignIn(ctx, "admin", password)
	if err != nil {
		fmt.Println(err)
		return
	}
	c = c.WithToken(token)

	pages := c.Documents("page")
	w, err := pages.Put(ctx, "welcome", map[string]any{"label": "Welcome"}, client.Refresh())
	if err != nil {
		fmt.Println(err)
		return
	}
	page, err := pages.Get(ctx, w.OUUID)
	if err != nil {
		fmt.Println(err)
		return
	}
	var fields struct{ Label string }
	if err := page.Decode(&fields); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(page.OUUID, fields.Label)
	// Output: welcome Welcome
}

// What the server refuses is an *Error.
func ExampleError() {
	ctx := context.Background()
	c, _ := client.New(address, client.WithToken(token))
	pages := c.Documents("page")

	_, err := pages.Get(ctx, "nowhere")
	fmt.Println(client.Status(err) == http.StatusNotFound)

	// Data that breaks the content type is kept in a draft.
	w, err := pages.Index(ctx, map[string]any{"label": 42})
	var refused *client.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Status, refused.Messages[0])
		_, err = pages.Discard(ctx, w.Revision)
		fmt.Println(err)
	}
	// Output:
	// true
	// 200 label: must be a string, not number
	// <nil>
}

// A write that is refused when somebody else was quicker.
func ExampleIfMatch() {
	ctx := context.Background()
	c, _ := client.New(address, client.WithToken(token))
	pages := c.Documents("page")
	_, _ = pages.Put(ctx, "match", map[string]any{"label": "One"})

	page, _ := pages.Get(ctx, "match")
	_, err := pages.Update(ctx, "match", map[string]any{"label": "Two"}, client.IfMatch(page.ETag))
	fmt.Println(err)
	_, err = pages.Update(ctx, "match", map[string]any{"label": "Three"}, client.IfMatch(page.ETag))
	fmt.Println(client.Status(err))
	// Output:
	// <nil>
	// 412
}

// Many writes with one call. Neither side holds all of them.
func ExampleDocuments_Bulk() {
	ctx := context.Background()
	c, _ := client.New(address, client.WithToken(token))
	lines := func(yield func(client.BulkLine) bool) {
		for i := range 3 {
			data := fmt.Appendf(nil, `{"label":"Page %d"}`, i)
			if !yield(client.BulkLine{OUUID: fmt.Sprintf("bulk-%d", i), Data: data}) {
				return
			}
		}
		yield(client.BulkLine{Op: "delete", OUUID: "nowhere"})
	}
	for result, err := range c.Documents("page").Bulk(ctx, lines) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(result.OUUID, result.Status)
	}
	// Output:
	// bulk-0 200
	// bulk-1 200
	// bulk-2 200
	// nowhere 404
}

// The query is that of Elasticsearch.
func ExampleSearch_Find() {
	ctx := context.Background()
	c, _ := client.New(address, client.WithToken(token))
	_, _ = c.Documents("page").Put(ctx, "found", map[string]any{"label": "Cornerstone"}, client.Refresh())

	found, err := c.Search.Find(ctx, client.Query{
		ContentTypes: []string{"page"},
		Query:        json.RawMessage(`{"match":{"label":"cornerstone"}}`),
		Sources:      []string{"label"},
		Size:         client.Size(5),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(found.Total)
	for _, hit := range found.Hits {
		var page struct{ Label string }
		_ = hit.Decode(&page)
		fmt.Println(hit.ID, page.Label)
	}
	// Output:
	// 1
	// found Cornerstone
}

// Everything that a search finds, however much it is.
func ExampleSearch_Scroll() {
	ctx := context.Background()
	c, _ := client.New(address, client.WithToken(token))
	for i := range 5 {
		_, _ = c.Documents("page").Put(ctx, fmt.Sprintf("scroll-%d", i), map[string]any{"label": "scrolled"}, client.Refresh())
	}
	n := 0
	for hit, err := range c.Search.Scroll(ctx, client.Query{Query: json.RawMessage(`{"match":{"label":"scrolled"}}`), Size: client.Size(2)}, 0) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if strings.HasPrefix(hit.ID, "scroll-") {
			n++
		}
	}
	fmt.Println(n)
	// Output: 5
}

// A file goes up in chunks and on where it broke off, and comes down as a
// stream. A document names it by its hash.
func ExampleFiles_Upload() {
	ctx := context.Background()
	c, _ := client.New(address, client.WithToken(token))
	sent, err := c.Files.Upload(ctx, strings.NewReader("Hello, file"), client.Upload{Name: "hello.txt", Type: "text/plain"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sent.Hash)

	file, err := c.Files.Open(ctx, sent.Hash, client.Part{From: 7})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(file)
	fmt.Printf("%s, of %d bytes, %v\n", text, file.Size, err)
	// Output:
	// ec868c258b3523792ecb59baf5706f384bed08b6
	// file, of 11 bytes, <nil>
}

// A whole worker. It ends with its context; here after the first job.
func ExampleJobs_Work() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c, _ := client.New(address, client.WithToken(token))
	id, _ := c.Jobs.Create(ctx, client.NewJob{Command: "greet Ada", Tag: "example"})

	_ = c.Jobs.Work(ctx, "example", func(_ context.Context, job *client.Claim, output io.Writer) error {
		defer cancel()
		_, err := fmt.Fprintf(output, "working on %q\n", job.Command)
		return err
	})
	job, err := c.Jobs.Get(context.Background(), id)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %s", job.State, job.Output)
	// Output: done: working on "greet Ada"
}

// What a visitor sent, with a file, and who processes it.
func ExampleForms_Submit() {
	ctx := context.Background()
	c, _ := client.New(address, client.WithToken(token))
	_, err := c.Forms.Submit(ctx, client.NewSubmission{
		FormName: "contact", Instance: "site", Locale: "en",
		Data:  map[string]string{"email": "ada@example.org"},
		Files: []client.NewFile{{Filename: "cv.txt", MimeType: "text/plain", FormField: "cv", Content: []byte("Countess")}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := c.Forms.ClaimNext(ctx, "contact")
	if err != nil || s == nil {
		fmt.Println("nothing to do", err)
		return
	}
	fmt.Println(s.Files[0].Filename, s.Files[0].Size)
	fmt.Println(c.Forms.Complete(ctx, s.ID, s.ProcessID, false))
	// Output:
	// cv.txt 8
	// <nil>
}

// A subscription. Its receiver checks the calls with package sdk/webhook.
func ExampleWebhooks_Subscribe() {
	ctx := context.Background()
	c, _ := client.New(address, client.WithToken(token))
	id, secret, err := c.Webhooks.Subscribe(ctx, client.Subscription{
		EndpointURL: "https://example.org/hook", Events: []string{"content.published.live", "content.delete"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, _ := c.Webhooks.Pause(ctx, id)
	fmt.Println(strings.HasPrefix(secret, "whsec_"), s.Status, s.Events)
	fmt.Println(c.Webhooks.Unsubscribe(ctx, id))
	// Output:
	// true paused [content.delete content.published.live]
	// <nil>
}

// The configuration of a server, in its export form.
func ExampleConfig() {
	ctx := context.Background()
	c, _ := client.New(address, client.WithToken(token))
	environments, err := c.Config.Environments(ctx, client.EnvironmentFilter{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range environments {
		fmt.Println(e.Name)
	}
	export, err := c.Config.Get(ctx, "environment", "live")
	var parts map[string]json.RawMessage
	err = errors.Join(err, json.NewDecoder(bytes.NewReader(export)).Decode(&parts))
	fmt.Println(slices.Sorted(maps.Keys(parts)), err)
	// Output:
	// preview
	// live
	// [arguments class properties replaced] <nil>
}
