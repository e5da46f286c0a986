package mcp

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/quoin-cms/quoin/core/conf"
)

// The catalogues of tools.
const (
	catalogFull    = "full"
	catalogCompact = "compact"
)

// The forms of the names of tools per content type (spec.md 4.2).
const (
	namesDocument = "document" // get_document_page, create_document_page
	namesShort    = "short"    // get_page, save_page
)

// Config is the section `mcp`.
type Config struct {
	PublicURL            string        `yaml:"public_url" doc:"Address under which agents reach this server, such as https://cms.example.org. Empty: what the request says."`
	AllowedOrigins       []string      `yaml:"allowed_origins" doc:"Websites whose scripts may speak to /api/mcp, such as https://inspector.example.org. Others are refused with 403; programs that are no browsers send no origin."`
	AuthorizationServers []string      `yaml:"authorization_servers" doc:"Issuers named in the metadata of the protected resource (RFC 9728)."`
	Catalog              string        `yaml:"catalog" doc:"Which tools are listed: full (one to read and one to create per content type) or compact (a few that take the content type as an argument). A token or a client may choose the other; all can be called in any case."`
	ToolNames            string        `yaml:"tool_names" doc:"How tools per content type are listed: document (get_document_page, create_document_page) or short (get_page, save_page). Both can be called."`
	Publishing           bool          `yaml:"publishing" doc:"Whether agents may finalize and publish, after a person has confirmed it in their client. Without it they leave drafts."`
	SessionIdle          time.Duration `yaml:"session_idle" doc:"How long a session lasts without a request."`
	MaxSessions          int           `yaml:"max_sessions" doc:"Sessions of one token; the one that was not used for the longest time makes room."`
	MaxBody              conf.Bytes    `yaml:"max_body" doc:"Largest message."`
	MaxFile              conf.Bytes    `yaml:"max_file" doc:"Largest file that is given to an agent as part of an answer."`
	Fixtures             bool          `yaml:"conformance_fixtures" doc:"Offer the tools, prompts and resources that the public conformance suite calls. For tests only."`
}

// Defaults is the configuration of an installation that says nothing.
func Defaults() *Config {
	return &Config{
		Catalog: catalogFull, ToolNames: namesDocument, Publishing: true, SessionIdle: 24 * time.Hour, MaxSessions: 100,
		MaxBody: 4 << 20, MaxFile: 1 << 20,
	}
}

// Validate implements the check of package conf.
func (c *Config) Validate() error {
	var errs []error
	if c.Catalog != catalogFull && c.Catalog != catalogCompact {
		errs = append(errs, errors.New("catalog: must be full or compact"))
	}
	if c.ToolNames != namesDocument && c.ToolNames != namesShort {
		errs = append(errs, errors.New("tool_names: must be document or short"))
	}
	for key, list := range map[string][]string{"allowed_origins": c.AllowedOrigins, "authorization_servers": c.AuthorizationServers} {
		for _, v := range list {
			if !isBase(v) {
				errs = append(errs, fmt.Errorf("%s: %q is not an address such as https://example.org", key, v))
			}
		}
	}
	if c.PublicURL != "" && !isBase(c.PublicURL) {
		errs = append(errs, errors.New("public_url: must be an address such as https://cms.example.org"))
	}
	if c.SessionIdle < time.Minute {
		errs = append(errs, errors.New("session_idle: must be at least 1m"))
	}
	if c.MaxSessions < 1 || c.MaxSessions > 100_000 {
		errs = append(errs, errors.New("max_sessions: must be between 1 and 100000"))
	}
	if c.MaxBody < 1<<10 || c.MaxBody > 64<<20 {
		errs = append(errs, errors.New("max_body: must be between 1KiB and 64MiB"))
	}
	if c.MaxFile < 0 || c.MaxFile > 64<<20 {
		errs = append(errs, errors.New("max_file: must be at most 64MiB"))
	}
	return errors.Join(errs...)
}

// isBase reports whether the text is the address of a server.
func isBase(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}
