package audit

import (
	"errors"
	"time"
)

// Config is the section `audit`.
type Config struct {
	Events    []string      `yaml:"events" doc:"Patterns of the events that are recorded; * is everything. Who wrote a document stands in its revisions in any case, so content.finalize is left out: it costs a row for each write."`
	Retention time.Duration `yaml:"retention" doc:"How long records are kept; 0 is for ever."`
}

// Defaults record what no revision tells, for a year.
func Defaults() *Config {
	return &Config{
		Events:    []string{"admin.*", "config.*", "content.delete", "content.unpublish", "content.published.*", "job.*"},
		Retention: 365 * 24 * time.Hour,
	}
}

// Validate implements the check of package conf.
func (c *Config) Validate() error {
	if c.Retention < 0 || c.Retention > 0 && c.Retention < time.Hour {
		return errors.New("retention: must be 0 or at least 1h")
	}
	return nil
}
