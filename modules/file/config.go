package file

import (
	"errors"
	"time"

	"github.com/quoin-cms/quoin/core/conf"
)

// Config is the section `file` of the configuration.
type Config struct {
	Hash      string        `yaml:"hash" enum:"sha1,sha256,blake3" doc:"Algorithm that names files. Clients of elasticms expect sha1; changing it later leaves the files under their old names."`
	Public    bool          `yaml:"public" doc:"Whether /data/file and /public/file serve files to everybody who knows the hash; false asks for a token there too."`
	MaxSize   conf.Bytes    `yaml:"max_size" doc:"Largest file."`
	UploadTTL time.Duration `yaml:"upload_ttl" doc:"How long an upload that nobody goes on with is kept."`
}

func defaults() *Config {
	return &Config{Hash: "sha1", Public: true, MaxSize: 5 << 30, UploadTTL: 24 * time.Hour}
}

// Validate implements the check of package conf.
func (c *Config) Validate() error {
	var errs []error
	if c.MaxSize < 1 {
		errs = append(errs, errors.New("max_size: must be positive"))
	}
	if c.UploadTTL < time.Minute {
		errs = append(errs, errors.New("upload_ttl: must be at least 1m"))
	}
	return errors.Join(errs...)
}
