package mcp

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"

	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
)

const fileOutput = `{"type":"object","properties":{"hash":{"type":"string"},"name":{"type":"string"},"type":{"type":"string"},"size":{"type":"integer"},"algo":{"type":"string"}},"required":["hash"]}`

const argHash = `"hash":{"type":"string"}`

// chunkSize is how much of a file one answer may carry, in bytes (contract-notes
// 1.2).
const chunkSize = 5 << 20

// roomForCall is what a message needs beside the bytes of a piece.
const roomForCall = 1 << 10

// pieceSize is how much of a file one call may carry, in bytes: base64 makes
// four of three, and the message must fit max_body.
func (c *Config) pieceSize() int {
	return min(chunkSize, max(0, (int(c.MaxBody)-roomForCall)/4*3))
}

func (s *Service) fileTools() []*tool {
	if s.Files == nil {
		return nil
	}
	announce := `{"type":"object","properties":{` + argHash + `,"size":{"type":"integer","minimum":0},"name":{"type":"string"},"type":{"type":"string"},"algo":{"type":"string"}},` +
		`"required":["hash","size"],"additionalProperties":false}`
	return []*tool{
		{
			name: "get_upload_instructions", title: "Upload", description: "How to send a file over HTTP and put it into a field.",
			input: none, output: `{"type":"object"}`, readOnly: true, idempotent: true, full: true, compact: true, offered: always, run: s.runInstructions,
		}, {
			name: "get_asset_info", title: "File", description: "What is known about a file, with the object for an asset field.",
			input: `{"type":"object","properties":{` + argHash + `},"required":["hash"],"additionalProperties":false}`, output: fileOutput,
			readOnly: true, idempotent: true, full: true, offered: always, run: s.runFile,
		}, {
			name: "current_storage_algorithm", title: "Hash algorithm", description: "Which hash names files.",
			input: none, output: `{"type":"object","properties":{"algorithm":{"type":"string"}},"required":["algorithm"]}`,
			readOnly: true, idempotent: true, full: true, offered: always,
			run: func(context.Context, *call) (*result, error) {
				return object(map[string]string{"algorithm": s.Files.HashAlgorithm()})
			},
		}, {
			name: "init_asset_upload", title: "Begin upload", description: "Announce a small file that you send in pieces with upload_asset_chunk.",
			input: announce, output: fileOutput, idempotent: true, full: true, offered: always, run: s.runInit,
		}, {
			name: "upload_asset_chunk", title: "Upload piece", description: fmt.Sprintf("Send the next bytes of an announced file in base64, %d bytes of the file at most.", s.cfg.pieceSize()),
			input:  `{"type":"object","properties":{` + argHash + `,"chunkBase64":{"type":"string"}},"required":["hash","chunkBase64"],"additionalProperties":false}`,
			output: fileOutput, full: true, offered: always, run: s.runChunk,
		}, {
			name: "download_asset_chunk", title: "Read file", description: "Read bytes of a file in base64, 5 MiB at most.",
			input:  `{"type":"object","properties":{` + argHash + `,"offset":{"type":"integer","minimum":0},"length":{"type":"integer","minimum":1}},"required":["hash"],"additionalProperties":false}`,
			output: fileOutput, readOnly: true, idempotent: true, full: true, offered: always, run: s.runDownload,
		},
	}
}

func (s *Service) runInstructions(ctx context.Context, c *call) (*result, error) {
	base := s.base(c)
	return object(map[string]any{
		"algorithm": s.Files.HashAlgorithm(), "maxSize": s.Files.MaxFileSize(),
		"authentication": "the header X-Auth-Token or Authorization: Bearer with the token of this connection",
		"whole":          map[string]string{"method": "POST", "url": base + "/api/file/upload", "body": "multipart/form-data with the file in the field upload"},
		"inPieces": map[string]any{
			"begin": map[string]string{"method": "POST", "url": base + "/api/file/init-upload", "body": `{"hash":…,"size":…,"name":…,"type":…}`},
			"piece": map[string]string{"method": "POST", "url": base + "/api/file/chunk/{hash}", "body": "the next bytes; begin tells how many are there (uploaded)"},
			"until": "available is true",
		},
		"field": map[string]string{
			"_hash": "hash", "_name": "file name", "_type": "media type", "_size": "bytes (integer)", "_algo": s.Files.HashAlgorithm(),
		},
		"example": "curl -H 'X-Auth-Token: …' -F upload=@photo.jpg " + base + "/api/file/upload",
	})
}

// fileAnswer is a file as tools answer it.
type fileAnswer struct {
	Hash       string         `json:"hash"`
	Name       string         `json:"name"`
	Type       string         `json:"type"`
	Size       int64          `json:"size"`
	Algo       string         `json:"algo"`
	Available  *bool          `json:"available,omitempty"`
	Uploaded   *int64         `json:"uploaded,omitempty"`
	Status     string         `json:"status,omitempty"`
	User       string         `json:"user,omitempty"`
	ChunkSize  int            `json:"chunkSize,omitempty"`
	FileObject map[string]any `json:"fileObject,omitempty"`
	Offset     *int64         `json:"offset,omitempty"`
	Received   *int           `json:"bytesRead,omitempty"`
	Next       *int64         `json:"nextOffset,omitempty"`
	EOF        *bool          `json:"eof,omitempty"`
	Chunk      string         `json:"chunkBase64,omitempty"`
}

func answerOf(f *port.File) fileAnswer {
	return fileAnswer{Hash: f.Hash, Name: f.Name, Type: f.Type, Size: f.Size, Algo: f.Algo}
}

func (s *Service) uploadOf(u *port.FileUpload, err error) (*result, error) {
	if err != nil {
		return nil, err
	}
	a := answerOf(&u.File)
	a.Available, a.Uploaded, a.Status, a.User, a.ChunkSize = &u.Available, &u.Uploaded, "created", u.User, s.cfg.pieceSize()
	return object(a)
}

func (s *Service) runFile(ctx context.Context, c *call) (*result, error) {
	var a struct{ Hash string }
	if err := c.into(&a); err != nil {
		return nil, err
	}
	f, err := s.Files.File(ctx, a.Hash)
	if err != nil {
		return nil, err
	}
	out := answerOf(f)
	out.FileObject = map[string]any{"_hash": f.Hash, "_name": f.Name, "_type": f.Type, "_size": f.Size, "_algo": f.Algo}
	return object(out)
}

func (s *Service) runInit(ctx context.Context, c *call) (*result, error) {
	var a port.File
	if err := c.into(&a); err != nil {
		return nil, err
	}
	return s.uploadOf(s.Files.BeginUpload(ctx, a))
}

func (s *Service) runChunk(ctx context.Context, c *call) (*result, error) {
	var a struct {
		Hash  string
		Chunk string `json:"chunkBase64"`
	}
	if err := c.into(&a); err != nil {
		return nil, err
	}
	chunk, err := base64.StdEncoding.DecodeString(a.Chunk)
	if err != nil {
		return nil, problem.Field(problem.Invalid, "chunkBase64", "is not base64")
	}
	if len(chunk) > s.cfg.pieceSize() {
		return nil, problem.Field(problem.TooLarge, "chunkBase64", "holds more than %d bytes: send smaller pieces, or the file over HTTP (see get_upload_instructions)", s.cfg.pieceSize())
	}
	u, err := s.Files.AddChunk(ctx, a.Hash, bytes.NewReader(chunk), int64(len(chunk)))
	return s.uploadOf(u, err)
}

func (s *Service) runDownload(ctx context.Context, c *call) (*result, error) {
	var a struct {
		Hash   string
		Offset int64
		Length int64
	}
	if err := c.into(&a); err != nil {
		return nil, err
	}
	f, err := s.Files.File(ctx, a.Hash)
	if err != nil {
		return nil, err
	}
	if a.Length == 0 || a.Length > chunkSize {
		a.Length = chunkSize
	}
	if a.Offset > f.Size {
		return nil, problem.Field(problem.Invalid, "offset", "is behind the end of the file, %d bytes", f.Size)
	}
	part, err := s.readFile(ctx, a.Hash, a.Offset, a.Length)
	if err != nil {
		return nil, err
	}
	out := answerOf(f)
	n, next := len(part), a.Offset+int64(len(part))
	eof := next >= f.Size
	out.Offset, out.Received, out.Next, out.EOF, out.Chunk = &a.Offset, &n, &next, &eof, base64.StdEncoding.EncodeToString(part)
	return object(out)
}

// readFile gives up to length bytes of a file.
func (s *Service) readFile(ctx context.Context, hash string, offset, length int64) ([]byte, error) {
	r, err := s.Files.OpenFile(ctx, hash)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // only read
	if _, err := r.Seek(offset, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, length))
}
