package search

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/conf"
)

// Config is the section `search` of the configuration.
type Config struct {
	Engine         string        `yaml:"engine" enum:"embedded,typesense" doc:"Which engine answers searches. embedded keeps its index in the data folder of one process. typesense is a server or cluster of its own, and any number of processes may share it."`
	URL            string        `yaml:"url" doc:"With typesense: where the server is, such as http://search:8108. The nodes of a cluster are separated by commas."`
	Key            conf.Secret   `yaml:"key" doc:"With typesense: its API key, which must be allowed to create, fill, search and drop collections."`
	Prefix         string        `yaml:"prefix" doc:"With typesense: what the names of all collections begin with. Installations that share a server must differ in it."`
	Batch          int           `yaml:"batch" doc:"How many changed documents are indexed at once, at most."`
	RebuildAfter   time.Duration `yaml:"rebuild_after" doc:"How long the configuration of content types and analyzers must be quiet before indexes are built anew; asking for a refresh does it at once."`
	KeepReplaced   time.Duration `yaml:"keep_replaced" doc:"How long an index that was replaced by a rebuild still answers under its own name, for clients that remember names of indexes. It takes memory as long."`
	RefreshTimeout time.Duration `yaml:"refresh_timeout" doc:"How long POST /api/search/refresh waits."`
	Timeout        time.Duration `yaml:"timeout" doc:"Longest time of one search."`
	MaxRequest     conf.Bytes    `yaml:"max_request" doc:"Largest body of a search request."`

	Scrolls         int           `yaml:"scrolls" doc:"How many scrolls may be open at once; one more is answered with 429. With typesense the ids of scrolls hold them: any number may be open, and the process keeps so many at hand."`
	ScrollsPerUser  int           `yaml:"scrolls_per_user" doc:"With embedded: how many of them one user may have."`
	ScrollKeepAlive time.Duration `yaml:"scroll_keep_alive" doc:"Longest time that a client may ask a scroll to wait for the next page."`
}

func defaults() *Config {
	return &Config{
		Engine: "embedded", Prefix: "qi", Batch: 512, RebuildAfter: 1500 * time.Millisecond, KeepReplaced: time.Minute,
		RefreshTimeout: 25 * time.Second, Timeout: 20 * time.Second, MaxRequest: 4 << 20,
		Scrolls: 300, ScrollsPerUser: 100, ScrollKeepAlive: time.Hour,
	}
}

// Validate implements the check of package conf.
func (c *Config) Validate() error {
	errs := c.validateServer()
	if c.Batch < 1 || c.Batch > 10_000 {
		errs = append(errs, errors.New("batch: must be between 1 and 10000"))
	}
	if c.RebuildAfter < settleTime {
		errs = append(errs, errors.New("rebuild_after: must be at least "+settleTime.String()))
	}
	if c.KeepReplaced < time.Second { // a search that runs may be about to open it
		errs = append(errs, errors.New("keep_replaced: must be at least 1s"))
	}
	if c.RefreshTimeout <= 0 {
		errs = append(errs, errors.New("refresh_timeout: must be positive"))
	}
	if c.Timeout <= 0 {
		errs = append(errs, errors.New("timeout: must be positive"))
	}
	if c.MaxRequest < 1024 {
		errs = append(errs, errors.New("max_request: must be at least 1KiB"))
	}
	if c.Scrolls < 1 || c.Scrolls > 10_000 {
		errs = append(errs, errors.New("scrolls: must be between 1 and 10000"))
	}
	if c.ScrollsPerUser < 1 || c.ScrollsPerUser > c.Scrolls {
		errs = append(errs, errors.New("scrolls_per_user: must be between 1 and scrolls"))
	}
	if c.ScrollKeepAlive < time.Second || c.ScrollKeepAlive > 24*time.Hour {
		errs = append(errs, errors.New("scroll_keep_alive: must be between 1s and 24h"))
	}
	return errors.Join(errs...)
}

// validateServer checks what says where the search server is.
func (c *Config) validateServer() (errs []error) {
	if c.Engine != engineTypesense {
		return nil
	}
	for text := range strings.SplitSeq(c.URL, ",") {
		u, err := url.Parse(strings.TrimSpace(text))
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			errs = append(errs, errors.New("url: the engine typesense needs the address of its server, which begins with http:// or https://"))
			break
		}
	}
	if c.Key == "" {
		errs = append(errs, errors.New("key: the engine typesense needs an API key"))
	}
	if c.Prefix == "" || len(c.Prefix) > 50 || strings.Trim(c.Prefix, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		errs = append(errs, errors.New("prefix: must be 1 to 50 small letters and digits"))
	}
	return errs
}

// engineTypesense is the name of the engine on a search server.
const engineTypesense = "typesense"
