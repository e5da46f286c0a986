package search

import (
	"strconv"

	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

func appendResults(dst []byte, list []AggResult) []byte {
	for i, a := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonx.AppendString(dst, a.Name)
		dst = append(dst, ":{"...)
		if a.Meta != nil {
			dst = append(append(append(dst, `"meta":`...), a.Meta...), ',')
		}
		dst = a.Body.appendBody(dst)
		dst = append(dst, '}')
	}
	return dst
}

func appendSubs(dst []byte, subs []AggResult) []byte {
	if len(subs) == 0 {
		return dst
	}
	return appendResults(append(dst, ','), subs)
}

func (b *Buckets) appendBody(dst []byte) []byte {
	dst = append(dst, `"doc_count_error_upper_bound":0,"sum_other_doc_count":`...)
	dst = strconv.AppendInt(dst, b.Other, 10)
	dst = append(dst, `,"buckets":[`...)
	for i := range b.Buckets {
		bu := &b.Buckets[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"key":`...)
		dst = appendSortValue(dst, bu.Key)
		if bu.KeyText != "" {
			dst = append(dst, `,"key_as_string":`...)
			dst = jsonx.AppendString(dst, bu.KeyText)
		}
		dst = append(dst, `,"doc_count":`...)
		dst = strconv.AppendInt(dst, bu.Count, 10)
		dst = append(appendSubs(dst, bu.Subs), '}')
	}
	return append(dst, ']')
}

func (b *SingleBucket) appendBody(dst []byte) []byte {
	dst = append(dst, `"doc_count":`...)
	dst = strconv.AppendInt(dst, b.Count, 10)
	return appendSubs(dst, b.Subs)
}

func (m *Metric) appendBody(dst []byte) []byte {
	dst = append(dst, `"value":`...)
	switch {
	case m.Null:
		return append(dst, "null"...)
	case m.Whole:
		dst = strconv.AppendInt(dst, int64(m.Value), 10)
	default:
		dst = appendFloat(dst, m.Value)
	}
	if m.Text != "" {
		dst = append(dst, `,"value_as_string":`...)
		dst = jsonx.AppendString(dst, m.Text)
	}
	return dst
}

func (s *StatsResult) appendBody(dst []byte) []byte {
	dst = append(dst, `"count":`...)
	dst = strconv.AppendInt(dst, s.Count, 10)
	names := [4]string{"min", "max", "avg", "sum"}
	for i, v := range [4]float64{s.Min, s.Max, s.Avg, s.Sum} {
		dst = append(append(append(dst, `,"`...), names[i]...), `":`...)
		if s.Count == 0 && i < 3 {
			dst = append(dst, "null"...)
		} else {
			dst = appendFloat(dst, v)
		}
	}
	if s.Texts != nil && s.Count > 0 {
		for i, text := range s.Texts {
			dst = append(append(append(dst, `,"`...), names[i]...), `_as_string":`...)
			dst = jsonx.AppendString(dst, text)
		}
	}
	return dst
}
