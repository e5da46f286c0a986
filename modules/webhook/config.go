package webhook

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Config is the section `webhook`.
type Config struct {
	AllowNetworks []netip.Prefix `yaml:"allow_networks" doc:"Networks such as 10.1.0.0/16 that may be called although they are private, loopback or otherwise not public."`

	ValidationDelay time.Duration `yaml:"validation_delay" doc:"How long after its registration an endpoint gets the validation call."`
	ValidateEvery   time.Duration `yaml:"validate_every" doc:"How often an endpoint is validated again, give or take a tenth."`

	Schedule       []time.Duration `yaml:"schedule" doc:"The waits between the tries of a call, each give or take a fifth. After the last one the delivery has failed and is kept for a replay."`
	ConnectTimeout time.Duration   `yaml:"connect_timeout" doc:"Longest time to connect to an endpoint."`
	Timeout        time.Duration   `yaml:"timeout" doc:"Longest time of a call, with the reading of its answer."`

	Concurrency int `yaml:"concurrency" doc:"Calls to one endpoint at the same time, unless its subscription says otherwise."`
	Senders     int `yaml:"senders" doc:"Calls at the same time from this process."`

	BreakAfter   int           `yaml:"break_after" doc:"After how many failures in a row an endpoint is left alone for a while."`
	BreakFor     time.Duration `yaml:"break_for" doc:"How long that is at first; it doubles with each further failure, up to twenty times as long."`
	DisableAfter time.Duration `yaml:"disable_after" doc:"After how long without a success an endpoint is disabled."`

	Retention        time.Duration `yaml:"retention" doc:"How long deliveries that have ended are kept, to be looked at and replayed."`
	SecretOverlap    time.Duration `yaml:"secret_overlap" doc:"How long the old secret stays valid when a new one is made."`
	MaxSubscriptions int           `yaml:"max_subscriptions" doc:"How many subscriptions there may be."`
	Lease            time.Duration `yaml:"lease" doc:"How long calls of a killed process wait for another one; longer than timeout."`
	Poll             time.Duration `yaml:"poll" doc:"How often to look for calls that have become due."`
}

// Defaults is the configuration of an installation that says nothing: ten tries
// over three days.
func Defaults() *Config {
	return &Config{
		ValidationDelay: 40 * time.Second, ValidateEvery: 24 * time.Hour,
		Schedule: []time.Duration{
			5 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 22 * time.Hour, 32 * time.Hour,
		},
		ConnectTimeout: 5 * time.Second, Timeout: 15 * time.Second, Concurrency: 8, Senders: 256,
		BreakAfter: 10, BreakFor: 30 * time.Second, DisableAfter: 5 * 24 * time.Hour,
		Retention: 14 * 24 * time.Hour, SecretOverlap: 24 * time.Hour, MaxSubscriptions: 1000,
		Lease: 45 * time.Second, Poll: time.Second,
	}
}

// Validate implements the check of package conf.
func (c *Config) Validate() error {
	var errs []error
	for _, d := range []struct {
		key   string
		value time.Duration
		least time.Duration
	}{
		{"validation_delay", c.ValidationDelay, 0},
		{"validate_every", c.ValidateEvery, time.Minute},
		{"connect_timeout", c.ConnectTimeout, time.Millisecond},
		{"timeout", c.Timeout, time.Millisecond},
		{"break_for", c.BreakFor, time.Millisecond},
		{"disable_after", c.DisableAfter, time.Minute},
		{"retention", c.Retention, time.Minute},
		{"secret_overlap", c.SecretOverlap, 0},
		{"lease", c.Lease, c.Timeout + time.Second},
		{"poll", c.Poll, 10 * time.Millisecond},
	} {
		if d.value < d.least {
			errs = append(errs, fmt.Errorf("%s: must be at least %s", d.key, d.least))
		}
	}
	for i, wait := range c.Schedule {
		if wait < 0 {
			errs = append(errs, fmt.Errorf("schedule: wait %d is negative", i+1))
		}
	}
	if len(c.Schedule) > 100 {
		errs = append(errs, errors.New("schedule: at most 100 waits"))
	}
	if c.Concurrency < 1 || c.Concurrency > maxConcurrency {
		errs = append(errs, fmt.Errorf("concurrency: must be between 1 and %d", maxConcurrency))
	}
	if c.Senders < 1 || c.Senders > 10_000 {
		errs = append(errs, errors.New("senders: must be between 1 and 10000"))
	}
	if c.BreakAfter < 1 {
		errs = append(errs, errors.New("break_after: must be at least 1"))
	}
	if c.MaxSubscriptions < 1 || c.MaxSubscriptions > 100_000 {
		errs = append(errs, errors.New("max_subscriptions: must be between 1 and 100000"))
	}
	return errors.Join(errs...)
}
