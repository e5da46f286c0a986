package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/quoin-cms/quoin/sdk/client"
)

func (e *env) importCommand() *cobra.Command {
	c := group("import", "Import content from elsewhere")
	var server, token string
	var parallel int
	elasticms := &cobra.Command{
		Use: "elasticms DIR", Short: "Import an export folder of elasticms through the HTTP API",
		Long: `Imports the folder layout of elasticms: admin/<entity>/*.json, the files in admin/assets, and document/<content type>/*.json.

Configuration comes first, then the files, then the documents. What is there already and equal is left alone, so an import that was interrupted is repeated and goes on where it stopped. The token needs ROLE_API, ROLE_ADMIN and the rights of the content types.`,
		Args: cobra.ExactArgs(1),
	}
	flags := elasticms.Flags()
	flags.StringVar(&server, "server", e.variable("QUOIN_SERVER", "http://127.0.0.1:8080"), "base URL of the server (QUOIN_SERVER)")
	flags.StringVar(&token, "token", "", "API token (QUOIN_TOKEN)")
	flags.IntVar(&parallel, "parallel", 8, "documents written at the same time")
	elasticms.RunE = func(cmd *cobra.Command, args []string) error {
		if token == "" {
			token = e.variable("QUOIN_TOKEN", "")
		}
		if token == "" {
			return usage{errors.New("a token is needed: --token T or QUOIN_TOKEN (make one with `quoin token create admin`)")}
		}
		api, err := client.New(server, client.WithToken(token), client.WithUserAgent("quoin-import/"+e.Version), client.WithHash("blake3", newBlake3))
		if err != nil {
			return noServer(server, err)
		}
		imp := &importer{api: api, server: server, parallel: max(1, min(parallel, 64)), progress: e.progress()}
		report, err := imp.run(cmd.Context(), args[0])
		if report == nil {
			return err
		}
		return errors.Join(e.importReport(report), err)
	}
	c.AddCommand(elasticms)
	return c
}

// variable gives an environment variable that is no key of the configuration.
func (e *env) variable(name, otherwise string) string {
	for _, v := range e.vars {
		if value, ok := strings.CutPrefix(v, name+"="); ok && value != "" {
			return value
		}
	}
	return otherwise
}

func (e *env) importReport(r *importReport) error {
	var rows [][]string
	failed := 0
	for _, g := range r.Groups {
		failed += g.Failed
		rows = append(rows, []string{g.Kind, g.Name, strconv.Itoa(g.Created), strconv.Itoa(g.Updated), strconv.Itoa(g.Unchanged), strconv.Itoa(g.Failed)})
	}
	if err := e.table(r, []string{"kind", "name", "created", "updated", "unchanged", "failed"}, rows); err != nil || failed == 0 {
		return err
	}
	for _, g := range r.Groups {
		for _, f := range g.Failures {
			_, _ = fmt.Fprintf(e.err, "failed: %s: %s\n", f.File, f.Why)
		}
	}
	return fmt.Errorf("%d of the files failed; the reasons are above. Mend them and run the import again: what is done is skipped", failed)
}

// importReport is the result of an import.
type importReport struct {
	Groups []*importGroup `json:"groups"`
}

// importGroup counts what became of the files of one entity kind or content
// type.
type importGroup struct {
	Kind      string          `json:"kind"` // "config", "files" or "documents"
	Name      string          `json:"name"`
	Created   int             `json:"created"`
	Updated   int             `json:"updated"`
	Unchanged int             `json:"unchanged"`
	Failed    int             `json:"failed"`
	Failures  []importFailure `json:"failures,omitempty"`

	files []string
}

type importFailure struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// outcome says what became of one file.
type outcome int

const (
	created outcome = iota
	updated
	unchanged
)

func (g *importGroup) count(file string, o outcome, err error) {
	switch {
	case err != nil:
		g.Failed++
		g.Failures = append(g.Failures, importFailure{filepath.ToSlash(file), err.Error()})
	case o == created:
		g.Created++
	case o == updated:
		g.Updated++
	default:
		g.Unchanged++
	}
}

// configOrder is the order in which kinds of configuration depend on each
// other; kinds that are not named come last.
func configOrder() []string {
	return []string{"filter", "analyzer", "environment", "managed-alias", "form", "wysiwyg-profile", "wysiwyg-style-set", "i18n", "content-type", "query-search", "schedule"}
}

// groups lists the files of the export in the order of their import.
func groups(dir string) (config, documents []*importGroup, err error) {
	if config, err = folders(filepath.Join(dir, "admin"), "config"); err != nil {
		return nil, nil, err
	}
	if documents, err = folders(filepath.Join(dir, "document"), "documents"); err != nil {
		return nil, nil, err
	}
	if len(config)+len(documents) == 0 {
		return nil, nil, fmt.Errorf("%s holds neither admin/<entity>/*.json nor document/<content type>/*.json", dir)
	}
	var ordered []*importGroup
	for _, kind := range configOrder() {
		for _, g := range config {
			if g.Name == kind {
				ordered = append(ordered, g)
			}
		}
	}
	for _, g := range config {
		if !strings.Contains(" "+strings.Join(configOrder(), " ")+" ", " "+g.Name+" ") {
			ordered = append(ordered, g)
		}
	}
	return ordered, documents, nil
}

func folders(dir, kind string) ([]*importGroup, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []*importGroup
	for _, d := range entries {
		folder := filepath.Join(dir, d.Name())
		info, err := os.Stat(folder) // of what a link leads to
		if errors.Is(err, os.ErrNotExist) {
			continue // to nothing, as the locks of editors
		}
		if err != nil {
			return nil, err
		}
		if !info.IsDir() || kind == "config" && d.Name() == assetsFolder {
			continue
		}
		files, err := jsonFiles(folder)
		if err != nil {
			return nil, err
		}
		if len(files) > 0 {
			list = append(list, &importGroup{Kind: kind, Name: d.Name(), files: files})
		}
	}
	return list, nil
}

// jsonFiles lists the files of a folder that hold JSON. The path of the folder is
// no pattern: it may hold brackets.
func jsonFiles(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, d := range entries {
		if strings.HasSuffix(d.Name(), ".json") {
			files = append(files, filepath.Join(folder, d.Name()))
		}
	}
	return files, nil
}

// importer sends the files to the server.
type importer struct {
	api      *client.Client
	server   string
	parallel int
	progress *progress
}

func (i *importer) run(ctx context.Context, dir string) (*importReport, error) {
	config, documents, err := groups(dir)
	if err != nil {
		return nil, err
	}
	if err := i.check(ctx); err != nil {
		return nil, err
	}
	files, err := assets(dir)
	if err != nil {
		return nil, err
	}
	report := &importReport{Groups: append(config, documents...)}
	if len(files.files) > 0 {
		report.Groups = append(report.Groups, files)
	}
	total := 0
	for _, g := range report.Groups {
		total += len(g.files)
	}
	i.progress.begin(total)
	defer i.progress.end()
	for _, g := range config { // in order, for later ones refer to earlier ones
		for _, file := range g.files {
			if ctx.Err() != nil {
				return report, errInterrupted
			}
			o, err := i.config(ctx, g.Name, file)
			i.count(ctx, g, file, o, err)
		}
	}
	i.assets(ctx, files) // before the documents that name them
	for _, g := range documents {
		i.documents(ctx, g)
	}
	if ctx.Err() != nil {
		return report, errInterrupted
	}
	return report, nil
}

// check fails early, with words, when the server or the token is wrong.
func (i *importer) check(ctx context.Context) error {
	err := i.api.Users.Test(ctx)
	switch client.Status(err) {
	case http.StatusUnauthorized:
		return fmt.Errorf("the server at %s refuses the token (make one with `quoin token create`)", i.server)
	case http.StatusForbidden:
		return fmt.Errorf("the token may not use the API of %s: its user needs ROLE_API, and ROLE_ADMIN for the configuration", i.server)
	case http.StatusNotFound:
		return fmt.Errorf("the server at %s has no /api/test: is this the right server?", i.server)
	case 0:
		if err != nil {
			return noServer(i.server, err)
		}
	}
	return err
}

func noServer(server string, err error) error {
	if u, unread := url.Parse(server); unread == nil {
		server = u.Redacted()
	}
	return fmt.Errorf("no server at %s: %w (start one with `quoin serve`, or name it with --server)", server, err)
}

var errInterrupted = errors.New("interrupted: run the same command again, what is done is skipped")

// count notes what became of a file, unless the import was interrupted in the
// middle of it.
func (i *importer) count(ctx context.Context, g *importGroup, file string, o outcome, err error) {
	if err != nil && ctx.Err() != nil {
		return
	}
	g.count(file, o, err)
	i.progress.step(g.Name)
}
