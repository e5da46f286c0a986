package app_test

import (
	"crypto/sha1" //nolint:gosec // names files
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/modules"
)

// TestPiecesOfFilesFitAMessage sends a file in pieces of base64 that are as
// large as may be, and larger ones.
func TestPiecesOfFilesFitAMessage(t *testing.T) {
	r := start(t, load(t, modules.All(), folder(t), append(cheap(), "mcp.max_body=64KiB")...))
	a := &agent{running: r, token: r.login()}
	type upload struct {
		Available bool
		ChunkSize int
	}
	data := func(name string, args map[string]any) (u upload, answer toolAnswer) {
		t.Helper()
		raw := a.call("tools/call", name, map[string]any{"name": name, "arguments": args})
		if raw.Error != nil {
			return u, toolAnswer{IsError: true, Content: []struct{ Text string }{{raw.Error.Message}}}
		}
		var out struct {
			Data upload `json:"structuredContent"`
		}
		if err := json.Unmarshal(raw.Result, &answer); err != nil {
			t.Fatal(err)
		}
		if !answer.IsError {
			if err := json.Unmarshal(raw.Result, &out); err != nil {
				t.Fatal(err)
			}
		}
		return out.Data, answer
	}
	file := []byte(strings.Repeat("0123456789abcde\n", 6<<10)) // 96 KiB
	sum := sha1.Sum(file)                                      //nolint:gosec // as above
	hash := hex.EncodeToString(sum[:])
	begun, answer := data("init_asset_upload", map[string]any{"hash": hash, "size": len(file), "name": "a.txt", "type": "text/plain"})
	if answer.IsError || begun.ChunkSize < 32<<10 || begun.ChunkSize > 48<<10 {
		t.Fatalf("%+v %+v", begun, answer)
	}
	chunk := func(n int) map[string]any {
		return map[string]any{"hash": hash, "chunkBase64": base64.StdEncoding.EncodeToString(file[:n])}
	}
	for _, n := range []int{begun.ChunkSize + 3, 60 << 10} { // what the tool refuses, and what does not get there
		if _, answer := data("upload_asset_chunk", chunk(n)); !answer.IsError || !strings.Contains(answer.text(), "get_upload_instructions") {
			t.Errorf("%d bytes: %+v", n, answer)
		}
	}
	if _, answer := data("upload_asset_chunk", map[string]any{"hash": hash, "chunkBase64": "%%%"}); !answer.IsError || !strings.Contains(answer.text(), "base64") {
		t.Errorf("%+v", answer)
	}
	var last upload
	for rest := file; len(rest) > 0; {
		n := min(len(rest), begun.ChunkSize)
		last, answer = data("upload_asset_chunk", map[string]any{"hash": hash, "chunkBase64": base64.StdEncoding.EncodeToString(rest[:n])})
		if answer.IsError {
			t.Fatalf("%+v", answer)
		}
		rest = rest[n:]
	}
	if !last.Available {
		t.Errorf("%+v", last)
	}
	if _, answer := data("download_asset_chunk", map[string]any{"hash": hash, "offset": 1 << 30}); !answer.IsError {
		t.Errorf("%+v", answer)
	}
	if got := a.tool("get_upload_instructions", nil); got.IsError || !strings.Contains(got.text(), "/api/file/upload") {
		t.Errorf("%+v", got)
	}
}
