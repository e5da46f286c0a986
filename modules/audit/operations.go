package audit

import (
	"context"
	"net/http"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/web"
)

// Page is an answer of records, the newest first.
type Page struct {
	Success bool    `json:"success"`
	Entries []Entry `json:"entries"`
	// Before reads on: the next page begins behind it. 0 when there is none.
	Before int64 `json:"before"`
}

type question struct {
	Actor   string `query:"actor" maxLength:"512" doc:"username"`
	Type    string `query:"type" maxLength:"512" doc:"type of event, or a beginning that ends in *"`
	Subject string `query:"subject" maxLength:"512" doc:"what it happened to, such as page:AWO0"`
	Since   string `query:"since" maxLength:"64" doc:"a time of RFC 3339, or a day such as 2026-01-31"`
	Until   string `query:"until" maxLength:"64" doc:"likewise, not included"`
	Before  int64  `query:"before" minimum:"0" doc:"read on: before of the last answer"`
	Size    int    `query:"size" minimum:"1" maximum:"1000" default:"100" doc:"records of one answer"`
}

func operations(s *Service) []web.Operation {
	return []web.Operation{web.Op(web.Operation{
		ID: "audit", Method: http.MethodGet, Path: "/api/admin/audit", Tag: "Audit", OneOf: []string{auth.RoleAuditor},
		Summary: "Who did what", Doc: "Records of events, the newest first. before of an answer, as a parameter, gives those that follow.", Errors: []int{400},
	}, func(ctx context.Context, in *question) (*web.Reply[Page], error) {
		q := Query{Actor: in.Actor, Type: in.Type, Subject: in.Subject, Before: in.Before, Size: in.Size}
		var err error
		if q.Since, err = web.Moment("since", in.Since); err != nil {
			return nil, err
		}
		if q.Until, err = web.Moment("until", in.Until); err != nil {
			return nil, err
		}
		entries, err := s.store.list(ctx, q)
		if err != nil {
			return nil, err
		}
		page := Page{Success: true, Entries: entries}
		if len(entries) == q.Size {
			page.Before = entries[len(entries)-1].ID
		}
		return web.Answer(page)
	})}
}
