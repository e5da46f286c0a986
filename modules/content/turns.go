package content

import (
	"context"
	"errors"
	"hash/maphash"
	"math/rand/v2"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/problem"
)

// attempts is how often a write is tried again when other ones were faster.
const attempts = 20

// turns orders the writers of one document once they have met: reading and
// writing again in turn ends, where all of them trying at once would go on for
// long. Writers that met nobody never come here.
type turns struct {
	seed  maphash.Seed
	seats [64]chan struct{}
}

func newTurns() *turns {
	t := &turns{seed: maphash.MakeSeed()}
	for i := range t.seats {
		t.seats[i] = make(chan struct{}, 1)
	}
	return t
}

// take waits for the turn of a document and gives what ends it.
func (t *turns) take(ctx context.Context, typeID int64, ouuid string) (done func(), err error) {
	h := maphash.Comparable(t.seed, struct {
		id    int64
		ouuid string
	}{typeID, ouuid})
	seat := t.seats[h%uint64(len(t.seats))]
	select {
	case seat <- struct{}{}:
		return func() { <-seat }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// overtaken tells that another write came in between.
func overtaken(err error) bool { return errors.Is(err, errChanged) || db.IsUnique(err) }

// retry runs a write again while others are faster. The write reads the
// document anew each time, and so checks If-Match anew. Processes that share a
// database do not see each other's turns, hence the pause.
func (s *Service) retry(ctx context.Context, typeID int64, ouuid string, write func() error) error {
	err := write()
	if !overtaken(err) {
		return err
	}
	done, err := s.turns.take(ctx, typeID, ouuid)
	if err != nil {
		return err
	}
	defer done()
	for i := range attempts {
		if err = write(); !overtaken(err) {
			return err
		}
		select {
		case <-time.After(time.Duration(rand.IntN(1+i*i)) * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return problem.Wrap(err, problem.Conflict, "the document is being changed by others all the time: try again").WithCode("changed")
}
