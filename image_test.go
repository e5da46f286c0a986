package main

import (
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// imageLimit is how large an image may be, as a registry keeps it.
const imageLimit = 40 << 20

// TestTheImage builds the binary as the Dockerfile does and weighs what the
// image is made of: the binary, certificates and time zones. Then it runs the
// server as the image does.
func TestTheImage(t *testing.T) {
	text, err := os.ReadFile("deployments/docker/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"FROM scratch", "CGO_ENABLED=0", "-trimpath", "USER 65532:65532", "VOLUME /data", `ENTRYPOINT ["/quoin"]`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the Dockerfile lacks %s", want)
		}
	}
	released, err := os.ReadFile("deployments/docker/Dockerfile.release")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(text), string(released)} { // for `kubectl exec … -- quoin doctor`
		if !regexp.MustCompile(`(?m)^ENV PATH=/ `).MatchString(text) {
			t.Errorf("quoin is not found by its name:\n%s", text)
		}
	}
	_, final, _ := strings.Cut(string(text), "FROM scratch")
	if strings.Contains(final, "RUN ") || strings.Count(final, "COPY ") != 4 {
		t.Errorf("the image holds something more:\n%s", final)
	}
	program := binary(t, string(text))
	size := compressed(t, program) + zones(t) + 256<<10 // certificates have 220 KB
	t.Logf("the image has about %.1f MB", float64(size)/(1<<20))
	if size > imageLimit {
		t.Errorf("the image has about %d bytes", size)
	}
	t.Run("as the container", func(t *testing.T) { inContainer(t, program) })
}

// binary builds the server with the command of the Dockerfile.
func binary(t *testing.T, dockerfile string) string {
	t.Helper()
	command := regexp.MustCompile(`go build .* /out/quoin \.`).FindString(dockerfile)
	out := filepath.Join(t.TempDir(), "quoin")
	cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(command, "/out/quoin", out, 1))
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "VERSION=v1.2.3")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, text)
	}
	said, err := exec.CommandContext(t.Context(), out, "version").Output()
	if err != nil || !strings.HasPrefix(string(said), "quoin v1.2.3 ") {
		t.Errorf("the version is %q, %v", said, err)
	}
	return out
}

// compressed is the size of a file in a layer.
func compressed(t *testing.T, path string) int64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var n counter
	w, err := gzip.NewWriterLevel(&n, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(w, f); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return int64(n)
}

type counter int64

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }

// zones is the size of Go's file of time zones.
func zones(t *testing.T) int64 {
	t.Helper()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// container runs the server in a root file system that holds nothing but it and
// is read-only except for /data, as a user without a name and without rights.
const container = `set -e
mount -t tmpfs none "$1"
mkdir "$1/data" "$1/tmp"
cp "$2" "$1/quoin"
mount -t tmpfs -o mode=0700,uid=65532,gid=65532 none "$1/data"
mount -o remount,ro "$1"
exec setpriv --no-new-privs --bounding-set=-all,+sys_chroot,+setuid,+setgid --inh-caps=-all chroot --userspec=65532:65532 --groups= "$1" /quoin serve
`

// inContainer starts the server as the image does.
func inContainer(t *testing.T, program string) {
	for _, tool := range []string{"unshare", "setpriv", "chroot", "mount"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED LOUDLY: there is no %s to run the server as in a container", tool)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "unshare", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED LOUDLY: no mount namespaces here, so the server is not run as in a container: %s", out)
	}
	s := &server{t: t, log: &logbook{}, done: make(chan struct{})}
	s.cmd = exec.Command("unshare", "--mount", "sh", "-c", container, "container", t.TempDir(), program)
	s.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "QUOIN_DATA=/data", "QUOIN_LISTEN=127.0.0.1:0", "QUOIN_ADMIN_PASSWORD=" + password, "QUOIN_CONTENT__SAMPLES=true"}
	s.begin()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(s.cmd.Process.Pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Name:\tquoin", "Uid:\t65532\t65532\t65532\t65532", "CapEff:\t0000000000000000", "CapPrm:\t0000000000000000", "NoNewPrivs:\t1"} {
		if !strings.Contains(string(status), want+"\n") {
			t.Errorf("%q is not in\n%s", want, status)
		}
	}
	s.login()
	s.must("POST", "/api/data/page/index/a?refresh=true", `{"label":"Kept"}`)
	s.must("POST", "/api/forms/submissions", `{"form_name":"f","instance":"i","locale":"en","data":{},"files":[{"filename":"a","mimeType":"text/plain","base64":"SGVsbG8=","size":"5","form_field":"a"}]}`)
	if _, answer := s.must("GET", "/readyz", ""); !strings.Contains(string(answer), `"ready"`) {
		t.Errorf("%s", answer)
	}
	if s.log.String() != "" {
		t.Errorf("the server complains:\n%s", s.log)
	}
}
