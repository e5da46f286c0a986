package content

import (
	"errors"
	"time"

	"github.com/quoin-cms/quoin/core/conf"
)

// Config is the section `content` of the configuration.
type Config struct {
	LockTime       time.Duration `yaml:"lock_time" doc:"How long a draft stays locked for whoever wrote it last."`
	MaxDocument    conf.Bytes    `yaml:"max_document" doc:"Largest document."`
	MaxDepth       int           `yaml:"max_depth" doc:"Deepest nesting of a document."`
	RefreshTimeout time.Duration `yaml:"refresh_timeout" doc:"How long refresh=true waits for the search index; the document is stored in any case."`
	Samples        bool          `yaml:"samples" doc:"Create the sample content types when there is none."`
	Environments   []string      `yaml:"environments" doc:"Environments that an empty installation starts with; the first is the default one."`
}

func defaults() *Config {
	return &Config{
		LockTime: time.Minute, MaxDocument: 8 << 20, MaxDepth: 64, RefreshTimeout: 10 * time.Second,
		Environments: []string{"preview", "live"},
	}
}

// Validate implements the check of package conf.
func (c *Config) Validate() error {
	var errs []error
	if c.LockTime <= 0 {
		errs = append(errs, errors.New("lock_time: must be positive"))
	}
	if c.MaxDocument < 1024 {
		errs = append(errs, errors.New("max_document: must be at least 1KiB"))
	}
	if c.MaxDepth < 2 || c.MaxDepth > 1000 {
		errs = append(errs, errors.New("max_depth: must be between 2 and 1000"))
	}
	if c.RefreshTimeout <= 0 {
		errs = append(errs, errors.New("refresh_timeout: must be positive"))
	}
	if len(c.Environments) == 0 {
		errs = append(errs, errors.New("environments: must name at least one"))
	}
	for _, name := range c.Environments {
		if !environmentName.MatchString(name) {
			errs = append(errs, errors.New("environments: "+name+" is not a name: lower-case letters, digits, - and _, beginning with a letter"))
		}
	}
	return errors.Join(errs...)
}
