package file_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"sync/atomic"
	"testing"
)

// BenchmarkUpload stores files of 1 MB, each another one, by sixteen clients
// over HTTP; client and server share the time.
func BenchmarkUpload(b *testing.B) {
	s := serve(b, nil)
	body, contentType := form(b, "upload", "a.bin", "application/octet-stream", random(1<<20, 1))
	at := bytes.Index(body, []byte("\r\n\r\n")) + 4
	var n atomic.Uint64
	b.SetBytes(1 << 20)
	b.SetParallelism(8)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		mine := bytes.Clone(body)
		for pb.Next() {
			binary.LittleEndian.PutUint64(mine[at:], n.Add(1))
			if a, err := s.try(b.Context(), "ada", http.MethodPost, "/api/file/upload", bytes.NewReader(mine), "Content-Type", contentType); err != nil || a.status != 200 {
				b.Errorf("%v %v", a, err)
			}
		}
	})
}

// BenchmarkChunks stores files of 16 MB in chunks of 4 MB.
func BenchmarkChunks(b *testing.B) {
	s := serve(b, nil)
	data := random(16<<20, 1)
	var n uint64
	b.SetBytes(16 << 20)
	b.ReportAllocs()
	for b.Loop() {
		n++
		binary.LittleEndian.PutUint64(data, n)
		if _, err := s.upload("ada", data, 4<<20); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDownload reads a file of 1 MB.
func BenchmarkDownload(b *testing.B) {
	s := serve(b, nil)
	hash := s.post("a.bin", "", random(1<<20, 1)).Hash
	b.SetBytes(1 << 20)
	b.ReportAllocs()
	for b.Loop() {
		if a, err := s.try(b.Context(), "ada", http.MethodGet, "/api/file/"+hash, nil); err != nil || a.status != 200 {
			b.Fatal(err)
		}
	}
}

// BenchmarkHeads asks for a thousand files at once.
func BenchmarkHeads(b *testing.B) {
	s := serve(b, nil)
	hashes := []string{s.post("a.bin", "", []byte("x")).Hash}
	for i := range 999 {
		hashes = append(hashes, hashOf([]byte{byte(i), byte(i >> 8)}))
	}
	body, err := json.Marshal(hashes)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		s.call("ada", http.MethodPost, "/api/file/heads", body).is(200)
	}
}
