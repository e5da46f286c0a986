package work_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/testkit"
)

// benchEach runs a benchmark on both engines, with durable commits.
func benchEach(b *testing.B, fn func(b *testing.B, d *db.DB)) {
	b.Run("sqlite", func(b *testing.B) {
		fn(b, open(b, db.Config{Path: filepath.Join(b.TempDir(), "quoin.db")}))
	})
	b.Run("postgres", func(b *testing.B) {
		fn(b, open(b, db.Config{URL: testkit.Postgres(b)}))
	})
}

var addParcels = db.Dual(
	`INSERT INTO parcel (queue, due_at, created_at) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT 'a', i, i FROM n`,
	`INSERT INTO parcel (queue, due_at, created_at) SELECT 'a', i, i FROM generate_series(1, ?::int) AS i`)

// BenchmarkClaim claims rows and finishes them, with 10,000 more rows waiting.
func BenchmarkClaim(b *testing.B) {
	benchEach(b, func(b *testing.B, d *db.DB) {
		for _, n := range []int{1, 50} {
			b.Run(fmt.Sprint(n), func(b *testing.B) {
				c := claimer(b, d, time.Now)
				left := 0
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if left < 10000 {
						b.StopTimer()
						if _, err := d.Exec(b.Context(), addParcels, 20000); err != nil {
							b.Fatal(err)
						}
						left += 20000
						b.StartTimer()
					}
					leases, err := c.Claim(b.Context(), "a", fmt.Sprint(b.Name(), i), n, time.Minute)
					if err != nil || len(leases) != n {
						b.Fatal(len(leases), err)
					}
					if err := c.Done(b.Context(), leases...); err != nil {
						b.Fatal(err)
					}
					left -= n
				}
				b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	})
}

// BenchmarkEmptyClaim is what a poll costs when there is nothing to do.
func BenchmarkEmptyClaim(b *testing.B) {
	benchEach(b, func(b *testing.B, d *db.DB) {
		c := claimer(b, d, time.Now)
		b.ReportAllocs()
		for b.Loop() {
			if leases, err := c.Claim(context.Background(), "a", "x", 50, time.Minute); err != nil || leases != nil {
				b.Fatal(leases, err)
			}
		}
	})
}
