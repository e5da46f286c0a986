package webhook

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/quoin-cms/quoin/core/event"
)

// sender makes the calls. Each subscription has a lane of its own, with its own
// limits, so an endpoint that is dead or slow holds up nobody but itself. The
// database is the queue: a lane claims as many calls as it may make at this
// moment, and any number of processes may do so side by side.
type sender struct {
	service *Service
	client  *client
	results *recorder
	slots   chan struct{} // calls of this process
	owner   string
	claims  atomic.Int64
	nudge   chan struct{}

	mu      sync.Mutex
	lanes   map[string]*lane
	ctx     context.Context // ends when calls must end
	quit    chan struct{}
	end     context.CancelFunc
	looking sync.WaitGroup
	running sync.WaitGroup
}

// lane is what a subscription has under way in this process.
type lane struct {
	limit  *rate.Limiter
	busy   bool        // its loop runs
	again  bool        // and shall look once more
	failed atomic.Bool // a call since the loop began
}

func newSender(s *Service) *sender {
	host, _ := os.Hostname() // only to be read by people
	out := &sender{
		service: s, client: newClient(s.cfg, s.guard, s.transform, s.tracing), slots: make(chan struct{}, s.cfg.Senders),
		owner: fmt.Sprintf("%s/%d/%s", host, os.Getpid(), rand.Text()[:10]),
		nudge: make(chan struct{}, 1), lanes: map[string]*lane{}, quit: make(chan struct{}),
	}
	out.results = newRecorder(s)
	s.wake = out.wake
	return out
}

// wake makes the sender look for calls now.
func (s *sender) wake() {
	select {
	case s.nudge <- struct{}{}:
	default:
	}
}

func (s *sender) start(ctx context.Context) error {
	if err := s.service.releaseAll(ctx); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // that is for the start only
	s.ctx, s.end = context.WithCancel(ctx)
	s.results.start(ctx)
	s.looking.Go(s.look)
	s.looking.Go(s.putInOrder)
	return nil
}

// stop lets the calls under way end, until ctx ends; those that are cut short
// are made again later.
func (s *sender) stop(ctx context.Context) error {
	if s.end == nil {
		return nil
	}
	close(s.quit)
	s.looking.Wait()
	done := make(chan struct{})
	go func() { s.running.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
	s.end()
	<-done
	s.results.stop()
	s.client.close()
	return nil
}

// look finds the subscriptions with calls to make, when told to and now and
// then.
func (s *sender) look() {
	tick := time.NewTicker(s.service.cfg.Poll)
	defer tick.Stop()
	for {
		due, err := s.service.dueLanes(s.ctx)
		if err != nil {
			s.service.log.Warn("no webhook calls could be looked for", "error", err)
		}
		for _, sub := range due {
			s.open(sub)
		}
		select {
		case <-s.quit:
			return
		case <-s.nudge:
		case <-tick.C:
		}
	}
}

// soon is when to look again for calls that wait for older events.
const soon = 20 * time.Millisecond

// putInOrder lets ordered calls go when their turn has come, beside those that
// nobody wants in order.
func (s *sender) putInOrder() {
	tick := time.NewTicker(s.service.cfg.Poll)
	defer tick.Stop()
	for {
		waiting, err := s.service.release(s.ctx)
		if err != nil {
			s.service.log.Warn("no ordered webhook calls could be let go", "error", err)
		}
		var early <-chan time.Time
		if waiting {
			early = time.After(soon)
		}
		select {
		case <-s.quit:
			return
		case <-s.service.order.nudge:
		case <-tick.C:
		case <-early:
		}
	}
}

// open makes a lane work, or look once more if it does.
func (s *sender) open(sub *Subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lanes[sub.ID]
	if l == nil {
		l = &lane{limit: rate.NewLimiter(rate.Inf, 1)}
		s.lanes[sub.ID] = l
	}
	if l.busy {
		l.again = true
		return
	}
	limit := rate.Inf
	if sub.Rate > 0 {
		limit = rate.Limit(sub.Rate)
	}
	if l.limit.Limit() != limit {
		l.limit.SetLimit(limit)
	}
	l.busy = true
	l.failed.Store(false)
	s.running.Go(func() { s.work(l, sub) })
}

// work makes the calls of a lane until none is due.
func (s *sender) work(l *lane, sub *Subscription) {
	free := make(chan struct{}, width(sub, s.service.cfg))
	var flying sync.WaitGroup
	defer flying.Wait()
	for {
		for !s.quitting() && s.claim(l, sub, free, &flying) > 0 {
		}
		s.mu.Lock()
		if !l.again || l.failed.Load() || s.quitting() {
			l.busy, l.again = false, false
			s.mu.Unlock()
			return
		}
		l.again = false
		s.mu.Unlock()
	}
}

func (s *sender) quitting() bool {
	select {
	case <-s.quit:
		return true
	default:
		return false
	}
}

// width is how many calls at once an endpoint gets. One that has failed gets
// one at a time until it answers well.
func width(sub *Subscription, cfg *Config) int {
	switch {
	case sub.Failures > 0:
		return 1
	case sub.Concurrency > 0:
		return sub.Concurrency
	}
	return cfg.Concurrency
}

// claim takes as many calls as there is room for and begins to make them. It
// gives 0 when the lane shall rest.
func (s *sender) claim(l *lane, sub *Subscription, free chan struct{}, flying *sync.WaitGroup) int {
	room := s.room(l, sub, free)
	calls, err := s.take(sub, room)
	for range room - len(calls) {
		<-free
		<-s.slots
	}
	if err != nil {
		s.service.log.Warn("webhook calls could not be claimed", "subscription", sub.ID, "error", err)
		return 0
	}
	for _, c := range calls {
		flying.Go(func() {
			defer func() { <-free; <-s.slots }()
			r := s.call(sub, c)
			l.failed.CompareAndSwap(false, r.err != nil)
			s.results.add(r)
		})
	}
	if l.failed.Load() || sub.Failures > 0 { // what the database says now decides how to go on
		flying.Wait()
		return 0
	}
	return len(calls)
}

// call makes a call, unless the owner of the subscription may not hear any more
// of what it tells: it may have waited for days.
func (s *sender) call(sub *Subscription, c call) result {
	now := s.service.now()
	if c.control == "" {
		ok, err := s.service.directory.mayHear(s.ctx, sub, &event.Event{Type: c.kind, Data: dataOf(c.body)})
		if err != nil { // nobody knows: it is made later
			s.service.log.Warn("the rights of the owner of a webhook subscription could not be read", "subscription", sub.ID, "error", err)
			return result{call: c, to: sub, at: now, err: err, cut: true}
		}
		if !ok {
			return result{call: c, to: sub, at: now, denied: true}
		}
	}
	return s.client.call(s.ctx, sub, c, now)
}

// room waits until a call may be made and tells how many may.
func (s *sender) room(l *lane, sub *Subscription, free chan struct{}) (n int) {
	if err := l.limit.Wait(s.ctx); err != nil {
		return 0
	}
	for _, slots := range []chan struct{}{free, s.slots} {
		select {
		case slots <- struct{}{}:
		case <-s.quit:
			if len(slots) == cap(slots) && slots == s.slots {
				<-free
			}
			return 0
		}
	}
	if sub.Rate > 0 {
		return 1
	}
	for n = 1; n < cap(free); n++ {
		select {
		case free <- struct{}{}:
		default:
			return n
		}
		select {
		case s.slots <- struct{}{}:
		default:
			<-free
			return n
		}
	}
	return n
}

// take claims calls under an owner of its own and reads what they say.
func (s *sender) take(sub *Subscription, n int) ([]call, error) {
	ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
	defer cancel()
	if version, err := s.service.store.version(ctx); n == 0 || err != nil || version != sub.version {
		return nil, err // it was changed: the next look opens the lane anew
	}
	owner := fmt.Sprintf("%s/%d", s.owner, s.claims.Add(1))
	leases, err := s.service.deliveries.Claim(ctx, sub.ID, owner, n, s.service.cfg.Lease)
	if err != nil || len(leases) == 0 {
		return nil, err
	}
	return s.service.store.load(ctx, leases)
}

// dueLanes gives the subscriptions with calls to make now.
func (s *Service) dueLanes(ctx context.Context) ([]*Subscription, error) {
	version, err := s.store.version(ctx) // before: what changes meanwhile is seen later
	if err != nil {
		return nil, err
	}
	due, err := s.store.due(ctx, s.now())
	for _, sub := range due {
		sub.version = version
	}
	return due, err
}
