package job

import (
	"context"
	"encoding/json"

	"github.com/quoin-cms/quoin/core/event"
)

// outcome is the data of the events. It holds neither the command nor what it
// wrote: both may be secret.
type outcome struct {
	Job      string `json:"job"`
	Tag      string `json:"tag"`
	User     string `json:"user"`
	Schedule string `json:"schedule"`
	State    State  `json:"state"`
	Attempt  int    `json:"attempt"`
	ExitCode *int64 `json:"exit_code"`
}

func eventTypes() []event.Type {
	aboutSchedule := []string{"schedule string", "user string", "cron string", "timezone string", "tag string", "overlap string", "from string"}
	schema := event.Object("job string", "tag string", "user string", "schedule string", "state string", "attempt integer", "exit_code integer|null")
	return []event.Type{
		{
			Name: "job.done", Doc: "A job has completed. Needs a role that uses jobs, ROLE_ADMIN or ROLE_JOB_WORKER.", Schema: schema, Roles: workers(),
			Sample: json.RawMessage(`{"job":"43","tag":"import","user":"ada","schedule":"","state":"done","attempt":1,"exit_code":null}`),
		}, {
			Name: "job.failed", Doc: "A job has failed for good, has lost its worker for good, or was cancelled. Needs the same roles as job.done.", Schema: schema, Roles: workers(),
			Sample: json.RawMessage(`{"job":"44","tag":"","user":"ada","schedule":"nightly","state":"failed","attempt":2,"exit_code":1}`),
		}, {
			Name: "admin.schedule.created", Doc: "A schedule was created. user is the account its jobs belong to. The command is not told: it may hold a secret.",
			Sample: json.RawMessage(`{"schedule":"nightly","user":"ada","cron":"0 3 * * *","timezone":"UTC","tag":"","overlap":"skip","from":"203.0.113.7"}`),
			Schema: event.Object(aboutSchedule...),
		}, {
			Name: "admin.schedule.changed", Doc: "A schedule was changed; changed names what, the rest is how it is from now on.",
			Sample: json.RawMessage(`{"schedule":"nightly","user":"ada","cron":"0 4 * * *","timezone":"UTC","tag":"","overlap":"skip","changed":["cron","command"],"from":"203.0.113.7"}`),
			Schema: event.Object(append([]string{"changed [string]"}, aboutSchedule...)...),
		}, {
			Name: "admin.schedule.deleted", Doc: "A schedule was removed.",
			Sample: json.RawMessage(`{"schedule":"nightly","user":"ada","cron":"0 3 * * *","timezone":"UTC","tag":"","overlap":"skip","from":""}`),
			Schema: event.Object(aboutSchedule...),
		},
	}
}

// tell emits an event about a schedule in the transaction of ctx.
func (s *Service) tell(ctx context.Context, what string, x *Schedule, data map[string]any) error {
	data["schedule"], data["user"], data["cron"], data["timezone"] = x.Name, x.User, x.Cron, x.Zone
	data["tag"], data["overlap"] = x.Tag, x.Overlap
	return s.bus.EmitAdmin(ctx, "schedule."+what, "schedule:"+x.Name, data)
}

// tellSaved tells of a schedule that was stored; before is nil for a new one.
// One that is as it was is not told of.
func (s *Service) tellSaved(ctx context.Context, before, x *Schedule) error {
	if before == nil {
		return s.tell(ctx, "created", x, map[string]any{})
	}
	changed := []string{}
	for _, member := range []struct {
		name string
		same bool
	}{
		{"cron", before.Cron == x.Cron}, {"timezone", before.Zone == x.Zone}, {"command", before.Command == x.Command},
		{"tag", before.Tag == x.Tag}, {"overlap", before.Overlap == x.Overlap}, {"user", before.User == x.User},
	} {
		if !member.same {
			changed = append(changed, member.name)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return s.tell(ctx, "changed", x, map[string]any{"changed": changed})
}
