package typesense

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/typesense/typesense-go/v3/typesense/api"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/search"
)

// catalogAge is how old what a process knows of the catalog may be.
const catalogAge = time.Second

// catalogVersions is how many versions of the catalog are kept. The number of one
// that is gone can be taken again, by a process that was stopped in the middle
// of a change for so many others.
const catalogVersions = 500

// state is the catalog: which indices and aliases there are and what stands
// for them on the server. It is written as a whole, each time as a new document
// with the next version as its id; two processes cannot both create it, so
// nothing is lost and every change is made completely or not at all.
type state struct {
	Version int64               `json:"version"`
	Token   string              `json:"token"` // of the writer, who may not have heard that it has written
	Next    int64               `json:"next"`  // number of the next generation
	Indices map[string]place    `json:"indices"`
	Aliases map[string][]string `json:"aliases"` // sorted names of indices
	Retired map[string]int64    `json:"retired"` // collections to be dropped, with the Unix time of their end
}

// place is what stands for the name of an index.
type place struct {
	Index    string `json:"index"`    // its name in what is answered
	Main     string `json:"main"`     // collection
	Settings string `json:"settings"` // hash of those in force
	Made     string `json:"made"`     // hash of those with which it was created
	Filled   string `json:"filled"`   // hash of those by which it holds every document; empty if it does not
}

// catalog reads and writes the state, which all processes share.
type catalog struct {
	client     *client
	collection string

	mu       sync.Mutex // held while the server is asked
	state    *state     // newest known; never changed
	read     time.Time
	settings map[string]search.Settings // by hash; all that was seen
}

func newCatalog(c *client, prefix string) *catalog {
	return &catalog{client: c, collection: prefix + "_meta", settings: map[string]search.Settings{}}
}

// load gives the state as it was a second ago or later.
func (k *catalog) load(ctx context.Context) (*state, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.state != nil && time.Since(k.read) < catalogAge {
		return k.state, nil
	}
	return k.reload(ctx)
}

// reload asks the server. The caller has locked mu.
func (k *catalog) reload(ctx context.Context) (*state, error) {
	begin := time.Now()
	results, err := k.client.multiSearch(ctx, []entry{{Collection: k.collection, SortBy: fieldOrder + ":desc", IncludeFields: fieldSource, PerPage: 1}})
	if problem.Is(err, problem.NotFound) {
		if err := k.create(ctx); err != nil {
			return nil, err
		}
		results, err = k.client.multiSearch(ctx, []entry{{Collection: k.collection, SortBy: fieldOrder + ":desc", IncludeFields: fieldSource, PerPage: 1}})
	}
	if err != nil {
		return nil, err
	}
	fresh := &state{Indices: map[string]place{}, Aliases: map[string][]string{}, Retired: map[string]int64{}, Next: 1}
	if len(results[0].Hits) > 0 {
		var row struct {
			Source string `json:"_src"`
		}
		err := errors.Join(json.Unmarshal(results[0].Hits[0].Document, &row), json.Unmarshal([]byte(row.Source), fresh))
		if err != nil {
			return nil, problem.Wrap(err, problem.Internal, "the catalog of the search engine cannot be read")
		}
	}
	k.state, k.read = fresh, begin
	return fresh, nil
}

func (k *catalog) create(ctx context.Context) error {
	err := k.client.createCollection(ctx, &api.CollectionSchema{Name: k.collection, Fields: []api.Field{
		field(fieldOrder, "int64", sorted),
		field(fieldSource, "string", stored),
	}})
	if problem.Is(err, problem.Conflict) { // another process was first
		return nil
	}
	return err
}

// change makes the next version with edit, which gets a copy that it may change
// and may be called again.
func (k *catalog) change(ctx context.Context, edit func(*state) error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for range 20 {
		old, err := k.reload(ctx)
		if err != nil {
			return err
		}
		fresh := &state{Version: old.Version + 1, Token: rand.Text(), Next: old.Next, Indices: maps.Clone(old.Indices), Aliases: maps.Clone(old.Aliases), Retired: maps.Clone(old.Retired)}
		if err := edit(fresh); err != nil {
			return err
		}
		won, err := k.put(ctx, fresh)
		if err != nil {
			return err
		}
		if won {
			k.state, k.read = fresh, time.Now()
			k.tidy(ctx, fresh)
			return nil
		}
	}
	return problem.New(problem.Unavailable, "too many processes change the indexes at the same time").WithCode("search_unavailable")
}

// put writes a version if there is none of its number.
func (k *catalog) put(ctx context.Context, s *state) (won bool, err error) {
	text, err := json.Marshal(s)
	if err != nil {
		return false, err
	}
	line := fmt.Appendf(nil, `{"id":"%d","%s":%d,"%s":`, s.Version, fieldOrder, s.Version, fieldSource)
	line = append(rawjson.AppendString(line, text), '}')
	list, err := k.client.importLines(ctx, k.collection, api.Create, [][]byte{line})
	switch {
	case err == nil && list[0].Success:
		return true, nil
	case err == nil && list[0].Code != 409:
		return false, problem.Wrap(errors.New(list[0].Error), problem.Internal, "the catalog of the search engine cannot be written")
	}
	// Somebody else was first; or the answer was lost, and it is there.
	now, again := k.reload(ctx)
	if again != nil {
		return false, errors.Join(err, again)
	}
	if now.Token == s.Token {
		return true, nil
	}
	return false, err
}

// tidy forgets old versions and settings of generations that are gone. It does
// not matter if it fails.
func (k *catalog) tidy(ctx context.Context, s *state) {
	if old := s.Version - catalogVersions; old > 0 {
		_ = k.client.deleteByIDs(ctx, k.collection, "id", []string{strconv.FormatInt(old, 10)})
	}
}

// keep stores settings on the server, by their hash, which it gives. They stay:
// there is one for each mapping that was ever in force.
func (k *catalog) keep(ctx context.Context, s search.Settings) (hash string, err error) {
	hash, text, err := hashOf(s)
	if err != nil {
		return "", err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.settings[hash]; ok {
		return hash, nil
	}
	if _, err := k.reload(ctx); err != nil { // it makes the collection
		return "", err
	}
	line := fmt.Appendf(nil, `{"id":"s%s","%s":0,"%s":`, hash, fieldOrder, fieldSource)
	line = append(rawjson.AppendString(line, text), '}')
	list, err := k.client.importLines(ctx, k.collection, api.Upsert, [][]byte{line})
	if err != nil {
		return "", err
	}
	if !list[0].Success {
		return "", problem.Wrap(errors.New(list[0].Error), problem.Internal, "the settings of an index cannot be stored")
	}
	k.settings[hash] = s
	return hash, nil
}

// settingsOf gives the settings with the hash.
func (k *catalog) settingsOf(ctx context.Context, hash string) (s search.Settings, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s, ok := k.settings[hash]; ok {
		return s, nil
	}
	results, err := k.client.multiSearch(ctx, []entry{{Collection: k.collection, FilterBy: "id:=s" + hash, IncludeFields: fieldSource, PerPage: 1}})
	if err != nil {
		return s, err
	}
	if len(results[0].Hits) == 0 {
		return s, problem.New(problem.Internal, "the settings of a search index are missing")
	}
	var row struct {
		Source string `json:"_src"`
	}
	if err := errors.Join(json.Unmarshal(results[0].Hits[0].Document, &row), json.Unmarshal([]byte(row.Source), &s)); err != nil {
		return s, problem.Wrap(err, problem.Internal, "the settings of a search index cannot be read")
	}
	k.settings[hash] = s
	return s, nil
}

// canonical gives fields in the order of their paths, and nil for what is empty.
func canonical(fields []search.Field) []search.Field {
	if len(fields) == 0 {
		return nil
	}
	out := slices.Clone(fields)
	for i := range out {
		out[i].Fields = canonical(out[i].Fields)
		if len(out[i].CopyTo) == 0 {
			out[i].CopyTo = nil
		}
	}
	slices.SortStableFunc(out, func(a, b search.Field) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// form numbers the way in which rows are made of documents. Another one fills
// every index anew.
const form = 2

// hashOf gives the hash of settings, and of form, with the settings as JSON.
func hashOf(s search.Settings) (hash string, text []byte, err error) {
	types := make(map[string][]search.Field, len(s.Types))
	for name, fields := range s.Types {
		types[name] = canonical(fields)
	}
	s.Types = types
	for _, entities := range []*map[string]json.RawMessage{&s.Analyzers, &s.Tokenizers, &s.Filters, &s.CharFilters} {
		if len(*entities) == 0 {
			*entities = nil
		}
	}
	if text, err = json.Marshal(s); err != nil {
		return "", nil, fmt.Errorf("settings of an index: %w", err)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "form %d\n%s", form, text))
	return hex.EncodeToString(sum[:16]), text, nil
}

// expire makes the next load ask the server.
func (k *catalog) expire() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.read = time.Time{}
}
