package web

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// issue writes a certificate with the name.
func issue(t *testing.T, files TLS, name string, at time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(at.UnixNano()), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, files.Cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), at)
	write(t, files.Key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), at)
}

func write(t *testing.T, name string, content []byte, at time.Time) {
	t.Helper()
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, at, at); err != nil {
		t.Fatal(err)
	}
}

// TestTLSTakesUpAChangedCertificate replaces the files of a server that runs,
// with good ones and with broken ones.
func TestTLSTakesUpAChangedCertificate(t *testing.T) {
	files := TLS{Cert: filepath.Join(t.TempDir(), "tls.crt"), Key: filepath.Join(t.TempDir(), "tls.key")}
	start := time.Now()
	issue(t, files, "first", start)
	var log bytes.Buffer
	c := &certificate{files: files, log: slog.New(slog.NewTextHandler(&log, nil)), now: func() time.Time { return start }}
	if err := c.load(); err != nil {
		t.Fatal(err)
	}
	config, err := files.Config(slog.New(slog.DiscardHandler))
	if err != nil || config.MinVersion != tls.VersionTLS12 {
		t.Fatalf("%+v, %v", config, err)
	}
	config.GetCertificate = c.get
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.NotFoundHandler(), TLSConfig: config, ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	ended := make(chan error, 1)
	go func() { ended <- server.ServeTLS(listener, "", "") }()
	defer func() { _ = server.Close(); <-ended }()
	name := func() string {
		t.Helper()
		conn, err := tls.Dial("tcp", listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}) //nolint:gosec // its name is looked at
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if p := conn.ConnectionState().NegotiatedProtocol; p != "h2" {
			t.Errorf("the protocol is %q", p)
		}
		return conn.ConnectionState().PeerCertificates[0].Subject.CommonName
	}
	step := func(what, want string, after time.Duration) {
		t.Helper()
		c.mu.Lock()
		c.now = func() time.Time { return start.Add(after) }
		c.mu.Unlock()
		if got := name(); got != want {
			t.Errorf("%s: the certificate is %q, want %q", what, got, want)
		}
	}
	step("at first", "first", 0)
	issue(t, files, "second", start.Add(time.Minute))
	step("at once", "first", time.Second)
	step("a little later", "second", 11*time.Second)
	write(t, files.Cert, []byte("broken"), start.Add(2*time.Minute))
	step("broken", "second", 22*time.Second)
	if err := os.Remove(files.Key); err != nil {
		t.Fatal(err)
	}
	step("gone", "second", 33*time.Second)
	issue(t, files, "third", start.Add(3*time.Minute))
	step("repaired", "third", 44*time.Second)
	if n := strings.Count(log.String(), "could not be loaded"); n != 2 {
		t.Errorf("%d warnings\n%s", n, &log)
	}
	if _, err := tls.Dial("tcp", listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11}); err == nil { //nolint:gosec // that is the point
		t.Error("TLS 1.1 is spoken")
	}
}

func TestTLSValidate(t *testing.T) {
	if (TLS{}).Validate() != nil || (TLS{Cert: "a", Key: "b"}).Validate() != nil || (TLS{Cert: "a"}).Validate() == nil || (TLS{Key: "b"}).Validate() == nil {
		t.Error("one without the other, or both")
	}
	if _, err := (TLS{Cert: "/nowhere", Key: "/nowhere"}).Config(slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a server without a certificate starts")
	}
}
