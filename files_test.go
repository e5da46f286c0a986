package main

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // the names of files
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/testkit"
)

const clientVariable = "QUOIN_TEST_UPLOADER"

// TestKillInTheMiddleOfAnUpload sends 64 MB in chunks of 8 MB, with kill -9 of
// the server and of the client again and again, to a folder and to MinIO.
func TestKillInTheMiddleOfAnUpload(t *testing.T) {
	t.Parallel()
	t.Run("folder", func(t *testing.T) { killUploads(t, "QUOIN_DATA="+t.TempDir()) })
	t.Run("minio", func(t *testing.T) {
		killUploads(t, "QUOIN_DATA="+t.TempDir(), "QUOIN_BLOB__URL="+testkit.MinIO(t))
	})
	t.Run("postgres and minio", func(t *testing.T) {
		killUploads(t, "QUOIN_DATA="+t.TempDir(), "QUOIN_DATABASE_URL="+testkit.Postgres(t, testkit.WithoutFsync()), "QUOIN_BLOB__URL="+testkit.MinIO(t))
	})
}

const (
	uploadSize = 64 << 20
	chunkSize  = 8 << 20
)

func killUploads(t *testing.T, vars ...string) {
	data := make([]byte, uploadSize)
	_, _ = rand.NewChaCha8([32]byte{7}).Read(data) // never fails
	sum := sha1.Sum(data)                          //nolint:gosec // the name of the file
	hash := hex.EncodeToString(sum[:])
	file := filepath.Join(t.TempDir(), "film.mp4")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, vars...)
	s.login()
	kills, stalls, last := 0, 0, int64(0)
	for round := 0; ; round++ {
		st := s.initUpload(hash)
		if st.Uploaded < last || st.Uploaded > uploadSize {
			t.Fatalf("round %d: %d bytes were acknowledged, and %d are left", round, last, st.Uploaded)
		}
		if st.Available {
			break
		}
		if stalls++; st.Uploaded > last {
			stalls = 0
		}
		if stalls > 50 {
			t.Fatal("no end")
		}
		last = st.Uploaded
		client := uploader(t, s, file, hash, st.Uploaded, round%3 == 0)
		if killed := waitOrKill(t, client, s, round, stalls); killed {
			kills++
		}
		if round%2 == 1 {
			s.kill()
			s = start(t, vars...)
			s.login()
		}
	}
	if kills < 2 {
		t.Errorf("only %d kills: the upload was not interrupted", kills)
	}
	status, body := s.must(http.MethodGet, "/data/file/"+hash, "")
	if !bytes.Equal(body, data) {
		t.Errorf("%d: %d bytes came back, and they are not the ones that were sent", status, len(body))
	}
	t.Logf("%d kills", kills)
}

type uploadState struct {
	Success, Available bool
	Uploaded           int64
	Error              []string
}

func (s *server) initUpload(hash string) uploadState {
	s.t.Helper()
	_, answer := s.must(http.MethodPost, "/api/file/init-upload", fmt.Sprintf(`{"hash":%q,"size":%d,"name":"film.mp4","type":"video/mp4"}`, hash, uploadSize))
	var st uploadState
	if err := json.Unmarshal(answer, &st); err != nil || !st.Success {
		s.t.Fatalf("%v %s\n%s", err, answer, s.log)
	}
	return st
}

// uploader starts a client in a process of its own: this program, see TestMain.
// With offsets, what came of a chunk is kept.
func uploader(t *testing.T, s *server, file, hash string, from int64, offsets bool) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], s.base+"/api/file/chunk/"+hash, s.token, file, fmt.Sprint(from), fmt.Sprint(offsets))
	c.Env = append(os.Environ(), clientVariable+"=1")
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// waitOrKill lets the client run for some time, then kills it; in every second
// round the server goes first. After rounds that have stalled the time is longer:
// a machine may be too busy for even one chunk.
func waitOrKill(t *testing.T, client *exec.Cmd, s *server, round, stalls int) (killed bool) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- client.Wait() }()
	select {
	case <-ended:
		return false
	case <-time.After(time.Duration((300+rand.IntN(500))*(stalls+1)) * time.Millisecond):
	}
	if round%2 == 1 {
		s.kill()
	}
	_ = client.Process.Kill()
	<-ended
	return true
}

// runUploader is the client: it sends chunks, one after the other, and slowly,
// so that there is time to kill it.
func runUploader(args []string) int {
	if err := sendChunks(args[0], args[1], args[2], args[3], args[4] == "true"); err != nil {
		return 1
	}
	return 0
}

func sendChunks(url, token, file, from string, offsets bool) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	var at int64
	if _, err := fmt.Sscan(from, &at); err != nil {
		return err
	}
	client := &http.Client{Timeout: time.Minute}
	for at < uploadSize {
		n := min(chunkSize, uploadSize-at)
		req, err := http.NewRequest(http.MethodPost, url, &slow{io.NewSectionReader(f, at, n)})
		if err != nil {
			return err
		}
		req.ContentLength = n
		req.Header.Set("X-Auth-Token", token)
		if offsets {
			req.Header.Set("Upload-Offset", fmt.Sprint(at))
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		var st uploadState
		err = json.NewDecoder(resp.Body).Decode(&st)
		_ = resp.Body.Close()
		if err != nil || !st.Success {
			return fmt.Errorf("%w %v", err, st.Error)
		}
		at += n
	}
	return nil
}

// slow makes a pause after each piece.
type slow struct{ r io.Reader }

// Read implements io.Reader.
func (s *slow) Read(p []byte) (int, error) {
	<-time.After(time.Millisecond)
	return s.r.Read(p)
}

var hashInText = regexp.MustCompile(`[0-9a-f]{40}`)

// checkAssets finds, by its hash, every file of the export that a document
// names.
func checkAssets(t *testing.T, s *server, site string) {
	t.Helper()
	files := map[string][]byte{}
	paths, err := filepath.Glob(filepath.Join(site, "admin", "assets", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha1.Sum(data) //nolint:gosec // the name of the file
		files[hex.EncodeToString(sum[:])] = data
	}
	documents, err := filepath.Glob(filepath.Join(site, "document", "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, path := range documents {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, hash := range hashInText.FindAll(raw, -1) {
			if files[string(hash)] != nil {
				named[string(hash)] = true
			}
		}
	}
	for hash := range named {
		if _, body := s.must(http.MethodGet, "/data/file/"+hash, ""); !bytes.Equal(body, files[hash]) {
			t.Errorf("the file %s is not the one of the export", hash)
		}
	}
	if len(named) == 0 {
		t.Error("the documents name no file of the export")
	}
	t.Logf("%d of %d files of the export are named by documents", len(named), len(files))
}
