package web

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// TLS says where the certificate of the server is.
type TLS struct {
	Cert string `yaml:"cert" doc:"File with the certificate and those that lead to its root (PEM). With it and key the server speaks HTTPS, from TLS 1.2 on; a changed file is taken up within ten seconds, without a restart. Empty where a proxy does that."`
	Key  string `yaml:"key" doc:"File with the key of the certificate (PEM)."`
}

// Validate tells one without the other.
func (t TLS) Validate() error {
	if (t.Cert == "") != (t.Key == "") {
		return errors.New("cert and key are needed both, or neither")
	}
	return nil
}

// On reports whether the server speaks TLS.
func (t TLS) On() bool { return t.Cert != "" }

// lookAgain is how long a certificate is used before its files are looked at.
const lookAgain = 10 * time.Second

// Config gives the configuration of a server. It loads the certificate, and
// again whenever its files changed; one that cannot be loaded then leaves the
// old one in use, with a warning.
func (t TLS) Config(log *slog.Logger) (*tls.Config, error) {
	c := &certificate{files: t, log: log, now: time.Now}
	if err := c.load(); err != nil {
		return nil, fmt.Errorf("server.tls: %w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: c.get}, nil
}

type certificate struct {
	files TLS
	log   *slog.Logger
	now   func() time.Time

	mu     sync.Mutex
	loaded *tls.Certificate
	stamp  [2]fileStamp
	looked time.Time
}

// fileStamp tells a file from a later one.
type fileStamp struct {
	size int64
	at   time.Time
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); now.Sub(c.looked) >= lookAgain {
		c.looked = now
		if stamp, err := c.stamps(); err != nil || stamp != c.stamp {
			if err == nil {
				err = c.load()
			}
			if err != nil {
				c.log.Warn("the changed certificate could not be loaded; the old one stays in use", "cert", c.files.Cert, "error", err)
			} else {
				c.log.Info("the certificate was loaded again", "cert", c.files.Cert)
			}
		}
	}
	return c.loaded, nil
}

// load reads the files. The stamps are taken before, so that a change meanwhile
// is seen.
func (c *certificate) load() error {
	stamp, err := c.stamps()
	if err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(c.files.Cert, c.files.Key)
	if err != nil {
		return err
	}
	c.loaded, c.stamp, c.looked = &pair, stamp, c.now()
	return nil
}

func (c *certificate) stamps() (out [2]fileStamp, err error) {
	for i, name := range []string{c.files.Cert, c.files.Key} {
		info, err := os.Stat(name) // follows the links by which Kubernetes replaces secrets
		if err != nil {
			return out, err
		}
		out[i] = fileStamp{info.Size(), info.ModTime()}
	}
	return out, nil
}
