package search

import (
	"context"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/search"
)

// Through puts something between the content store and the indexer, such as a
// fault. It must be called before start.
func (ix *Indexer) Through(wrap func(port.Documents) port.Documents) { ix.docs = wrap(ix.docs) }

// ThroughTypes puts something between the configuration and the indexer.
func (ix *Indexer) ThroughTypes(wrap func(port.ContentTypes) port.ContentTypes) {
	ix.types = wrap(ix.types)
}

// Reconfigured tells that the configuration has changed.
func (ix *Indexer) Reconfigured() { ix.configChanged() }

// Rebuild builds every index anew.
func (ix *Indexer) Rebuild(ctx context.Context) error {
	ix.mu.Lock()
	for _, p := range ix.places {
		p.pending = true
	}
	ix.mu.Unlock()
	return ix.RefreshAll(ctx)
}

// Renew asks for a new index and leaves it at that.
func (ix *Indexer) Renew(ctx context.Context, environment string) (string, error) {
	return ix.names.Renew(ctx, environment)
}

// Damage takes an index away from the engine, as somebody with access to a
// search server can.
func (ix *Indexer) Damage(ctx context.Context, index string) error { return ix.engine.Drop(ctx, index) }

// Queue is the queue of the indexer, for tests of its own.
type Queue struct{ *queue }

// NewQueue makes an empty queue.
func NewQueue() Queue { return Queue{newQueue()} }

// Mark adds keys.
func (q Queue) Mark(keys ...port.Key) { q.mark(keys...) }

// Take gives the oldest keys.
func (q Queue) Take(n int) []port.Key { return q.take(n) }

// Done tells that what was taken is applied.
func (q Queue) Done() { q.done() }

// Target gives the mark to wait for.
func (q Queue) Target(keys ...port.Key) uint64 { return q.target(keys...) }

// Wait waits for a mark.
func (q Queue) Wait(ctx context.Context, mark uint64) error { return q.wait(ctx, mark) }

// Pending counts what is not applied.
func (q Queue) Pending() int { return q.pending() }

// ParseDocument reads the body of POST document as the endpoint does.
func ParseDocument(raw []byte) (index, ouuid string, includes []string, err error) {
	p := parse(raw)
	index, ouuid, includes = p.name("index"), p.name("ouuid"), p.list("source-includes", "sources-includes")
	return index, ouuid, includes, p.err
}

// ParseSearch reads the body of POST search.
func ParseSearch(raw []byte) ([]byte, error) { return searchText(raw) }

// Settings makes index settings and tells what it left out.
func Settings(types []port.ContentType, analyzers, filters map[string][]byte) (search.Settings, []string) {
	return settingsOf(configuration{types, analyzers, filters})
}

// Defaults are the defaults of the configuration.
func Defaults() *Config { return defaults() }

// Scrolls are open scrolls, for tests of their own.
type Scrolls struct{ *scrolls }

// NewScrolls makes an empty set with a clock.
func NewScrolls(cfg *Config, now func() time.Time) Scrolls {
	s := newScrolls(cfg)
	s.now = now
	return Scrolls{s}
}

// Add opens a scroll and gives its id.
func (s Scrolls) Add(user int64, c search.Cursor, keep time.Duration) (string, error) {
	sc, err := s.add(user, c, keep)
	if err != nil {
		return "", err
	}
	return sc.id, nil
}

// Find looks a scroll up.
func (s Scrolls) Find(user int64, id string, keep time.Duration) error {
	_, err := s.find(user, id, keep)
	return err
}

// Sweep forgets what has expired.
func (s Scrolls) Sweep() { s.sweep() }

// Len counts the open ones.
func (s Scrolls) Len() int { return len(s.open) }

// Sweep forgets what has expired and detaches the rest from old indexes.
func (ix *Indexer) Sweep() { ix.scrolls.sweep() }

// AnalyzeBody does what POST analyze does for a body, without an index: only
// tokenizers and filters that are built in, else the tokens of no text.
func AnalyzeBody(raw []byte) (text string, answer []byte, err error) {
	p := parse(raw)
	text = p.textOf("text", maxAnalyzed)
	a := p.parameters()
	if p.err != nil {
		return "", nil, p.err
	}
	if err := checkSize(search.Settings{}, a, text); err != nil {
		return "", nil, err
	}
	var tokens []search.Token
	if a.Chain != nil {
		if tokens, err = a.Chain.analyze(search.Settings{}, text); err != nil {
			return "", nil, err
		}
	}
	return text, appendTokens(nil, text, tokens), nil
}

// Keep reads how long a scroll is to be kept.
func Keep(cfg *Config, text string) (time.Duration, error) { return (&Service{cfg: cfg}).keep(text) }

// ScrollIDs make ids that hold a scroll, for tests of their own.
type ScrollIDs struct{ *scrollIDs }

// NewScrollIDs makes ids with a clock.
func NewScrollIDs(cfg *Config, instance string, now func() time.Time) ScrollIDs {
	s := newScrollIDs(cfg, instance)
	s.now = now
	return ScrollIDs{s}
}

// Pack gives the id of a scroll that stands still.
func (s ScrollIDs) Pack(t testing.TB, user int64, keep time.Duration) string {
	t.Helper()
	id, err := s.pack(heldScroll{User: user, Search: "{}"}, stays{}, keep)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

type stays struct{ search.Cursor }

func (stays) Place() ([]byte, error) { return []byte(`{}`), nil }

// Unpack reads an id.
func (s ScrollIDs) Unpack(id string, user int64) error {
	_, err := s.unpack(id, user)
	return err
}

// Warm counts the cursors at hand.
func (s ScrollIDs) Warm() int { return len(s.atUse.at) }

// Leads tells whether this process makes and fills indexes on a search server.
func (ix *Indexer) Leads() bool { return ix.leading.Load() }
