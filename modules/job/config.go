package job

import (
	"errors"
	"time"

	"github.com/quoin-cms/quoin/core/conf"
)

// Config is the section `job` of the configuration.
type Config struct {
	Workers    int           `yaml:"workers" doc:"How many commands this server runs at the same time; 0 leaves them to other processes, such as quoin worker."`
	StartAfter time.Duration `yaml:"start_after" doc:"When a command that nobody has started is run all the same; 0 waits for its start for ever."`
	StartWait  time.Duration `yaml:"start_wait" doc:"How long start-job waits for the end of the command; it goes on in any case."`
	TimeLimit  time.Duration `yaml:"time_limit" doc:"How long a command inside the server may run."`
	Lease      time.Duration `yaml:"lease" doc:"For how long an outside worker may be silent when it has not asked for another lease."`
	Lost       string        `yaml:"lost" doc:"What becomes of a job whose worker falls silent: requeue or fail."`
	MaxLosses  int           `yaml:"max_losses" doc:"How often a job may lose its worker before it fails."`
	MaxWait    time.Duration `yaml:"max_wait" doc:"The longest wait that next-job allows."`
	MaxOutput  conf.Bytes    `yaml:"max_output" doc:"How much output of one job is kept."`
	Retention  time.Duration `yaml:"retention" doc:"How long finished jobs are kept; 0 keeps them for ever."`
}

func defaults() *Config {
	return &Config{
		Workers: 2, StartAfter: time.Minute, StartWait: 10 * time.Minute, TimeLimit: time.Hour,
		Lease: 30 * time.Minute, Lost: lostRequeue, MaxLosses: 3, MaxWait: time.Minute, MaxOutput: 8 << 20, Retention: 30 * 24 * time.Hour,
	}
}

// Validate implements the check of package conf.
func (c *Config) Validate() error {
	var errs []error
	bad := func(wrong bool, message string) {
		if wrong {
			errs = append(errs, errors.New(message))
		}
	}
	bad(c.Workers < 0 || c.Workers > 256, "workers: must be between 0 and 256")
	bad(c.StartAfter < 0, "start_after: must not be negative")
	bad(c.StartWait < 0, "start_wait: must not be negative")
	bad(c.TimeLimit <= 0, "time_limit: must be positive")
	bad(c.Lease < minLease || c.Lease > maxLease, "lease: must be between 5s and 24h")
	bad(c.Lost != lostRequeue && c.Lost != lostFail, "lost: must be requeue or fail")
	bad(c.MaxLosses < 0, "max_losses: must not be negative")
	bad(c.MaxWait < 0 || c.MaxWait > 10*time.Minute, "max_wait: must be between 0s and 10m")
	bad(c.MaxOutput < 1024 || c.MaxOutput > 1<<30, "max_output: must be between 1KiB and 1GiB")
	bad(c.Retention < 0, "retention: must not be negative")
	return errors.Join(errs...)
}
