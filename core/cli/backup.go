package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/quoin-cms/quoin/core/app"
	"github.com/quoin-cms/quoin/core/backup"
)

func (e *env) backupCommand() *cobra.Command {
	c := group("backup", "Save everything that is stored, and make installations of it")
	c.AddCommand(
		&cobra.Command{
			Use: "create FILE", Short: "Write the database and all files into one new file", Args: cobra.ExactArgs(1), RunE: e.backupCreate,
			Long: "Write the database and all files into one new file, a ZIP archive. The server may run meanwhile: rows are those of one moment. The configuration is no part of it. - is standard output, for a pipe: the backup is whole when the command succeeds.\n\nThe file holds personal data, the hashes of passwords and the secrets of webhooks, and is not encrypted.",
		},
		&cobra.Command{
			Use: "verify FILE", Short: "Compare every checksum of a backup", Args: cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return e.backupVerify(cmd.Context(), args[0]) },
		},
		&cobra.Command{
			Use: "restore FILE", Short: "Make an installation of a backup", Args: cobra.ExactArgs(1), RunE: e.backupRestore,
			Long: "Make an installation of a backup, in the database and the storage that the configuration names: that is how an installation moves from SQLite to PostgreSQL, or from a folder to a bucket. Both must be empty. The search index is made at the next start; one that a Typesense server holds already is brought up to date with quoin environment rebuild --all.",
		},
	)
	return c
}

// place opens the installation of the configuration without changing it.
func (e *env) place(ctx context.Context) (*app.App, *backup.Place, error) {
	a, err := e.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	p, err := a.Place(e.Version)
	if err != nil {
		return nil, nil, errors.Join(err, a.Close())
	}
	p.Tell = func(line string) { _, _ = fmt.Fprintln(e.err, line) }
	return a, p, nil
}

func (e *env) backupCreate(cmd *cobra.Command, args []string) (err error) {
	if c, err := e.load(); err == nil && c.Unborn() { // opening it would make it
		return fmt.Errorf("there is no database in %s: is server.data right?", c.Server.Data)
	}
	a, p, err := e.place(cmd.Context())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if args[0] == "-" { // standard output is the backup
		m, err := backup.Write(cmd.Context(), p, e.out)
		if err != nil {
			return err
		}
		p.Tell("Saved " + m.Summary() + ".")
		return nil
	}
	m, err := backup.Create(cmd.Context(), p, args[0])
	if err != nil {
		return err
	}
	return e.tellBackup(m, "Saved ")
}

func (e *env) backupVerify(ctx context.Context, path string) (err error) {
	a, err := backup.OpenArchive(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := a.Verify(ctx); err != nil {
		return fmt.Errorf("%s is damaged:\n%w", path, err)
	}
	return e.tellBackup(&a.Manifest, "The backup is whole: ")
}

func (e *env) backupRestore(cmd *cobra.Command, args []string) (err error) {
	file, err := backup.OpenArchive(args[0])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	a, p, err := e.place(cmd.Context())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	if err := a.LockFolder(cmd.Context()); err != nil {
		return err
	}
	if err := backup.Restore(cmd.Context(), file, p); err != nil {
		return err
	}
	// An index of the embedded engine that is there can only be of another database.
	if err := os.RemoveAll(filepath.Join(a.Config.Server.Data, "search")); err != nil {
		return err
	}
	return e.tellBackup(&file.Manifest, "Restored ")
}

func (e *env) tellBackup(m *backup.Manifest, before string) error {
	if e.json {
		return e.printJSON(m)
	}
	_, err := fmt.Fprintln(e.out, before+m.Summary()+".")
	return err
}
