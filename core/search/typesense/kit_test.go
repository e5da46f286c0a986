package typesense_test

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/search/typesense"
	"github.com/quoin-cms/quoin/core/search/typesense/double"
)

// server says where tests find a server: the one of QUOIN_TEST_TYPESENSE_URL
// with the key of QUOIN_TEST_TYPESENSE_KEY, else a double of their own, on which
// a request that would harm a real one fails the test.
func server(t *testing.T) (options typesense.Options, d *double.Server) {
	t.Helper()
	options.Prefix = "qt" + strings.ToLower(rand.Text()[:10])
	if url := os.Getenv("QUOIN_TEST_TYPESENSE_URL"); url != "" {
		options.URLs, options.Key = []string{url}, os.Getenv("QUOIN_TEST_TYPESENSE_KEY")
		return options, nil
	}
	d = double.New(double.Options{Key: "secret", Violation: t.Errorf})
	t.Cleanup(d.Close)
	options.URLs, options.Key = []string{d.URL()}, "secret"
	return options, d
}

// open makes an engine on a server, whose collections go with the test.
func open(t *testing.T, o typesense.Options) *typesense.Engine {
	t.Helper()
	e, err := typesense.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Purge(context.WithoutCancel(t.Context())); err != nil {
			t.Logf("the collections %s stay: %v", o.Prefix, err)
		}
	})
	return e
}
