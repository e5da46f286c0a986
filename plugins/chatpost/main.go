// Command chatpost is a plugin of Quoin that writes a line into a chat when
// something happens: events become calls of incoming webhooks that take
// {"text":…}, as those of Slack and Mattermost do.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/quoin-cms/quoin/sdk/plugin"
)

type settings struct {
	Channels []channel `json:"channels" doc:"where to write"`
}

type channel struct {
	URL    string   `json:"url" doc:"incoming webhook of the chat"`
	Events []string `json:"events" doc:"types, or prefixes that end in *"`
	Text   string   `json:"text,omitempty" doc:"the line, with {type}, {subject} and {actor}"`
}

type poster struct {
	settings atomic.Pointer[settings]
	http     *http.Client
}

func main() { build().Serve() }

func build() *plugin.Plugin {
	post := &poster{http: &http.Client{Timeout: 10 * time.Second}}
	post.settings.Store(&settings{})
	p := plugin.New("chatpost", "0.1.0").About("Writes into a chat when something happens.")
	plugin.Config(p, post.configure)
	p.OnEvent("*", post.event)
	return p
}

func (p *poster) configure(_ *plugin.Call, s settings) error {
	for i, c := range s.Channels {
		u, err := url.Parse(c.URL)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return plugin.Field(fmt.Sprintf("channels[%d].url", i), "must be an address that begins with https://")
		}
		if len(c.Events) == 0 {
			return plugin.Field(fmt.Sprintf("channels[%d].events", i), "names no event")
		}
	}
	p.settings.Store(&s)
	return nil
}

func (p *poster) event(c *plugin.Call, e plugin.Event) error {
	for _, ch := range p.settings.Load().Channels {
		if !wants(ch.Events, e.Type) {
			continue
		}
		if err := p.post(c, ch, e); err != nil {
			return err
		}
	}
	return nil
}

func wants(patterns []string, name string) bool {
	for _, p := range patterns {
		prefix, open := strings.CutSuffix(p, "*")
		if p == name || open && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func (p *poster) post(c *plugin.Call, ch channel, e plugin.Event) error {
	text := ch.Text
	if text == "" {
		text = "{subject}: {type} by {actor}"
	}
	text = strings.NewReplacer("{type}", e.Type, "{subject}", e.Subject, "{actor}", e.Actor).Replace(text)
	body, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(c, http.MethodPost, ch.URL, bytes.NewReader(body))
	if err != nil {
		return plugin.Permanent(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := p.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // to use the connection again
	failed := fmt.Errorf("the chat answers %d", res.StatusCode)
	switch {
	case res.StatusCode < 300:
		return nil
	case res.StatusCode == http.StatusTooManyRequests:
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		return plugin.RetryAfter(failed, time.Duration(max(seconds, 1))*time.Second)
	case res.StatusCode < 500:
		return plugin.Permanent(failed)
	}
	return failed
}
