package schema

import (
	"strconv"

	"github.com/quoin-cms/quoin/core/rawjson"
)

// writer builds JSON with its members in the order they are written.
type writer struct{ b []byte }

func (w *writer) comma() {
	if n := len(w.b); n > 0 {
		switch w.b[n-1] {
		case '{', '[', ':', ',':
		default:
			w.b = append(w.b, ',')
		}
	}
}

func (w *writer) open(c byte) { w.comma(); w.b = append(w.b, c) }

func (w *writer) close(c byte) { w.b = append(w.b, c) }

func (w *writer) key(k string) {
	w.comma()
	w.b = append(rawjson.AppendString(w.b, k), ':')
}

func (w *writer) str(k, v string) {
	w.key(k)
	w.b = rawjson.AppendString(w.b, v)
}

// orNull writes null for an empty string, as the original's exports do.
func (w *writer) orNull(k, v string) {
	if v == "" {
		w.raw(k, "null")
		return
	}
	w.str(k, v)
}

func (w *writer) raw(k, v string) {
	w.key(k)
	w.b = append(w.b, v...)
}

func (w *writer) bool(k string, v bool) { w.raw(k, strconv.FormatBool(v)) }

func (w *writer) int(k string, v int) { w.raw(k, strconv.Itoa(v)) }

func (w *writer) num(k string, v float64) {
	w.key(k)
	w.b = strconv.AppendFloat(w.b, v, 'f', -1, 64)
}

func (w *writer) list(k string, v []string) {
	w.key(k)
	w.open('[')
	for _, s := range v {
		w.comma()
		w.b = rawjson.AppendString(w.b, s)
	}
	w.close(']')
}
