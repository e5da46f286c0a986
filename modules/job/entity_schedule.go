package job

import (
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

const scheduleClass = `EMS\CoreBundle\Entity\Schedule`

// scheduleEntity serves schedules as configuration. It implements port.Entity.
type scheduleEntity struct{ s *Service }

var _ port.Entity = scheduleEntity{}

// Names implements port.Entity.
func (scheduleEntity) Names() []string { return []string{"schedule", "schedules"} }

// List implements port.Entity.
func (e scheduleEntity) List(ctx context.Context) ([]string, error) {
	all, err := e.s.store.allSchedules(ctx)
	names := []string{}
	for _, x := range all {
		names = append(names, x.Name)
	}
	return names, err
}

// Get implements port.Entity: what was put. The runs are in the list of
// schedules, so that an export equals what was imported.
func (e scheduleEntity) Get(ctx context.Context, name string) ([]byte, error) {
	x, err := e.s.store.schedule(ctx, name)
	if err != nil {
		return nil, err
	}
	return x.export, nil
}

// Put implements port.Entity. Properties: name, cron, command; optional tag,
// timezone (UTC), overlap (skip). previousRun and nextRun do not matter. The
// schedule belongs to whoever asks.
func (e scheduleEntity) Put(ctx context.Context, name string, export []byte) (string, error) {
	who, err := auth.Require(ctx)
	if err != nil {
		return "", err
	}
	x, err := parseSchedule(export)
	if err != nil {
		return "", err
	}
	if name != "" && name != x.Name {
		return "", problem.Field(problem.Invalid, "properties.name", "is %q, but the path says %q", x.Name, name)
	}
	if err := e.s.SaveSchedule(ctx, x, who); err != nil {
		return "", err
	}
	return strconv.FormatInt(x.ID, 10), nil
}

// Delete implements port.Entity.
func (e scheduleEntity) Delete(ctx context.Context, name string) (string, error) {
	id, err := e.s.RemoveSchedule(ctx, name)
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(id, 10), nil
}

// parseSchedule reads the export form.
func parseSchedule(raw []byte) (*Schedule, error) {
	if err := rawjson.CheckObject(raw, rawjson.Limits{}); err != nil {
		return nil, err
	}
	if class, given := rawjson.Get(raw, "class"); given {
		if s, _ := rawjson.String(class); s != scheduleClass {
			return nil, problem.Field(problem.Invalid, "class", "must be %s", scheduleClass)
		}
	}
	p, err := properties(raw)
	if err != nil {
		return nil, err
	}
	x := &Schedule{export: rawjson.Compact(nil, raw)}
	for key, to := range map[string]*string{"name": &x.Name, "cron": &x.Cron, "command": &x.Command, "tag": &x.Tag, "timezone": &x.Zone, "overlap": &x.Overlap} {
		if *to, _, err = text(p, "properties", key); err != nil {
			return nil, err
		}
	}
	x.Zone, x.Overlap = cmp.Or(x.Zone, "UTC"), cmp.Or(x.Overlap, overlapSkip)
	if n := x.Name; n == "" || len(n) > 255 || !utf8.ValidString(n) || strings.ContainsAny(n, "/\x00") {
		return nil, problem.Field(problem.Invalid, "properties.name", "must be a name without / and of at most 255 bytes")
	}
	return x, nil
}

// scheduleView is a schedule as lists show it.
type scheduleView struct {
	Name     string  `json:"name"`
	Cron     string  `json:"cron"`
	Zone     string  `json:"timezone"`
	Command  string  `json:"command"`
	Tag      string  `json:"tag"`
	User     string  `json:"user" doc:"whose jobs it makes: who saved it last"`
	Overlap  string  `json:"overlap" enum:"skip,queue,allow"`
	Previous *string `json:"previous_run"`
	Next     string  `json:"next_run"`
	Problem  string  `json:"problem,omitempty" doc:"why it makes no jobs"`
}

func (x *Schedule) view() scheduleView {
	v := scheduleView{Name: x.Name, Cron: x.Cron, Zone: x.Zone, Command: x.Command, Tag: x.Tag, User: x.User, Overlap: x.Overlap, Next: atom(x.Next)}
	if !x.Previous.IsZero() {
		at := atom(x.Previous)
		v.Previous = &at
	}
	return v
}

// scheduleViews are all schedules.
func (s *Service) scheduleViews(ctx context.Context) ([]scheduleView, error) {
	all, err := s.store.allSchedules(ctx)
	views := []scheduleView{}
	for _, x := range all {
		v := x.view()
		if s.parked(x) {
			v.Problem = "there is no such command"
		}
		views = append(views, v)
	}
	return views, err
}

// exportOf writes a schedule in the export form.
func exportOf(name, cron, zone, command, tag, overlap string) ([]byte, error) {
	return json.Marshal(map[string]any{"class": scheduleClass, "arguments": []any{}, "replaced": []any{}, "properties": map[string]string{
		"name": name, "cron": cron, "timezone": zone, "command": command, "tag": tag, "overlap": overlap,
	}})
}
