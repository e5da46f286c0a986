package main

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/pluginhost"
	"github.com/quoin-cms/quoin/core/work"
	"github.com/quoin-cms/quoin/modules"
)

// everySource is the migrations of the whole program.
func everySource() []db.Source {
	all := []db.Source{work.Migrations(), event.Migrations()}
	for _, s := range append(modules.All(), pluginhost.Spec()) {
		if s.Migrations != nil {
			all = append(all, db.Source{Module: s.Name, Files: s.Migrations})
		}
	}
	return all
}

// TestMigrationsOnlyAdd: the release before goes on working beside what a
// migration did, unless its name says otherwise (core/db.Source).
func TestMigrationsOnlyAdd(t *testing.T) {
	files := 0
	for _, s := range everySource() {
		for _, fault := range lint(s.Files, &files) {
			t.Errorf("%s: %s", s.Module, fault)
		}
	}
	if files < 20 {
		t.Errorf("only %d files were read", files)
	}
}

var (
	fileName  = regexp.MustCompile(`^(\d{3})_(contract_(\d{3})_)?[a-z0-9_]+\.tx\.up\.sql$`)
	ofComment = regexp.MustCompile(`--[^\n]*`)
	creates   = regexp.MustCompile(`(?i)^CREATE TABLE (?:IF NOT EXISTS )?(\w+)`)
	takesAway = regexp.MustCompile(`(?i)\b(DROP|RENAME|TRUNCATE|SET NOT NULL|ADD CONSTRAINT|ALTER COLUMN|DELETE FROM|CREATE TRIGGER)\b`)
	addsColum = regexp.MustCompile(`(?i)^ALTER TABLE (\w+)\s+ADD COLUMN\b`)
	unique    = regexp.MustCompile(`(?i)^CREATE UNIQUE INDEX \w+\s+ON (\w+)`)
)

// lint gives what is wrong with the migrations of a module.
func lint(files fs.FS, read *int) []string {
	var faults []string
	names := map[string][]string{}
	for _, dialect := range []string{"sqlite", "postgres"} {
		list, err := fs.ReadDir(files, dialect)
		if err != nil {
			return []string{err.Error()}
		}
		for _, e := range list {
			names[dialect] = append(names[dialect], e.Name())
			text, err := fs.ReadFile(files, path.Join(dialect, e.Name()))
			if err != nil {
				return []string{err.Error()}
			}
			*read++
			for _, fault := range lintFile(e.Name(), string(text), names[dialect]) {
				faults = append(faults, dialect+"/"+e.Name()+": "+fault)
			}
		}
	}
	if !slices.Equal(names["sqlite"], names["postgres"]) {
		faults = append(faults, fmt.Sprintf("the engines have other files: %v and %v", names["sqlite"], names["postgres"]))
	}
	return faults
}

// lintFile looks at one file; before are the names up to its own.
func lintFile(name, text string, before []string) (faults []string) {
	m := fileName.FindStringSubmatch(name)
	if m == nil {
		return []string{"the name must be as 002_what.tx.up.sql or 003_contract_002_what.tx.up.sql"}
	}
	if m[2] != "" {
		if m[3] >= m[1] || !slices.ContainsFunc(before, func(n string) bool { return strings.HasPrefix(n, m[3]+"_") }) {
			faults = append(faults, "there is no earlier migration "+m[3])
		}
		return faults
	}
	var made []string
	for _, statement := range strings.Split(ofComment.ReplaceAllString(text, ""), ";") {
		statement = strings.Join(strings.Fields(statement), " ")
		if c := creates.FindStringSubmatch(statement); c != nil {
			made = append(made, c[1])
		}
		if word := takesAway.FindString(statement); word != "" {
			faults = append(faults, fmt.Sprintf("%s breaks the release before: it belongs into a contraction, one release later", strings.ToUpper(word)))
		}
		upper := strings.ToUpper(statement)
		if c := addsColum.FindStringSubmatch(statement); c != nil && strings.Contains(upper, "NOT NULL") && !strings.Contains(upper, "DEFAULT") {
			faults = append(faults, "a column that must be set has no default: the release before does not set it")
		}
		if c := unique.FindStringSubmatch(statement); len(c) > 1 && !slices.Contains(made, c[1]) {
			faults = append(faults, "a unique index on a table that is there refuses what the release before may write")
		}
	}
	return faults
}

// TestTheRulesOfMigrations: what they are to find is found.
func TestTheRulesOfMigrations(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		wrong      bool
	}{
		"a table":                  {"002_a.tx.up.sql", "CREATE TABLE a (id bigint NOT NULL); CREATE UNIQUE INDEX a_id ON a (id);", false},
		"a column":                 {"002_a.tx.up.sql", "ALTER TABLE x ADD COLUMN y text", false},
		"a column with a default":  {"002_a.tx.up.sql", "ALTER TABLE x ADD COLUMN y text NOT NULL DEFAULT ''", false},
		"a word in a comment":      {"002_a.tx.up.sql", "-- never DROP it; really\nALTER TABLE x ADD COLUMN y text", false},
		"a column that must be":    {"002_a.tx.up.sql", "ALTER TABLE x\nADD COLUMN y text NOT NULL", true},
		"a column is dropped":      {"002_a.tx.up.sql", "ALTER TABLE x DROP COLUMN y", true},
		"a table is renamed":       {"002_a.tx.up.sql", "alter table x rename to y", true},
		"a rule":                   {"002_a.tx.up.sql", "ALTER TABLE x ALTER COLUMN y SET NOT NULL", true},
		"uniqueness":               {"002_a.tx.up.sql", "CREATE UNIQUE INDEX x_y ON x (y)", true},
		"a contraction":            {"002_contract_001_a.tx.up.sql", "ALTER TABLE x DROP COLUMN y", false},
		"a contraction of nothing": {"003_contract_002_a.tx.up.sql", "ALTER TABLE x DROP COLUMN y", true},
		"of itself":                {"002_contract_002_a.tx.up.sql", "ALTER TABLE x DROP COLUMN y", true},
		"a name":                   {"2_a.up.sql", "", true},
	} {
		files := fstest.MapFS{}
		for _, dialect := range []string{"sqlite", "postgres"} {
			files[dialect+"/001_init.tx.up.sql"] = &fstest.MapFile{Data: []byte("CREATE TABLE x (z text)")}
			files[dialect+"/"+c.file] = &fstest.MapFile{Data: []byte(c.text)}
		}
		read := 0
		if faults := lint(files, &read); len(faults) > 0 != c.wrong {
			t.Errorf("%s: %v", name, faults)
		}
	}
}
