package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/quoin-cms/quoin/core/blob"
	blobplace "github.com/quoin-cms/quoin/core/blob/place"
	"github.com/quoin-cms/quoin/core/testkit"
)

// stranger is somebody who is not root, with the program and a folder of their
// own. Permissions say nothing to root, so root becomes nobody for a command;
// whoever else runs the tests stays who they are.
type stranger struct {
	root       string
	program    string
	credential *syscall.Credential
}

func newStranger(t *testing.T) *stranger {
	t.Helper()
	root, err := os.MkdirTemp("", "quoin-doctor-") //nolint:usetesting // t.TempDir is for the user of the test alone
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	s := &stranger{root: root, program: filepath.Join(root, "quoin")}
	if err := os.Chmod(root, 0o755); err != nil { //nolint:gosec // another user goes through it
		t.Fatal(err)
	}
	if err := os.Link(os.Args[0], s.program); err != nil {
		if err := duplicate(os.Args[0], s.program); err != nil {
			t.Fatal(err)
		}
	}
	if os.Getuid() == 0 {
		s.credential = credentialOfNobody(t)
	}
	return s
}

func duplicate(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755) //nolint:gosec // another user runs it
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

func credentialOfNobody(t *testing.T) *syscall.Credential {
	t.Helper()
	account, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// own gives a folder with all that is in it to the stranger.
func (s *stranger) own(t *testing.T, folder string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || s.credential == nil {
			return err
		}
		return os.Chown(path, int(s.credential.Uid), int(s.credential.Gid))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// diagnose runs the doctor as the stranger and gives what failed, by check.
func (s *stranger) diagnose(t *testing.T, vars []string) map[string]finding {
	t.Helper()
	c := exec.CommandContext(t.Context(), s.program, "doctor", "--json")
	c.Env = append(vars, "QUOIN_TEST_CHILD=1", "GOCOVERDIR="+s.root)
	c.Dir, c.SysProcAttr = "/", &syscall.SysProcAttr{Credential: s.credential}
	var out, log bytes.Buffer
	c.Stdout, c.Stderr = &out, &log
	err := c.Run()
	if status := (&exec.ExitError{}); err != nil && !errors.As(err, &status) {
		t.Fatal(err)
	}
	var list []finding
	if err := json.Unmarshal(out.Bytes(), &list); err != nil {
		t.Fatalf("%v in %s%s", err, out.Bytes(), log.Bytes())
	}
	failed := map[string]finding{}
	for _, f := range list {
		if f.Level == "fail" {
			failed[f.Check] = f
		}
	}
	return failed
}

// TestTheDoctorFindsWhatCannotBeWritten: the folders of data and of files, and
// what is in them.
func TestTheDoctorFindsWhatCannotBeWritten(t *testing.T) {
	s := newStranger(t)
	for name, c := range map[string]struct {
		closed string            // which path nobody may write to
		want   map[string]string // what failed, and a word of what it says
	}{
		"nothing":                {"", nil},
		"the data folder":        {"data", map[string]string{"data folder": "permission denied", "database": "readonly"}},
		"the folder of files":    {"data/files", map[string]string{"data folder": "data/files"}},
		"where uploads begin":    {"data/files/staging", map[string]string{"data folder": "data/files/staging", "files": "cannot be written to"}},
		"a folder of blob.url":   {"elsewhere", map[string]string{"files": "elsewhere"}},
		"its folder for uploads": {"elsewhere/staging", map[string]string{"files": "cannot be written to"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // without a server the doctor waits for one
			place := filepath.Join(s.root, strings.ReplaceAll(name, " ", "-"))
			vars := variables(filepath.Join(place, "data"))
			if strings.HasPrefix(c.closed, "elsewhere") {
				vars = append(vars, "QUOIN_BLOB__URL="+filepath.Join(place, "elsewhere"))
			}
			if err := serve(t, vars).end(); err != nil { // which makes all of it
				t.Fatal(err)
			}
			s.own(t, place)
			if c.closed != "" {
				if err := os.Chmod(filepath.Join(place, c.closed), 0o500); err != nil { //nolint:gosec // what is to be found
					t.Fatal(err)
				}
				defer func() { _ = os.Chmod(filepath.Join(place, c.closed), 0o700) }() //nolint:gosec // or it cannot be removed
			}
			failed := s.diagnose(t, vars)
			for check, says := range c.want {
				if f := failed[check]; !strings.Contains(f.Says, says) || f.Do == "" {
					t.Errorf("%s: %+v", check, f)
				}
			}
			if len(failed) != len(c.want) {
				t.Errorf("failed: %+v", failed)
			}
		})
	}
}

// TestTheDoctorTellsRootWhatIsItsOwn: a command that root ran leaves files that
// the server cannot write to.
func TestTheDoctorTellsRootWhatIsItsOwn(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: only root can give files away, and these tests do not run as root")
	}
	s := newStranger(t)
	data := filepath.Join(s.root, "data")
	if err := serve(t, variables(data)).end(); err != nil {
		t.Fatal(err)
	}
	s.own(t, data)
	found, err := diagnose(t, variables(data))
	if f := found["data folder"]; err != nil || f.Level != "ok" {
		t.Errorf("%v %+v", err, f)
	}
	if err := os.Chown(filepath.Join(data, "quoin.db"), 0, 0); err != nil {
		t.Fatal(err)
	}
	found, err = diagnose(t, variables(data))
	if f := found["data folder"]; err != nil || f.Level != "warn" || !strings.Contains(f.Says, "quoin.db") || !strings.Contains(f.Do, "chown -R") {
		t.Errorf("%v %+v", err, f)
	}
	if f := s.diagnose(t, variables(data)); f["data folder"].Level != "fail" && f["database"].Level != "fail" {
		t.Errorf("the server would work: %+v", f)
	}
}

// TestTheDoctorFindsAFileInTheWay: the data folder cannot be there at all.
func TestTheDoctorFindsAFileInTheWay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, folder := range map[string]string{"not a folder": file, "not a directory": filepath.Join(file, "data")} {
		found, err := diagnose(t, variables(folder))
		if f := found["data folder"]; err == nil || f.Level != "fail" || !strings.Contains(f.Says, name) {
			t.Errorf("%s: %v %+v", folder, err, f)
		}
	}
}

// TestTheDoctorLeavesNothingBehind: it tries to write, into a bucket and into a
// folder.
func TestTheDoctorLeavesNothingBehind(t *testing.T) {
	for name, address := range map[string]string{"bucket": testkit.MinIO(t), "folder": t.TempDir()} {
		vars := variables(filepath.Join(t.TempDir(), "data"), "QUOIN_BLOB__URL="+address)
		s := serve(t, vars)
		if err := s.end(); err != nil {
			t.Fatal(err)
		}
		found, err := diagnose(t, vars)
		if err != nil || found["files"].Level != "ok" {
			t.Errorf("%s: %v %+v", name, err, found["files"])
		}
		store, err := blobplace.Open(address, 0)
		if err != nil {
			t.Fatal(err)
		}
		left := func(i blob.Info) error { return errors.New(i.Key + " is left") }
		if err := errors.Join(store.List(t.Context(), left), store.(blob.Stager).Stages(t.Context(), left)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
