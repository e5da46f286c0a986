package search

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"sync"

	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

// WriteTo writes the response as Elasticsearch would, through a pooled buffer.
func (r *Response) WriteTo(w io.Writer) (int64, error) {
	buf, _ := buffers.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	out := r.AppendJSON((*buf)[:0])
	n, err := w.Write(out)
	if cap(out) <= 1<<20 { // a rare huge answer must not stay in memory
		*buf = out
		buffers.Put(buf)
	}
	return int64(n), err
}

// buffers holds no state that anybody could see, only memory.
var buffers sync.Pool

// MarshalJSON gives the same bytes as AppendJSON.
func (r *Response) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil), nil }

// AppendJSON appends the response in Elasticsearch's shape. Sources are
// copied as bytes, so the order of keys and the numbers survive.
func (r *Response) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"took":`...)
	dst = strconv.AppendInt(dst, r.Took.Milliseconds(), 10)
	dst = append(dst, `,"timed_out":false,"_shards":{"total":`...)
	dst = strconv.AppendInt(dst, int64(r.Shards), 10)
	dst = append(dst, `,"successful":`...)
	dst = strconv.AppendInt(dst, int64(r.Shards), 10)
	dst = append(dst, `,"skipped":0,"failed":0},"hits":{`...)
	dst = r.appendTotal(dst)
	dst = append(dst, `"max_score":`...)
	dst = appendScore(dst, r.MaxScore)
	dst = append(dst, `,"hits":[`...)
	for i := range r.Hits {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = r.Hits[i].AppendJSON(dst)
	}
	dst = append(dst, "]}"...)
	if len(r.Aggs) > 0 {
		dst = append(dst, `,"aggregations":{`...)
		dst = appendResults(dst, r.Aggs)
		dst = append(dst, '}')
	}
	if len(r.Suggest) > 0 {
		dst = appendSuggestions(append(dst, `,"suggest":`...), r.Suggest)
	}
	return append(dst, '}')
}

// appendTotal writes the total as far as it was asked for.
func (r *Response) appendTotal(dst []byte) []byte {
	if r.TrackTotal < 0 {
		return dst
	}
	total, relation := r.Total, "eq"
	if most := int64(r.TrackTotal); most > 0 && total > most {
		total, relation = most, "gte"
	}
	dst = strconv.AppendInt(append(dst, `"total":{"value":`...), total, 10)
	return append(append(append(dst, `,"relation":"`...), relation...), `"},`...)
}

// AppendJSON appends the hit in Elasticsearch's shape.
func (h *Hit) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"_index":`...)
	dst = jsonx.AppendString(dst, h.Index)
	dst = append(dst, `,"_id":`...)
	dst = jsonx.AppendString(dst, h.Key.OUUID)
	dst = append(dst, `,"_score":`...)
	dst = appendScore(dst, h.Score)
	dst = append(dst, `,"_source":`...)
	dst = append(dst, h.Source...)
	if h.Group != nil {
		dst = appendGroup(append(dst, `,"fields":`...), h.Group)
	}
	if len(h.Highlight) > 0 {
		dst = appendHighlight(append(dst, `,"highlight":`...), h.Highlight)
	}
	if len(h.Sort) > 0 {
		dst = append(dst, `,"sort":[`...)
		for i, v := range h.Sort {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendSortValue(dst, v)
		}
		dst = append(dst, ']')
	}
	if len(h.Inner) > 0 {
		dst = appendInner(append(dst, `,"inner_hits":`...), h.Inner)
	}
	return append(dst, '}')
}

func appendHighlight(dst []byte, fields []Highlighted) []byte {
	return list(dst, true, len(fields), func(dst []byte, i int) []byte {
		dst = append(jsonx.AppendString(dst, fields[i].Field), ':')
		return list(dst, false, len(fields[i].Fragments), func(dst []byte, k int) []byte {
			return jsonx.AppendString(dst, fields[i].Fragments[k])
		})
	})
}

func appendScore(dst []byte, s *float64) []byte {
	if s == nil {
		return append(dst, "null"...)
	}
	return appendFloat(dst, *s)
}

func appendSortValue(dst []byte, v SortValue) []byte {
	switch {
	case v.Kind == StringValue:
		return jsonx.AppendString(dst, v.Text)
	case v.Kind == NullValue:
		return append(dst, "null"...)
	case v.Whole:
		return appendWhole(dst, v.Num)
	}
	return appendFloat(dst, v.Num)
}

// appendWhole writes a long. The greatest is kept as the double above it, which
// is no long; what else is too large for one is written as a double.
func appendWhole(dst []byte, f float64) []byte {
	switch {
	case f >= -1<<63 && f < 1<<63:
		return strconv.AppendInt(dst, int64(f), 10)
	case f == 1<<63:
		return strconv.AppendInt(dst, math.MaxInt64, 10)
	}
	return appendFloat(dst, f)
}

// appendFloat writes a double as Java does: never as a bare integer. What is
// no JSON number becomes null.
func appendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	start := len(dst)
	if a := math.Abs(f); a != 0 && (a < 1e-3 || a >= 1e15) {
		dst = strconv.AppendFloat(dst, f, 'E', -1, 64)
	} else {
		dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	if bytes.IndexByte(dst[start:], '.') < 0 && bytes.IndexByte(dst[start:], 'E') < 0 {
		dst = append(dst, ".0"...)
	}
	return dst
}

var _ json.Marshaler = (*Response)(nil)
