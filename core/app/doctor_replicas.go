package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/quoin-cms/quoin/core/module"
)

// replicas tells which versions share the database. Only PostgreSQL is shared.
func (d *doctor) replicas(ctx context.Context, a *App) {
	const check = "replicas"
	all, err := a.DB.Processes(ctx)
	if d.failed(check, err) || len(all) == 0 {
		return
	}
	own, others := "", 0
	var versions []string
	names := map[string][]string{}
	for _, p := range all {
		if p.Own {
			own = p.Version
			continue
		}
		if names[p.Version] == nil {
			versions = append(versions, p.Version)
		}
		names[p.Version] = append(names[p.Version], p.Name)
		others++
	}
	var parts []string
	for _, v := range versions {
		parts = append(parts, fmt.Sprintf("%d of quoin %s (%s)", len(names[v]), v, few(names[v])))
	}
	switch {
	case others == 0:
		d.say(check, module.Fine, "no other process is connected to the database", "")
	case len(versions) == 1 && (own == "" || versions[0] == own):
		d.say(check, module.Fine, "connected to the database: "+parts[0], "")
	default:
		says := "versions differ. Connected to the database: " + strings.Join(parts, ", ")
		if own != "" {
			says += "; this command is of quoin " + own
		}
		d.say(check, module.Warn, says, "finish the upgrade, so that all are of one version; while it goes on this is as it should be")
	}
}

// few lists the first names of many.
func few(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}
