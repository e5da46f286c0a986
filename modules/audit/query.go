package audit

import (
	"github.com/quoin-cms/quoin/core/db"
)

// sql gives the statement of a query for one type or all. Only its shape depends
// on the query, so there are few of them to be prepared.
func (q Query) sql() (text string, args []any) {
	text = `SELECT id, at, actor, type, subject, data, request_id FROM audit_entry WHERE 1 = 1`
	where := func(condition string, values ...any) {
		text += " AND " + condition
		args = append(args, values...)
	}
	if q.Actor != "" {
		where("actor = ?", q.Actor)
	}
	if q.Type != "" {
		where("type = ?", q.Type)
	}
	if q.Subject != "" {
		where("subject = ?", q.Subject)
	}
	if !q.Since.IsZero() {
		where("at >= ?", db.Micros(q.Since))
	}
	if !q.Until.IsZero() {
		where("at < ?", db.Micros(q.Until))
	}
	if q.Before > 0 {
		where("id < ?", q.Before)
	}
	return text + " ORDER BY id DESC LIMIT ?", append(args, q.Size)
}
