package mcp

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quoin-cms/quoin/core/event"
)

// changes tells agents of documents and lists that have changed. It takes in
// what happens at once and tells it a moment later, each thing once.
type changes struct {
	service *Service
	wake    chan struct{}

	mu     sync.Mutex
	uris   map[string]bool // changed here
	lists  bool            // tools or resources were added or removed
	toTell bool            // and other processes do not know of the lists yet
}

const (
	// gather is how long changes are collected before they are told.
	gather = 50 * time.Millisecond
	// maxGathered is how many addresses are remembered; beyond, all have changed.
	maxGathered = 1000
	// everything stands for all addresses.
	everything = "*"
)

// live is what the bus tells after commits.
func (c *changes) live() event.Live {
	return event.Live{Name: "mcp", Patterns: []string{"content.*", "content.published.*", "config.saved", "config.deleted"}, Deliver: c.deliver}
}

func (c *changes) deliver(events []event.Event) {
	for _, e := range events {
		if strings.HasPrefix(e.Type, "config.") {
			c.toolsChanged()
			continue
		}
		contentType, ouuid, ok := strings.Cut(e.Subject, ":")
		if !ok {
			continue
		}
		c.resourceChanged(documentURI(contentType, ouuid))
		if env, is := strings.CutPrefix(e.Type, "content.published."); is {
			c.resourceChanged(publishedURI(env, contentType, ouuid))
		}
	}
}

// toolsChanged implements what port.ToolSource calls.
func (c *changes) toolsChanged() {
	c.mu.Lock()
	c.lists, c.toTell = true, true
	c.mu.Unlock()
	c.signal()
}

// resourceChanged implements what port.ResourceSource calls.
func (c *changes) resourceChanged(uri string) {
	if uri == "" {
		c.toolsChanged()
		return
	}
	c.mu.Lock()
	if len(c.uris) < maxGathered {
		c.uris[uri] = true
	} else {
		c.uris[everything] = true
	}
	c.mu.Unlock()
	c.signal()
}

func (c *changes) signal() {
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
		wait(ctx, gather)
		c.mu.Lock()
		uris, lists, toTell := c.uris, c.lists, c.toTell
		c.uris, c.lists, c.toTell = map[string]bool{}, false, false
		c.mu.Unlock()
		if len(uris) > 0 {
			list := make([]string, 0, len(uris))
			for u := range uris {
				list = append(list, u)
			}
			slices.Sort(list)
			c.updated(list)
			c.tellOthers(list)
		}
		if lists {
			c.service.touchLists(c.service.sdk)
		}
		if toTell {
			c.service.tell(tellTools, "")
		}
	}
}

// listed is told when another process has other lists.
func (c *changes) listed() {
	c.mu.Lock()
	c.lists = true
	c.mu.Unlock()
	c.signal()
}

// updated tells the agents of this process that listen.
func (c *changes) updated(uris []string) {
	if slices.Contains(uris, everything) {
		uris = c.service.watchedURIs()
	}
	for _, u := range uris {
		_ = c.service.sdk.ResourceUpdated(c.service.life, &sdk.ResourceUpdatedNotificationParams{URI: u}) // never fails
	}
}

// tellOthers tells the other processes, in pieces that fit a notification.
func (c *changes) tellOthers(uris []string) {
	const fits = 7000
	if slices.Contains(uris, everything) {
		c.service.tell(tellChanged, everything)
		return
	}
	var b strings.Builder
	for _, u := range uris {
		if b.Len() > 0 && b.Len()+len(u) > fits {
			c.service.tell(tellChanged, b.String())
			b.Reset()
		}
		if len(u) > fits {
			continue // no client can have asked for it
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(u)
	}
	if b.Len() > 0 {
		c.service.tell(tellChanged, b.String())
	}
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
