package mcp

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/work"
)

// changes tells agents of documents and lists that have changed. It takes in
// what happens at once and tells it a moment later, each thing once.
type changes struct {
	service *Service
	wake    chan struct{}

	mu   sync.Mutex
	here news // happened in this process: the others have to be told
	away news // happened elsewhere
}

// news is what has changed: topics (address.go), and whether tools or resources
// were added or removed.
type news struct {
	topics map[string]bool
	lists  bool
}

func (n *news) add(topics ...string) {
	if n.topics == nil {
		n.topics = map[string]bool{}
	}
	for _, t := range topics {
		if len(n.topics) >= maxGathered {
			t = everything
		}
		n.topics[t] = true
	}
}

const (
	// gather is how long changes are collected before they are told.
	gather = 50 * time.Millisecond
	// maxGathered is how many topics are remembered; beyond, all have changed.
	maxGathered = 1000
)

// live is what the bus tells after commits.
func (c *changes) live() event.Live {
	return event.Live{Name: "mcp", Patterns: []string{"content.*", "content.published.*", "config.saved", "config.deleted"}, Deliver: c.deliver}
}

func (c *changes) deliver(events []event.Event) {
	c.take(&c.here, func(n *news) {
		for i := range events {
			n.happened(&events[i])
		}
	})
}

// happened takes in an event of documents or of the configuration.
func (n *news) happened(e *event.Event) {
	if strings.HasPrefix(e.Type, "config.") {
		n.lists = true
		n.add(settings)
		return
	}
	contentType, ouuid, ok := strings.Cut(e.Subject, ":")
	if !ok {
		return
	}
	d := documentAddress(contentType, ouuid)
	n.add(d.String())
	if e.Type == "content.delete" { // it left all environments
		n.add(d.everywhere())
		return
	}
	if v, ok := rawjson.Get(e.Data, "environment"); ok {
		if name, ok := rawjson.String(v); ok {
			d.kind, d.environment = aPublished, name
			n.add(d.String())
		}
	}
}

// toolsChanged implements what port.ToolSource calls.
func (c *changes) toolsChanged() { c.take(&c.here, func(n *news) { n.lists = true }) }

// resourceChanged implements what port.ResourceSource calls.
func (c *changes) resourceChanged(uri string) {
	if uri == "" {
		c.toolsChanged()
		return
	}
	c.take(&c.here, func(n *news) { n.add(canonical(uri)) })
}

// told takes in what another process told, or that it cannot be known what was
// missed.
func (c *changes) told(lists bool, topics ...string) {
	c.take(&c.away, func(n *news) {
		n.lists = n.lists || lists
		n.add(topics...)
	})
}

func (c *changes) take(to *news, what func(*news)) {
	c.mu.Lock()
	what(to)
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// run tells what was taken in, until ctx ends.
func (c *changes) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		}
		work.Pause(ctx, gather)
		c.mu.Lock()
		here, away := c.here, c.away
		c.here, c.away = news{}, news{}
		c.mu.Unlock()
		c.tellOthers(&here)
		if here.lists || away.lists {
			c.service.touchLists(c.service.sdk)
		}
		c.updated(here.topics, away.topics)
	}
}

// updated tells the agents of this process that listen.
func (c *changes) updated(here, away map[string]bool) {
	if len(here)+len(away) == 0 {
		return
	}
	for _, uri := range c.service.followed() {
		if slices.ContainsFunc(topics(uri), func(t string) bool { return here[t] || away[t] }) {
			// It never fails. Who may hear it is decided in mayHear.
			_ = c.service.sdk.ResourceUpdated(c.service.life, &sdk.ResourceUpdatedNotificationParams{URI: uri})
		}
	}
}

// tellOthers tells the other processes, in pieces that fit a notification.
func (c *changes) tellOthers(n *news) {
	const fits = 7000
	if n.lists {
		c.service.tell(tellTools, "")
	}
	if n.topics[everything] {
		c.service.tell(tellChanged, everything)
		return
	}
	var piece []string
	size := 0
	flush := func() {
		if len(piece) > 0 {
			c.service.tell(tellChanged, strings.Join(piece, "\n"))
		}
		piece, size = nil, 0
	}
	for _, t := range slices.Sorted(maps.Keys(n.topics)) {
		if len(t) > longestURI+1 || strings.Contains(t, "\n") {
			continue // no client can have asked for it
		}
		if size+len(t) > fits {
			flush()
		}
		piece = append(piece, t)
		size += len(t) + 1
	}
	flush()
}

// touchLists makes the SDK tell that the lists have changed, which it does when
// a tool or a resource of its own is added, even again.
func (s *Service) touchLists(server *sdk.Server) {
	server.AddTool(&sdk.Tool{Name: hidden, InputSchema: map[string]any{"type": "object"}}, s.callChosen)
	server.AddResource(&sdk.Resource{URI: hiddenURI, Name: hidden}, s.readAny)
}

// What stands for all tools of other modules and for all resources; neither is
// listed.
const (
	hidden    = "quoin_hidden"
	hiddenURI = "quoin:hidden"
)
