package db

import (
	"cmp"
	"context"
	"crypto/rand"
	"os"
	"strings"
)

const (
	// product begins the name under which PostgreSQL lists our connections.
	product = "quoin "
	// longestVersion and longestProgram bound that name, which PostgreSQL cuts
	// at 63 bytes.
	longestVersion = 45
	longestProgram = 63
)

// introduce says in application_name which program the connections are of:
// pg_stat_activity tells then which process does what, and Processes who else
// is there. A name that the operator has given in the URL stays.
func introduce(parameters map[string]string, version string) {
	if parameters["application_name"] != "" {
		return
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	name := product + clip(strings.ReplaceAll(cmp.Or(version, "(unknown)"), " ", "_"), longestVersion) + " " + rand.Text()[:6] + "@" + host
	parameters["application_name"] = clip(name, longestProgram)
}

func clip(text string, most int) string { return text[:min(len(text), most)] }

// Process is one that uses the database at this moment.
type Process struct {
	Version string // of the program, at most 45 bytes of it
	Name    string // some letters of its own, and the machine: K3F9QX@web-1
	Own     bool   // it is this one
}

var whoIsThere = Dual(`SELECT '', FALSE WHERE FALSE`,
	`SELECT DISTINCT application_name, application_name = current_setting('application_name') FROM pg_stat_activity
	WHERE datname = current_database() AND starts_with(application_name, 'quoin ') ORDER BY 1`)

// Processes lists the processes that are connected to PostgreSQL, as far as
// they introduced themselves: older versions do not, nor does one whose URL
// gives it another application_name. On SQLite the list is empty.
func (d *DB) Processes(ctx context.Context) ([]Process, error) {
	return All(ctx, d, func(row Row) (p Process, err error) {
		var program string
		err = row.Scan(&program, &p.Own)
		program = strings.TrimPrefix(program, product)
		p.Version, p.Name, _ = strings.Cut(program, " ")
		return p, err
	}, whoIsThere)
}
