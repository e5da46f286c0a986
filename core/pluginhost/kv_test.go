package pluginhost_test

import (
	"path/filepath"
	"testing"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/pluginhost"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/testkit"
	hostv1 "github.com/quoin-cms/quoin/sdk/proto/host/v1"
)

// values runs a test on SQLite and on PostgreSQL.
func values(t *testing.T, test func(t *testing.T, d *db.DB, kv hostv1.KVServer)) {
	for name, c := range map[string]db.Config{"sqlite": {Path: filepath.Join(t.TempDir(), "kv.db")}, "postgres": {URL: testkit.Postgres(t, testkit.WithoutFsync())}} {
		t.Run(name, func(t *testing.T) {
			d, err := db.Open(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = d.Close() })
			spec := pluginhost.Spec()
			if _, err := d.Migrate(t.Context(), []db.Source{{Module: spec.Name, Files: spec.Migrations}}); err != nil {
				t.Fatal(err)
			}
			test(t, d, pluginhost.KV(d, "p"))
		})
	}
}

// A plugin that keeps as much as it may still changes what it keeps.
func TestValuesChangeWhenThereIsRoomForNoMore(t *testing.T) {
	values(t, func(t *testing.T, d *db.DB, kv hostv1.KVServer) {
		set := func(key, value string, absent bool) (bool, error) {
			answer, err := kv.Set(t.Context(), &hostv1.KVSetRequest{Key: key, Value: []byte(value), IfAbsent: absent})
			return answer.GetWritten(), err
		}
		if _, err := set("one", "1", false); err != nil {
			t.Fatal(err)
		}
		_, err := d.Exec(t.Context(), db.SQL(`INSERT INTO plugins_kv (plugin, key, value, expires_at)
			WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
			SELECT v.plugin, 'k' || n.i, v.value, 0 FROM n, plugins_kv v WHERE v.key = 'one'`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := set("two", "2", false); !problem.Is(err, problem.Full) {
			t.Errorf("one too many: %v", err)
		}
		if written, err := set("one", "2", false); err != nil || !written {
			t.Errorf("%v %v", written, err)
		}
		if written, err := set("one", "3", true); err != nil || written {
			t.Errorf("if absent: %v %v", written, err)
		}
		if answer, err := kv.Get(t.Context(), &hostv1.KVGetRequest{Key: "one"}); err != nil || string(answer.Value) != "2" {
			t.Errorf("%v %v", answer, err)
		}
	})
}

// What can be no key is not there, which is no fault of the server.
func TestKeysThatCannotBe(t *testing.T) {
	values(t, func(t *testing.T, _ *db.DB, kv hostv1.KVServer) {
		for _, key := range []string{"", "a\x00b"} {
			if answer, err := kv.Get(t.Context(), &hostv1.KVGetRequest{Key: key}); err != nil || answer.Found {
				t.Errorf("get %q: %v %v", key, answer, err)
			}
			if answer, err := kv.Delete(t.Context(), &hostv1.KVDeleteRequest{Key: key}); err != nil || answer.Found {
				t.Errorf("delete %q: %v %v", key, answer, err)
			}
			if _, err := kv.Set(t.Context(), &hostv1.KVSetRequest{Key: key}); !problem.Is(err, problem.Invalid) {
				t.Errorf("set %q: %v", key, err)
			}
		}
		if _, err := kv.List(t.Context(), &hostv1.KVListRequest{Prefix: "a\x00"}); !problem.Is(err, problem.Invalid) {
			t.Error(err)
		}
	})
}
