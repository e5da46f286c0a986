package mcp

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// change is one place in which two revisions differ.
type change struct {
	Path   string          `json:"path"`
	Before json.RawMessage `json:"before,omitempty"` // missing: it was not there
	After  json.RawMessage `json:"after,omitempty"`  // missing: it is gone
}

const (
	maxChanges = 200
	maxValue   = 2000 // bytes of one value
)

// sealed are members that every finalizing writes.
func sealed(key string) bool {
	switch key {
	case "_contenttype", "_finalization_datetime", "_finalized_by", "_sha1", "_published_datetime", "_version_uuid":
		return true
	}
	return false
}

// differences lists where two revisions differ, in the order of the newer one.
// from may be nil.
func differences(from, to *port.Revision) []change {
	before := []byte("{}")
	if from != nil {
		before = from.Raw
	}
	d := &differ{out: []change{}}
	d.objects("", before, to.Raw, true)
	return d.out
}

type differ struct{ out []change }

func (d *differ) add(path string, before, after []byte) {
	if len(d.out) < maxChanges {
		d.out = append(d.out, change{path, shortened(before), shortened(after)})
	}
}

// shortened cuts a value that nobody would read to its end.
func shortened(v []byte) json.RawMessage {
	if len(v) <= maxValue {
		return bytes.Clone(v)
	}
	return rawjson.AppendString(nil, strings.ToValidUTF8(string(v[:maxValue]), "")+"…")
}

func (d *differ) values(path string, before, after []byte) {
	if bytes.Equal(before, after) || len(d.out) >= maxChanges {
		return
	}
	kind := rawjson.KindOf(before)
	switch {
	case kind != rawjson.KindOf(after):
		d.add(path, before, after)
	case kind == rawjson.Map:
		d.objects(path, before, after, false)
	case kind == rawjson.Array:
		d.arrays(path, before, after)
	case !rawjson.Equal(before, after):
		d.add(path, before, after)
	}
}

func (d *differ) objects(path string, before, after []byte, root bool) {
	for it := rawjson.Iterate(after); it.Next(); {
		key := string(it.Key())
		if root && sealed(key) {
			continue
		}
		was, there := rawjson.Get(before, key)
		if !there {
			d.add(rawjson.Join(path, key), nil, it.Value())
			continue
		}
		d.values(rawjson.Join(path, key), was, it.Value())
	}
	for it := rawjson.Iterate(before); it.Next(); {
		key := string(it.Key())
		if _, there := rawjson.Get(after, key); !there && !(root && sealed(key)) {
			d.add(rawjson.Join(path, key), it.Value(), nil)
		}
	}
}

func (d *differ) arrays(path string, before, after []byte) {
	a, b := rawjson.Iterate(before), rawjson.Iterate(after)
	for i := 0; ; i++ {
		more, other := a.Next(), b.Next()
		at := rawjson.Index(path, i)
		switch {
		case more && other:
			d.values(at, a.Value(), b.Value())
		case more:
			d.add(at, a.Value(), nil)
		case other:
			d.add(at, nil, b.Value())
		default:
			return
		}
	}
}

// readableDiff shows changes to a person.
func readableDiff(list []change) string {
	if len(list) == 0 {
		return "Nothing differs."
	}
	const most, longest = 30, 200
	var b strings.Builder
	for i, c := range list {
		if i == most {
			b.WriteString("…\n")
			break
		}
		line := func(sign string, v []byte) {
			if v == nil {
				return
			}
			text := string(v)
			if len(text) > longest {
				text = strings.ToValidUTF8(text[:longest], "") + "…"
			}
			b.WriteString(sign + " " + c.Path + ": " + text + "\n")
		}
		line("-", c.Before)
		line("+", c.After)
	}
	return strings.TrimSpace(b.String())
}
