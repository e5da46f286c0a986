package db

import (
	"context"
	"testing"
)

// WaitForReaders lets the writer of SQLite wait so many milliseconds for readers
// of old pages, until the test ends.
func WaitForReaders(t *testing.T, milliseconds string) {
	before := waitShort
	waitShort = SQL("PRAGMA busy_timeout = " + milliseconds)
	t.Cleanup(func() { waitShort = before })
}

// TogetherForTest runs transactions of SQLite in one group, in their order, and
// gives the error of each.
func (d *DB) TogetherForTest(ctx context.Context, fns []func(context.Context) error) []error {
	w := d.backend.(*lite).writer
	holds, let := make(chan struct{}), make(chan struct{})
	errs := make([]error, len(fns))
	ended := make(chan int, len(fns)+1)
	go func() {
		_ = w.run(ctx, func(context.Context) error { close(holds); <-let; return nil })
		ended <- -1
	}()
	<-holds
	jobs := make([]*job, len(fns))
	for i, fn := range fns {
		j := &job{fn: fn, done: make(chan struct{})}
		j.tx = tx{session: w, owner: d}
		j.ctx = context.WithValue(ctx, txKey{}, &j.tx)
		jobs[i] = j
		w.jobs <- j
	}
	close(let)
	<-ended
	for i, j := range jobs {
		<-j.done
		errs[i] = j.err
	}
	return errs
}
