package user

import (
	"errors"
	"fmt"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/conf"
)

// Config is the section `user`.
type Config struct {
	AdminUsername string      `yaml:"admin_username" doc:"Name of the user with every role that the first start creates, when there is no user at all."`
	AdminPassword conf.Secret `yaml:"admin_password" doc:"Password of that user; empty generates one and shows it once. It changes nothing once there are users."`

	LoginTokenLifetime time.Duration `yaml:"login_token_lifetime" doc:"How long a token of POST /auth-token is valid; 0 means until it is revoked."`
	TokenLifetime      time.Duration `yaml:"token_lifetime" doc:"How long a named token is valid when its creator does not say; 0 means until it is revoked."`
	ProxyTokenLifetime time.Duration `yaml:"proxy_token_lifetime" doc:"How long a token of proxy-authenticate, which acts for somebody else, is valid."`
	CachedTokens       int           `yaml:"cached_tokens" doc:"How many tokens in use are kept in memory; each takes about half a KiB."`

	Throttle Throttle `yaml:"throttle"`
	Hashing  Hashing  `yaml:"hashing"`
}

// Throttle is how guessing passwords is slowed down. Only failed attempts count.
type Throttle struct {
	AccountBurst int           `yaml:"account_burst" doc:"Failed sign-ins for one account allowed at once; 0 switches this throttle off."`
	AccountEvery time.Duration `yaml:"account_every" doc:"How long until one more is allowed."`
	AddressBurst int           `yaml:"address_burst" doc:"Failed sign-ins from one address (IPv6: one /64) allowed at once; 0 switches this throttle off."`
	AddressEvery time.Duration `yaml:"address_every" doc:"How long until one more is allowed."`
}

// Hashing is what a password costs to check (argon2id). Stored hashes carry
// their own costs and are made anew at the next sign-in.
type Hashing struct {
	Memory     conf.Bytes `yaml:"memory" doc:"Memory of one hash."`
	Passes     int        `yaml:"passes" doc:"Passes over that memory."`
	Concurrent int        `yaml:"concurrent" doc:"How many hashes may run at a time; each needs its memory."`
}

// Defaults is the configuration of an installation that says nothing.
func Defaults() *Config {
	p := auth.DefaultParams()
	return &Config{
		AdminUsername: "admin", ProxyTokenLifetime: 12 * time.Hour, CachedTokens: 10_000,
		Throttle: Throttle{AccountBurst: 10, AccountEvery: time.Minute, AddressBurst: 50, AddressEvery: 2 * time.Second},
		Hashing:  Hashing{Memory: conf.Bytes(p.Memory) << 10, Passes: int(p.Time), Concurrent: 2},
	}
}

// Validate implements the check of package conf.
func (c Config) Validate() error {
	var errs []error
	bad := func(key, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %s", key, fmt.Sprintf(format, args...)))
	}
	if err := checkUsername("admin_username", c.AdminUsername); err != nil {
		errs = append(errs, errors.New(detail(err)))
	}
	if c.AdminPassword.Set() {
		if err := auth.CheckPassword(c.AdminPassword.Reveal()); err != nil {
			bad("admin_password", "%s", detail(err))
		}
	}
	for key, d := range map[string]time.Duration{
		"login_token_lifetime": c.LoginTokenLifetime, "token_lifetime": c.TokenLifetime,
		"throttle.account_every": c.Throttle.AccountEvery, "throttle.address_every": c.Throttle.AddressEvery,
	} {
		if d < 0 {
			bad(key, "must not be negative")
		}
	}
	if c.ProxyTokenLifetime < time.Second {
		bad("proxy_token_lifetime", "must be at least 1s")
	}
	if c.CachedTokens < 1 {
		bad("cached_tokens", "must be at least 1")
	}
	if c.Throttle.AccountBurst < 0 || c.Throttle.AddressBurst < 0 {
		bad("throttle", "a burst must not be negative")
	}
	if c.Hashing.Memory < 8<<10 || c.Hashing.Memory > 256<<20 {
		bad("hashing.memory", "must be between 8KiB and 256MiB")
	}
	if c.Hashing.Passes < 1 || c.Hashing.Passes > 16 {
		bad("hashing.passes", "must be between 1 and 16")
	}
	if c.Hashing.Concurrent < 1 || c.Hashing.Concurrent > 64 {
		bad("hashing.concurrent", "must be between 1 and 64")
	}
	return errors.Join(errs...)
}

func (h Hashing) params() auth.Params {
	return auth.Params{Memory: uint32(h.Memory >> 10), Time: uint32(h.Passes), Threads: 1}
}
