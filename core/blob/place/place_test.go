package place_test

import (
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/blob/place"
)

func TestAddresses(t *testing.T) {
	dir := t.TempDir()
	for address, want := range map[string]string{
		"s3://key:secret@127.0.0.1:9000/files?tls=false":             "the bucket files at 127.0.0.1:9000",
		"s3://s3.eu-west-1.amazonaws.com/b/folder/?region=eu-west-1": "the bucket b at s3.eu-west-1.amazonaws.com",
		"file://" + dir: "the folder " + dir,
		dir:             "the folder " + dir,
	} {
		if err := place.Check(address); err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		s, err := place.Open(address, 0)
		if err != nil || s.String() != want {
			t.Errorf("%s: %v %v", address, s, err)
		}
		if folder := place.Folder(address); (folder == dir) == strings.HasPrefix(address, "s3:") {
			t.Errorf("%s is the folder %q", address, folder)
		}
	}
}

func TestWrongAddressesAreToldWithoutTheirSecrets(t *testing.T) {
	for address, want := range map[string]string{
		"":                                       "must begin with",
		"http://host/bucket":                     "must begin with",
		"file:srv/files":                         "",
		"file://srv/files":                       "three slashes",
		"s3://k:hunter2@host:9000":               "like s3://",
		"s3://k:hunter2@/bucket":                 "like s3://",
		"s3://k:hunter2@host:9000/b?x=":          "unknown option",
		"s3://k:hunter2@host:9000/b?tls=perhaps": "neither true nor false",
		"s3://k:hunter2%@host:9000/b":            "such as s3://",
	} {
		err := place.Check(address)
		if want == "" {
			continue // a plain path may hold a colon
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, address := range []string{"", "s3://k:s@h:1/b?tls=false", "file:///x", "s3://[::1]:9000/b", "s3://%zz"} {
		f.Add(address)
	}
	f.Fuzz(func(_ *testing.T, address string) { _ = place.Check(address) })
}
