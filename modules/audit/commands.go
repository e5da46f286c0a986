package audit

import (
	"context"
	"fmt"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/module"
)

func commands() []module.Command {
	return []module.Command{module.Cmd(module.Command{
		Use: "audit", Short: "Show who did what", Roles: []string{auth.RoleAuditor},
		Long: "Show the records of events, the newest first. audit.events says which events are recorded.",
		Flags: []module.Flag{
			{Name: "actor", Default: "", Doc: "of this user only"},
			{Name: "type", Default: "", Doc: "of this type of event only; a beginning may end in *"},
			{Name: "subject", Default: "", Doc: "about this only, such as page:AWO0"},
			{Name: "since", Default: time.Duration(0), Doc: "no older than this, such as 24h"},
			{Name: "limit", Default: 100, Doc: "how many"},
		},
	}, show)}
}

func show(ctx context.Context, s *Service, call *module.Call) error {
	limit, _ := call.Flags("limit").(int)
	since, _ := call.Flags("since").(time.Duration)
	q := Query{Actor: call.String("actor"), Type: call.String("type"), Subject: call.String("subject"), Size: limit}
	if limit < 1 {
		return fmt.Errorf("--limit must be at least 1")
	}
	if since > 0 {
		q.Since = time.Now().Add(-since)
	}
	entries, err := s.store.list(ctx, q)
	if err != nil {
		return err
	}
	rows := [][]string{}
	for _, e := range entries {
		rows = append(rows, []string{e.At.Format(time.RFC3339), e.Actor, e.From, e.Type, e.Subject, brief(e.Data), e.RequestID})
	}
	return call.Table(entries, []string{"at", "who", "from", "what", "subject", "data", "request"}, rows)
}

// brief is the beginning of the data, so that a record fits on a line of a
// terminal: the data of a publication holds the whole document. --json has all.
func brief(data []byte) string {
	const most = 80
	if text := []rune(string(data)); len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(data)
}
