package form

import (
	"errors"
	"fmt"
	"time"

	"github.com/quoin-cms/quoin/core/conf"
)

// Config is the section `form`.
type Config struct {
	MaxRequest conf.Bytes `yaml:"max_request" doc:"Largest submission, with its files in base64."`
	MaxFiles   int        `yaml:"max_files" doc:"Most files of a submission."`

	Retention   time.Duration `yaml:"retention" doc:"How long a submission without expire_date is kept; 0 means until somebody deletes it."`
	ExpireEvery time.Duration `yaml:"expire_every" doc:"How often expired submissions are deleted."`
	Hold        time.Duration `yaml:"hold" doc:"How long a submission belongs to whoever claimed it for processing, before another one may."`
	AccessLog   time.Duration `yaml:"access_log" doc:"How long it is kept who read which submission."`

	CodeLifetime    time.Duration `yaml:"code_lifetime" doc:"How long a verification code is valid after it was asked for."`
	DiscloseCodes   bool          `yaml:"disclose_codes" doc:"Whether codes can be asked for again, which clients of elasticms do; otherwise only their hashes are stored, every request makes a new code, and they can only be checked."`
	CodeRequests    int           `yaml:"code_requests" doc:"How many codes may be asked for one value at once; then one more every minute. 0 means any number."`
	AddressRequests int           `yaml:"address_requests" doc:"How many codes may be asked for from one address at once; then one more every second. 0 means any number."`
}

// Defaults is the configuration of an installation that says nothing.
func Defaults() *Config {
	return &Config{
		MaxRequest: 64 << 20, MaxFiles: 100, ExpireEvery: time.Hour, Hold: 15 * time.Minute, AccessLog: 365 * 24 * time.Hour,
		CodeLifetime: 3 * time.Hour, DiscloseCodes: true, CodeRequests: 20, AddressRequests: 600,
	}
}

// Validate implements the check of package conf.
func (c *Config) Validate() error {
	var errs []error
	if c.MaxRequest < 1024 {
		errs = append(errs, errors.New("max_request: must be at least 1KiB"))
	}
	if c.MaxFiles < 0 || c.MaxFiles > 10_000 {
		errs = append(errs, errors.New("max_files: must be between 0 and 10000"))
	}
	if c.Retention < 0 {
		errs = append(errs, errors.New("retention: must not be negative"))
	}
	for key, d := range map[string]time.Duration{"expire_every": c.ExpireEvery, "hold": c.Hold, "access_log": c.AccessLog, "code_lifetime": c.CodeLifetime} {
		if d < time.Second {
			errs = append(errs, fmt.Errorf("%s: must be at least 1s", key))
		}
	}
	if c.CodeRequests < 0 || c.AddressRequests < 0 {
		errs = append(errs, errors.New("code_requests and address_requests: must not be negative"))
	}
	return errors.Join(errs...)
}
