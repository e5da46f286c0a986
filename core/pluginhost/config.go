package pluginhost

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/quoin-cms/quoin/core/conf"
)

// Config is the section `plugins`.
type Config struct {
	Dir  string   `yaml:"dir" doc:"Folder with one folder for each plugin; empty means the folder plugins in the data folder. Nothing in it runs before quoin plugin enable."`
	Dev  bool     `yaml:"dev" doc:"Run every plugin in the folder without checking its sum, with all it asks for, and again when its program changes. For the machine of an author only."`
	Keys []string `yaml:"keys" doc:"Public ed25519 keys in base64. With any, a plugin must bear a signature of one of them."`

	StartWithin time.Duration `yaml:"start_within" doc:"How long a plugin may take to start and to take its settings."`
	CallTimeout time.Duration `yaml:"call_timeout" doc:"Longest time of a call of a tool or of a batch of events; commands may take longer."`
	Concurrency int           `yaml:"concurrency" doc:"Calls to one plugin at the same time; more wait."`
	MaxMemory   conf.Bytes    `yaml:"max_memory" doc:"A plugin that holds more memory is ended."`
	LogRate     int           `yaml:"log_rate" doc:"Lines per second that a plugin may write into the log; more are counted and dropped."`

	MaxCrashes  int           `yaml:"max_crashes" doc:"After how many crashes within crash_window a plugin stays down until quoin plugin reload."`
	CrashWindow time.Duration `yaml:"crash_window" doc:"See max_crashes."`
	Backoff     time.Duration `yaml:"backoff" doc:"Wait before the first new start after a crash; it doubles up to a minute."`
	Health      time.Duration `yaml:"health" doc:"How often a plugin is asked whether it is well; it is ended when it does not answer three times."`

	WebhookFailure string `yaml:"webhook_failure" enum:"block,bypass" doc:"What becomes of a webhook call whose transforming plugin fails: block tries it again later, bypass sends it unchanged."`
}

// Defaults is the configuration of an installation that says nothing.
func Defaults() *Config {
	return &Config{
		StartWithin: 10 * time.Second, CallTimeout: 30 * time.Second, Concurrency: 16, MaxMemory: 512 << 20, LogRate: 100,
		MaxCrashes: 5, CrashWindow: 10 * time.Minute, Backoff: time.Second, Health: 10 * time.Second, WebhookFailure: "block",
	}
}

// Validate implements the check of package conf.
func (c *Config) Validate() error {
	var errs []error
	for key, d := range map[string]time.Duration{
		"start_within": c.StartWithin, "call_timeout": c.CallTimeout, "crash_window": c.CrashWindow, "backoff": c.Backoff, "health": c.Health,
	} {
		if d < time.Millisecond {
			errs = append(errs, fmt.Errorf("%s: must be at least 1ms", key))
		}
	}
	for key, n := range map[string]int{"concurrency": c.Concurrency, "log_rate": c.LogRate, "max_crashes": c.MaxCrashes} {
		if n < 1 {
			errs = append(errs, fmt.Errorf("%s: must be at least 1", key))
		}
	}
	if c.MaxMemory < 32<<20 {
		errs = append(errs, errors.New("max_memory: must be at least 32MiB"))
	}
	for i, key := range c.Keys {
		if _, err := publicKey(key); err != nil {
			errs = append(errs, fmt.Errorf("keys[%d]: %w", i, err))
		}
	}
	return errors.Join(errs...)
}

func publicKey(text string) (ed25519.PublicKey, error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) != ed25519.PublicKeySize {
		return nil, errors.New("must be the base64 of the 32 bytes of a public ed25519 key")
	}
	return b, nil
}
