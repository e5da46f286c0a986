package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// lastGrace is how long a service that was told to stop at once, because the
// time is over, may still take to return.
const lastGrace = time.Second

// Start runs the services phase by phase, then the bus. On an error what had
// started, and the service that failed, is stopped.
func (a *App) Start(ctx context.Context) error {
	err := a.startAll(ctx)
	if err == nil {
		return nil
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.Config.Server.StopWithin)
	defer cancel()
	return errors.Join(err, a.Stop(within))
}

func (a *App) startAll(ctx context.Context) error {
	if err := a.startServices(ctx); err != nil {
		return err
	}
	if err := a.Bus.Start(ctx); err != nil {
		return fmt.Errorf("start the event bus: %w", err)
	}
	return nil
}

func (a *App) startServices(ctx context.Context) error {
	for _, s := range a.services {
		a.started = append(a.started, s)
		if err := s.Start(ctx); err != nil {
			return fmt.Errorf("start %s: %w", s.Name, err)
		}
	}
	return nil
}

// Stop ends the bus and then the services, in the reverse order of their
// start. ctx says how long all of them may take; one that takes longer is named
// in the error and left behind.
func (a *App) Stop(ctx context.Context) error {
	errs := []error{stop(ctx, "the event bus", a.Bus.Stop)}
	for _, s := range slices.Backward(a.started) {
		if s.Stop != nil {
			errs = append(errs, stop(ctx, s.Name, s.Stop))
		}
	}
	a.started = nil
	return errors.Join(errs...)
}

// stop calls fn and gives up on it some time after ctx has ended.
func stop(ctx context.Context, name string, fn func(context.Context) error) error {
	done := make(chan error, 1)
	go func() { done <- fn(ctx) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done:
		case <-time.After(lastGrace):
			err = errors.New("it did not end in time")
		}
	}
	if err != nil {
		return fmt.Errorf("stop %s: %w", name, err)
	}
	return nil
}

// lastSpans is how long the collector of traces may take for those that wait.
const lastSpans = 3 * time.Second

// Close closes the database, sends the spans that wait, and lets the next
// process have the folder.
func (a *App) Close() error {
	err := a.DB.Close()
	ctx, cancel := context.WithTimeout(context.Background(), lastSpans) // the server's has ended
	defer cancel()
	if late := a.tracing.Stop(ctx); late != nil {
		a.Log.Warn("the last traces were not sent", "error", late)
	}
	a.release()
	return err
}
