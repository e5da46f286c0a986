package app

import (
	"context"
	"fmt"
	"time"
)

// schemaGoodFor is for how long the database is believed to fit the program.
const schemaGoodFor = 5 * time.Second

// schema is the check of /readyz that the database fits this program: nothing
// is pending, and no newer version has taken away what this one needs.
type schema struct {
	app  *App
	good time.Time // until when it needs no other look
}

// check is never called twice at the same time.
func (s *schema) check(ctx context.Context) error {
	if time.Now().Before(s.good) {
		return nil
	}
	pending, err := s.app.DB.Pending(ctx, s.app.Sources())
	if err != nil {
		return err
	}
	if len(pending) > 0 {
		return fmt.Errorf("%d migrations are pending: run quoin migrate up", len(pending))
	}
	if err := s.app.DB.Compatible(ctx, s.app.Sources()); err != nil {
		return err
	}
	s.good = time.Now().Add(schemaGoodFor)
	return nil
}
