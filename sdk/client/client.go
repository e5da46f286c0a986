// Package client speaks to the HTTP API of a Quoin server. It needs the
// standard library only.
//
//	c, err := client.New("https://cms.example.org", client.WithToken("qn_…"))
//	…
//	page, err := c.Documents("page").Get(ctx, "welcome")
//	if client.Status(err) == http.StatusNotFound { … }
//
// What the server refuses is an *Error. Calls that may be made twice with the
// same effect are tried again when the server is busy or the connection broke;
// all others are made once. Every call ends with its context.
//
// Rows of the contract are named after its parts: "spec 4.5" is the Data API.
package client

import (
	"errors"
	"fmt"
	"hash"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// Client calls one server as one user. It is safe for concurrent use.
type Client struct {
	Users    *Users
	Search   *Search
	Files    *Files
	Forms    *Forms
	Webhooks *Webhooks
	Jobs     *Jobs
	Config   *Config

	base     string
	token    string
	settings settings
	answered *atomic.Bool            // the server has answered once
	algo     *atomic.Pointer[string] // by which it names files, when known
}

type settings struct {
	http    *http.Client
	agent   string
	retries int
	timeout time.Duration
	limit   int64
	hashes  map[string]func() hash.Hash
	token   string
}

// Option changes how a Client works.
type Option func(*settings)

// WithToken sends a token with every call.
func WithToken(token string) Option { return func(s *settings) { s.token = token } }

// WithHTTPClient makes the calls with h instead of an http.Client of its own.
// Redirects are not followed in any case, so that no token goes elsewhere, and a
// Timeout of h counts for streams as well: better leave it 0.
func WithHTTPClient(h *http.Client) Option { return func(s *settings) { s.http = h } }

// WithUserAgent says who calls, such as "shop/1.2".
func WithUserAgent(agent string) Option { return func(s *settings) { s.agent = agent } }

// WithRetries says how often a call is tried again; without it that is 4, and 0
// is never. See Error.Temporary.
func WithRetries(n int) Option { return func(s *settings) { s.retries = max(n, 0) } }

// WithTimeout bounds the time of one try of a call, in which the whole answer
// has to come; for streams only their beginning. Without it that is a minute.
func WithTimeout(d time.Duration) Option { return func(s *settings) { s.timeout = d } }

// WithAnswerLimit bounds what is read of an answer that is no stream, in bytes.
// Without it that is 64 MiB.
func WithAnswerLimit(bytes int64) Option { return func(s *settings) { s.limit = bytes } }

// WithHash teaches the client a hash by which a server may name files, such as
// "blake3". It knows sha1 and sha256.
func WithHash(name string, hash func() hash.Hash) Option {
	return func(s *settings) { s.hashes[name] = hash }
}

// New makes a client of the server at base: http or https, a host, and perhaps a
// path in front of the API's own. No call is made.
func New(base string, options ...Option) (*Client, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return nil, errors.New("the address of the server is no URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("the address of the server must begin with http:// or https:// and a host, not %.60q", u.Redacted())
	case u.User != nil:
		return nil, errors.New("the address of the server must hold no user name and password")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the address of the server must end with a path: no ? and no #")
	}
	s := settings{agent: "quoin-client", retries: 4, timeout: time.Minute, limit: 64 << 20, hashes: knownHashes()}
	for _, o := range options {
		o(&s)
	}
	if s.http == nil {
		s.http = &http.Client{Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true,
			TLSHandshakeTimeout: 10 * time.Second, ExpectContinueTimeout: time.Second,
		}}
	}
	own := *s.http
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s.http = &own
	c := &Client{base: strings.TrimRight(u.String(), "/"), settings: s, answered: &atomic.Bool{}, algo: &atomic.Pointer[string]{}}
	return c.as(s.token), nil
}

// WithToken gives a client like c that sends another token: of a user who has
// just signed in, or on whose behalf something is done.
func (c *Client) WithToken(token string) *Client {
	other := *c
	return other.as(token)
}

func (c *Client) as(token string) *Client {
	c.token = token
	c.Users, c.Search, c.Files, c.Forms = &Users{c}, &Search{c}, &Files{c}, &Forms{c}
	c.Webhooks, c.Jobs, c.Config = &Webhooks{c}, &Jobs{c}, &Config{c}
	return c
}
