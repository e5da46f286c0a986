package app

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/blob/place"
	"github.com/quoin-cms/quoin/core/conf"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/web"
)

// Server is the section `server`.
type Server struct {
	Listen         string           `yaml:"listen" doc:"Address to listen on."`
	Data           string           `yaml:"data" doc:"Folder for everything that is stored on this machine: the SQLite database, files, the search index."`
	MaxBody        conf.Bytes       `yaml:"max_body" doc:"Largest request body of operations that do not stream."`
	TrustedProxies []netip.Prefix   `yaml:"trusted_proxies" doc:"Networks such as 10.0.0.0/8 of the proxies in front of the server: the addresses they give are believed, in the log, in limits, and where guessing passwords is slowed down."`
	ProxyHeaders   web.ProxyHeaders `yaml:"proxy_headers" enum:"x-forwarded,forwarded" doc:"How these proxies tell whom they stand for: X-Forwarded-For, -Proto and -Host, or Forwarded (RFC 7239). The other is not read."`
	TLS            web.TLS          `yaml:"tls" doc:"HTTPS without a proxy."`
	RateLimits     web.Limits       `yaml:"rate_limits" doc:"How many requests are served before the answer is 429, with RateLimit headers in every answer. Each process counts for itself; health checks are not counted."`
	CORS           web.CORS         `yaml:"cors" doc:"Websites that may call the API from browsers. The endpoint of agents has a list of its own, mcp.allowed_origins."`
	DrainDelay     time.Duration    `yaml:"drain_delay" doc:"How long to go on serving after /readyz says no, so that load balancers notice. Set it to some seconds behind one."`
	StopWithin     time.Duration    `yaml:"stop_within" doc:"How long running requests and background work may take to finish when the server stops."`
}

// Validate implements the check of package conf.
func (s Server) Validate() error {
	var errs []error
	if _, _, err := net.SplitHostPort(s.Listen); err != nil {
		errs = append(errs, fmt.Errorf("listen: %q is not an address such as 127.0.0.1:8080", s.Listen))
	}
	if s.Data == "" {
		errs = append(errs, errors.New("data: must name a folder"))
	}
	if s.MaxBody < 1024 {
		errs = append(errs, errors.New("max_body: must be at least 1KiB"))
	}
	if s.DrainDelay < 0 {
		errs = append(errs, errors.New("drain_delay: must not be negative"))
	}
	if s.StopWithin <= 0 {
		errs = append(errs, errors.New("stop_within: must be positive"))
	}
	return errors.Join(errs...)
}

// Database is the section `database`.
type Database struct {
	URL          conf.Secret   `yaml:"url" doc:"postgres://user:password@host/name moves the server to PostgreSQL; empty means SQLite in the data folder."`
	MaxConns     int           `yaml:"max_conns" doc:"Connections to PostgreSQL, or readers of SQLite; 0 chooses."`
	AnswerWithin time.Duration `yaml:"answer_within" doc:"How long PostgreSQL may be silent while an answer is awaited, before it is taken for one that hangs and the request is answered with 503; 0 is no limit. Migrations have none."`
	AutoMigrate  bool          `yaml:"auto_migrate" doc:"Bring the database up to date at start. Otherwise the server refuses to start when it is behind: run quoin migrate up."`
}

// Validate implements the check of package conf.
func (d Database) Validate() error {
	var errs []error
	if d.MaxConns < 0 { // to SQLite it would mean no bound, and a new connection for each read
		errs = append(errs, errors.New("max_conns: must not be negative"))
	}
	if address := d.URL.Reveal(); strings.Contains(address, "://") { // PostgreSQL also takes key=value
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" { // the cause may hold the password
			errs = append(errs, errors.New("url: the address must be like postgres://user:password@host/name"))
		}
	}
	if d.AnswerWithin < 0 {
		errs = append(errs, errors.New("answer_within: must not be negative"))
	}
	return errors.Join(errs...)
}

// Instance is the section `instance`.
type Instance struct {
	ID string `yaml:"id" doc:"Prefix of the search aliases of this installation; ends with its separator."`
}

// Validate implements the check of package conf.
func (i Instance) Validate() error {
	if !regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`).MatchString(i.ID) {
		return fmt.Errorf("id: %q must be lower-case letters, digits, - and _, beginning with a letter", i.ID)
	}
	return nil
}

// Blob is the section `blob`.
type Blob struct {
	URL     conf.Secret `yaml:"url" doc:"Where files are kept: s3://key:secret@host:9000/bucket/prefix?tls=true&region=us-east-1 is a bucket of S3 or MinIO, file:///srv/files a folder; empty means the folder files in the data folder. Several replicas need a bucket or a shared folder."`
	MinFree conf.Bytes  `yaml:"min_free" doc:"Uploads into a folder are refused when less than this is free on its disk, so that the database keeps room."`
}

// Validate implements the check of package conf.
func (b Blob) Validate() error {
	if !b.URL.Set() {
		return nil
	}
	if err := place.Check(b.URL.Reveal()); err != nil {
		return fmt.Errorf("url: %w", err)
	}
	return nil
}

// Log is the section `log`.
type Log struct {
	Level  string `yaml:"level" enum:"debug,info,warn,error" doc:"The least level that is written."`
	Format string `yaml:"format" enum:"json,text" doc:"json for machines, text for people."`
}

// Events is the section `events`.
type Events struct {
	Lease     time.Duration `yaml:"lease" doc:"How long a delivery waits for its process before another one takes it over; what a killed process had in hand comes late by that much."`
	Retention time.Duration `yaml:"retention" doc:"How long events are kept after everybody got them."`
}

// Validate implements the check of package conf.
func (e Events) Validate() error {
	var errs []error
	if e.Lease < time.Second {
		errs = append(errs, errors.New("lease: must be at least 1s"))
	}
	if e.Retention < time.Minute {
		errs = append(errs, errors.New("retention: must be at least 1m"))
	}
	return errors.Join(errs...)
}

// Telemetry is the section `telemetry`.
type Telemetry struct {
	Listen string `yaml:"listen" doc:"Address for /metrics, which Prometheus reads, such as 127.0.0.1:9090; empty for none. Whoever reaches it needs no token."`

	Traces telemetry.Traces `yaml:"traces" doc:"OpenTelemetry traces of requests and of what follows from them."`
}

// Validate implements the check of package conf.
func (t Telemetry) Validate() error {
	if t.Listen == "" {
		return nil
	}
	if _, _, err := net.SplitHostPort(t.Listen); err != nil {
		return fmt.Errorf("listen: %q is not an address such as 127.0.0.1:9090", t.Listen)
	}
	return nil
}

// Switch is `modules.<name>`.
type Switch struct {
	Enabled bool `yaml:"enabled" doc:"false switches the module off: its endpoints, commands and subscriptions are gone; what it stored stays."`
}

// Config is the whole configuration, checked.
type Config struct {
	Server   Server
	Database Database
	Blob     Blob
	Log      Log
	Instance Instance
	Events   Events

	Telemetry Telemetry

	all      []module.Spec
	switches map[string]*Switch
	values   map[string]any // the config structs of the modules
	sections []conf.Section
	tree     *conf.Tree
}

// Declare gives a configuration that holds the defaults of the core and of
// every module, enabled or not.
func Declare(all []module.Spec) *Config {
	c := &Config{
		Server:   Server{Listen: "127.0.0.1:8080", Data: "./quoin-data", MaxBody: 16 << 20, ProxyHeaders: web.XForwarded, StopWithin: 20 * time.Second},
		Database: Database{AnswerWithin: time.Minute, AutoMigrate: true},
		Blob:     Blob{MinFree: 256 << 20},
		Log:      Log{Level: "info", Format: "json"},
		Instance: Instance{ID: "quoin_"},
		Events:   Events{Lease: 15 * time.Second, Retention: 7 * 24 * time.Hour},

		Telemetry: Telemetry{Traces: telemetry.Traces{Sample: 1}},

		all: all, switches: map[string]*Switch{}, values: map[string]any{},
	}
	c.sections = []conf.Section{
		{Name: "server", Value: &c.Server, Doc: "Where the server listens and stores."},
		{Name: "database", Value: &c.Database, Doc: "The database; SQLite needs no setting."},
		{Name: "blob", Value: &c.Blob, Doc: "Where files are kept; a folder needs no setting."},
		{Name: "log", Value: &c.Log, Doc: "The log goes to standard error, one line per request."},
		{Name: "events", Value: &c.Events, Doc: "The event bus: what happened is kept until every subscriber has it."},
		{Name: "telemetry", Value: &c.Telemetry, Doc: "What this process tells about itself: metrics and traces."},
		{Name: "instance", Value: &c.Instance, Doc: "The name of this installation towards search clients."},
	}
	for _, s := range all {
		c.switches[s.Name] = &Switch{Enabled: true}
		c.sections = append(c.sections, conf.Section{Name: "modules." + s.Name, Value: c.switches[s.Name], Doc: s.Summary})
		if s.Config != nil {
			c.values[s.Name] = s.Config()
			c.sections = append(c.sections, conf.Section{Name: s.Name, Value: c.values[s.Name], Doc: "Settings of the module " + s.Name + "."})
		}
	}
	return c
}

// Load reads and checks the configuration; the error names everything that is
// wrong with it at once.
func Load(all []module.Spec, opts conf.Options) (*Config, error) {
	tree, err := conf.Load(opts)
	if err != nil {
		return nil, err
	}
	c := Declare(all)
	c.tree = tree
	if err := conf.Check(tree, c.sections); err != nil {
		return nil, err
	}
	return c, nil
}

// Enabled reports whether a module is switched on.
func (c *Config) Enabled(name string) bool { s := c.switches[name]; return s != nil && s.Enabled }

// Modules are all modules there are.
func (c *Config) Modules() []module.Spec { return slices.Clone(c.all) }

// Print renders the configuration in force, with where each value came from.
func (c *Config) Print() []byte { return conf.Print(c.tree, c.sections) }

// Schema is the JSON Schema of the configuration.
func (c *Config) Schema() []byte { return conf.Schema(c.sections) }

// DefaultFile is the commented file of all defaults.
func (c *Config) DefaultFile() []byte { return conf.Defaults(c.sections) }

// databaseFile is the SQLite file.
func (c *Config) databaseFile() string { return filepath.Join(c.Server.Data, "quoin.db") }

// Unborn tells that the database is embedded and its file is not there yet.
func (c *Config) Unborn() bool {
	if c.Database.URL != "" {
		return false
	}
	_, err := os.Stat(c.databaseFile())
	return errors.Is(err, os.ErrNotExist)
}

// openBlobs opens the store of files; nothing is asked of a bucket yet.
func (c *Config) openBlobs() (blob.Store, error) {
	address := c.Blob.URL.Reveal()
	if address == "" {
		address = filepath.Join(c.Server.Data, "files")
	}
	return place.Open(address, int64(c.Blob.MinFree))
}

// StorageSummary says in words where the data is.
func (c *Config) StorageSummary() string {
	if c.Database.URL != "" {
		return "PostgreSQL"
	}
	return "SQLite in " + strings.TrimSuffix(c.Server.Data, "/")
}
