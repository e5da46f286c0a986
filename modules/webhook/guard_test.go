package webhook_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/modules/webhook"
)

func TestGuard(t *testing.T) {
	for _, addr := range []string{
		"127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "255.255.255.255",
		"224.0.0.1", "198.18.0.1", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
		"::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001::1", "fd00:ec2::254",
	} {
		if webhook.CheckAddress(nil, netip.MustParseAddr(addr)) == nil {
			t.Errorf("%s may be called", addr)
		}
	}
	for _, addr := range []string{"8.8.8.8", "172.32.0.1", "2606:4700::1111", "::ffff:8.8.8.8"} {
		if err := webhook.CheckAddress(nil, netip.MustParseAddr(addr)); err != nil {
			t.Error(err)
		}
	}
	allowed := []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}
	if webhook.CheckAddress(allowed, netip.MustParseAddr("10.1.2.3")) != nil || webhook.CheckAddress(allowed, netip.MustParseAddr("::ffff:10.1.2.3")) != nil ||
		webhook.CheckAddress(allowed, netip.MustParseAddr("10.2.2.3")) == nil {
		t.Error("the networks that are allowed are not those")
	}
}

// A name that leads inside is found out when the connection is made.
func TestGuardAtDial(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := serve(t, d, func(c *webhook.Config) { c.AllowNetworks = nil })
		r := receive(t, nil)
		port := r.URL[strings.LastIndexByte(r.URL, ':'):]
		s.want(400, "POST", base, "ann", `{"endpointUrl":"http://localhost`+port+`","events":["content.finalize"]}`, nil)
		s.Service.AllowName()
		sub := s.register("http://localhost"+port, "", "content.finalize")
		s.emit("page:1 content.finalize")
		waiting := s.eventually(sub.ID, "waiting", 2)
		for len(waiting) == 0 || waiting[0].Tries == 0 || waiting[0].Error == "" {
			waiting = s.eventually(sub.ID, "waiting", 2)
		}
		if !strings.Contains(waiting[0].Error, "not public") || len(r.all()) != 0 {
			t.Errorf("%+v, %d calls", waiting[0], len(r.all()))
		}
	})
}

func FuzzParseURL(f *testing.F) {
	for _, s := range []string{"https://example.org/x?y#z", "http://127.1/", "http://[::1]:80/", "http://u:p@h", "//x", "http://0x7f.1", "http://localhost."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if err := webhook.ParseURL(s, "127.0.0.1:8080"); err == nil {
			if _, err := http.NewRequest(http.MethodPost, s, nil); err != nil {
				t.Errorf("%q passes and cannot be called: %v", s, err)
			}
		}
	})
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"", "10", "-1", "99999999999999999999", "Wed, 21 Oct 2026 07:28:00 GMT"} {
		f.Add(s)
	}
	now := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		if d := webhook.RetryAfter(s, now); d < 0 || d > 24*time.Hour {
			t.Errorf("%q: %s", s, d)
		}
	})
}
