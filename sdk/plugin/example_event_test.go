package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/quoin-cms/quoin/sdk/plugin"
)

type purgeSettings struct {
	URL   string `json:"url" doc:"where the cache is told"`
	Token string `json:"token,omitempty" doc:"what it is told with" secret:"true"`
}

// purge is a whole plugin: it tells a cache what was published. An event comes
// at least once, and again later when the cache cannot be reached.
func purge(client *http.Client) *plugin.Plugin {
	var now atomic.Pointer[purgeSettings]
	p := plugin.New("purge", "1.0.0").About("Tells a cache what was published.")
	plugin.Config(p, func(_ *plugin.Call, s purgeSettings) error {
		if s.URL == "" {
			return plugin.Field("url", "is empty")
		}
		now.Store(&s)
		return nil
	})
	p.OnEvent("content.published.*", func(c *plugin.Call, e plugin.Event) error {
		return tell(c, client, now.Load(), e.Subject)
	})
	return p
}

func tell(ctx context.Context, client *http.Client, s *purgeSettings, subject string) error {
	req, err := http.NewRequestWithContext(ctx, "PURGE", s.URL+"/"+subject, http.NoBody)
	if err != nil {
		return plugin.Permanent(err) // no further attempt can help
	}
	req.Header.Set("Authorization", "Bearer "+s.Token)
	resp, err := client.Do(req)
	if err != nil {
		return err // again a little later
	}
	defer func() { _ = resp.Body.Close() }()
	switch resp.StatusCode {
	case http.StatusOK, http.StatusNotFound:
		return nil
	case http.StatusTooManyRequests:
		return plugin.RetryAfter(errors.New("the cache is busy"), time.Minute)
	}
	return fmt.Errorf("the cache says %s", resp.Status)
}

// A handler of events with settings.
func Example_event() {
	purge(&http.Client{Timeout: 10 * time.Second}).Serve()
}
