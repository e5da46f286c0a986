package content

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/telemetry"
)

// indexes keeps the names of the indexes of environments, in the state of the
// entity. It implements port.Indexes.
type indexes struct {
	store    store
	types    *catalogs
	bus      *event.Bus
	instance string
	now      func() time.Time
}

var _ port.Indexes = (*indexes)(nil)

// environmentState is what content_config.state holds for an environment.
type environmentState struct {
	Index   string `json:"index,omitempty"`   // in force; empty for the alias itself
	Next    string `json:"next,omitempty"`    // is to be built and to take its place
	Reindex bool   `json:"reindex,omitempty"` // documents are to be indexed again
}

// Renew implements port.Indexes.
func (x *indexes) Renew(ctx context.Context, environment string) (index string, err error) {
	err = x.change(ctx, environment, func(_ context.Context, cat *catalog, e *entity, s *environmentState) (bool, error) {
		if index = s.Next; index != "" {
			return false, nil
		}
		index = freshIndex(cat, x.instance+e.Name, x.now())
		s.Next = index
		return true, nil
	})
	return index, err
}

// freshIndex gives the name of an index that no environment has
// (contract-notes 4.1).
func freshIndex(cat *catalog, alias string, now time.Time) string {
	for ; ; now = now.Add(time.Second) {
		index := alias + "_" + now.UTC().Format("20060102_150405")
		if !slices.ContainsFunc(cat.sortedEnvs, func(e *environment) bool { return e.index == index || e.next == index || e.alias == index }) {
			return index
		}
	}
}

// Reindex implements port.Indexes.
func (x *indexes) Reindex(ctx context.Context, environment string) error {
	return x.change(ctx, environment, func(_ context.Context, _ *catalog, _ *entity, s *environmentState) (bool, error) {
		was := s.Reindex
		s.Reindex = true
		return !was, nil
	})
}

// Now implements port.Indexes.
func (x *indexes) Now(ctx context.Context) ([]port.Environment, error) {
	cat, err := x.types.reload(ctx, false)
	if err != nil {
		return nil, err
	}
	return cat.managed(), nil
}

// Built implements port.Indexes.
func (x *indexes) Built(ctx context.Context, environment, index string) error {
	err := x.change(ctx, environment, func(ctx context.Context, cat *catalog, e *entity, s *environmentState) (bool, error) {
		old := cmp.Or(s.Index, x.instance+e.Name)
		switch {
		case index == s.Next && index != "":
			s.Index, s.Next, s.Reindex = index, "", false
			return true, x.switched(ctx, cat, e.Name, old, index)
		case index == old && s.Reindex:
			s.Reindex = false
			return true, nil
		}
		return false, nil
	})
	if problem.Is(err, problem.NotFound) { // it was removed in the meantime
		return nil
	}
	return err
}

// change changes the state of an environment; fn may run twice. It tells
// whether there is something to save.
func (x *indexes) change(ctx context.Context, name string, fn func(context.Context, *catalog, *entity, *environmentState) (bool, error)) error {
	if _, err := x.types.environmentByName(ctx, name); err != nil {
		return err
	}
	cat, err := x.types.get(ctx)
	if err != nil {
		return err
	}
	err = x.store.db.InTx(ctx, func(ctx context.Context) error {
		if err := x.store.holdConfig(ctx); err != nil {
			return err
		}
		e, err := x.store.entity(ctx, kindEnvironment, name)
		if err != nil {
			return err
		}
		if e == nil {
			return unknownEnvironment(name)
		}
		var s environmentState
		_ = json.Unmarshal(e.State, &s) // written by us; empty when it is not there
		save, err := fn(ctx, cat, e, &s)
		if err != nil || !save {
			return err
		}
		if e.State, err = json.Marshal(s); err != nil {
			return err
		}
		if err := x.store.saveEntity(ctx, e, x.now()); err != nil {
			return err
		}
		return x.emit(ctx, "config.saved", kindEnvironment+":"+name, configData(ctx, e))
	})
	if err != nil {
		return err
	}
	_, err = x.types.reload(ctx, false)
	return err
}

// switched tells that an environment has a new index, and which managed
// aliases point at it now (spec.md 6.2).
func (x *indexes) switched(ctx context.Context, cat *catalog, environment, old, index string) error {
	aliases := []string{x.instance + environment}
	for _, a := range cat.aliases {
		if slices.Contains(a.environments, environment) {
			aliases = append(aliases, a.alias)
			data := appendStrings([]byte(`{"actions":{"add":`), []string{index})
			data = append(appendStrings(append(data, `,"remove":`...), []string{old}), `}}`...)
			if err := x.emit(ctx, "manage_alias.update."+a.alias, "managed-alias:"+a.name, data); err != nil {
				return err
			}
		}
	}
	return x.emit(ctx, "environment.new_index."+environment, "environment:"+environment, newIndexData(environment, index, old, aliases))
}

// newIndexData is the data of the event environment.new_index; old is empty for
// a new environment.
func newIndexData(environment, index, old string, aliases []string) []byte {
	data := rawjson.AppendString([]byte(`{"environment":`), environment)
	data = rawjson.AppendString(append(data, `,"index":`...), index)
	data = appendStrings(append(data, `,"aliases":`...), aliases)
	data = append(data, `,"old_index":`...)
	if old == "" {
		data = append(data, "null"...)
	} else {
		data = rawjson.AppendString(data, old)
	}
	return append(data, `,"content_type":null,"ouuid":null,"raw_data":null}`...)
}

func (x *indexes) emit(ctx context.Context, name, subject string, data []byte) error {
	return x.bus.Emit(ctx, event.Event{Type: name, Subject: subject, Data: data, Actor: auth.Username(ctx), RequestID: telemetry.RequestID(ctx)})
}
