package webhook

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/module"
)

// commands are those of the command line. Whoever has the database may manage
// every subscription.
func commands() []module.Command {
	one, two := [2]int{1, 1}, [2]int{2, 2}
	return []module.Command{
		module.Cmd(module.Command{Use: "webhook list", Short: "List webhook subscriptions"}, runList),
		module.Cmd(module.Command{Use: "webhook show ID", Short: "Show a webhook subscription", Args: one}, runShow),
		module.Cmd(module.Command{Use: "webhook pause ID", Short: "Keep the events of an endpoint without calling it", Args: one}, runChange("paused", (*Service).Pause)),
		module.Cmd(module.Command{Use: "webhook resume ID", Short: "Call a paused, broken or disabled endpoint again", Args: one}, runChange("resumed", (*Service).Resume)),
		module.Cmd(module.Command{Use: "webhook remove ID", Short: "End a webhook subscription", Args: one}, runRemove),
		module.Cmd(module.Command{Use: "webhook rotate ID", Local: true, Short: "Make a new secret; the old one stays valid for a while", Args: one}, runRotate),
		module.Cmd(module.Command{
			Use: "webhook test ID", Short: "Send a test call", Args: one,
			Flags: []module.Flag{{Name: "ping", Default: false, Doc: "send webhook_ping instead of webhook_test"}},
		}, runTest),
		module.Cmd(module.Command{
			Use: "webhook deliveries ID", Short: "List the calls to an endpoint", Args: one,
			Flags: []module.Flag{
				{Name: "status", Default: "", Doc: "only those that are waiting, delivered or failed"},
				{Name: "limit", Default: 50, Doc: "how many, the newest first"},
				{Name: "before", Default: 0, Doc: "go on after the last id of a list"},
			},
		}, runDeliveries),
		module.Cmd(module.Command{Use: "webhook delivery ID DELIVERY", Short: "Show a call with its tries", Args: two}, runDelivery),
		module.Cmd(module.Command{
			Use: "webhook replay ID [DELIVERY]", Short: "Make calls again", Args: [2]int{1, 2},
			Long: "Makes one call again, or with --since or --after all those about the events since then, as far back as events are kept.",
			Flags: []module.Flag{
				{Name: "since", Default: "", Doc: "a time such as 2026-05-04T10:00:00Z, or how long ago, such as 2h"},
				{Name: "after", Default: 0, Doc: "the id of an event"},
			},
		}, runReplay),
	}
}

// advise says an error as people read it, with what to do next.
func advise(err error) error {
	return module.Advise(err, map[string]string{
		"subscription_unknown": "`quoin webhook list` shows those there are",
		"delivery_unknown":     "`quoin webhook deliveries ID` shows those there are",
	})
}

func runList(ctx context.Context, s *Service, call *module.Call) error {
	all, err := s.List(module.Operator(ctx))
	if err != nil {
		return advise(err)
	}
	views, rows := []subscriptionView{}, [][]string{}
	for _, sub := range all {
		v := viewSubscription(sub, s.now())
		views = append(views, v)
		rows = append(rows, []string{v.ID, v.Status, v.Owner, v.EndpointURL, strings.Join(v.Events, " ")})
	}
	return call.Table(views, []string{"ID", "STATUS", "OWNER", "ENDPOINT", "EVENTS"}, rows)
}

func runShow(ctx context.Context, s *Service, call *module.Call) error {
	sub, err := s.Get(module.Operator(ctx), call.Args[0])
	if err != nil {
		return advise(err)
	}
	v := viewSubscription(sub, s.now())
	rows := [][]string{
		{"id", v.ID},
		{"endpoint", v.EndpointURL},
		{"events", strings.Join(v.Events, " ")},
		{"content types", strings.Join(v.ContentTypes, " ")},
		{"environments", strings.Join(v.Environments, " ")},
		{"owner", v.Owner},
		{"status", v.Status + " " + v.Message},
		{"failures", strconv.Itoa(v.Failures)},
		{"created", v.Created},
	}
	return call.Table(v, []string{"", ""}, rows)
}

func runChange(what string, change func(*Service, context.Context, string) (*Subscription, error)) func(context.Context, *Service, *module.Call) error {
	return func(ctx context.Context, s *Service, call *module.Call) error {
		sub, err := change(s, module.Operator(ctx), call.Args[0])
		if err != nil {
			return advise(err)
		}
		return call.Say(viewSubscription(sub, s.now()), "The subscription %s is %s.", sub.ID, what)
	}
}

func runRemove(ctx context.Context, s *Service, call *module.Call) error {
	ctx = module.Operator(ctx)
	if _, err := s.Get(ctx, call.Args[0]); err != nil { // people want to know
		return advise(err)
	}
	if err := s.Unsubscribe(ctx, call.Args[0]); err != nil {
		return advise(err)
	}
	return call.Say(removed{ok(), call.Args[0]}, "The subscription %s has ended.", call.Args[0])
}

func runRotate(ctx context.Context, s *Service, call *module.Call) error {
	sub, err := s.Rotate(module.Operator(ctx), call.Args[0])
	if err != nil {
		return advise(err)
	}
	return call.Say(subscribed{sub.ID, sub.Secret}, "The new secret is %s\nThe old one stays valid until %s.", sub.Secret, *date(sub.OldSecretUntil))
}

func runTest(ctx context.Context, s *Service, call *module.Call) error {
	control := controlTest
	if call.Bool("ping") {
		control = controlPing
	}
	id, err := s.Test(module.Operator(ctx), call.Args[0], control)
	if err != nil {
		return advise(err)
	}
	return call.Say(tested{ok(), strconv.FormatInt(id, 10)}, "The running server sends %s now: `quoin webhook delivery %s %d` shows how it went.", control, call.Args[0], id)
}

func runDeliveries(ctx context.Context, s *Service, call *module.Call) error {
	limit, _ := call.Flags("limit").(int)
	before, _ := call.Flags("before").(int)
	all, err := s.Deliveries(module.Operator(ctx), call.Args[0], call.String("status"), int64(before), limit)
	if err != nil {
		return advise(err)
	}
	views, rows := []DeliveryView{}, [][]string{}
	for _, d := range all {
		v := viewDelivery(d)
		views = append(views, v)
		due := ""
		if v.Due != nil {
			due = *v.Due
		}
		rows = append(rows, []string{v.ID, v.Status, v.Event, v.Subject, *v.Created, due, strconv.Itoa(v.Tries), v.Error})
	}
	return call.Table(views, []string{"ID", "STATUS", "EVENT", "SUBJECT", "CREATED", "NEXT TRY", "TRIES", "ERROR"}, rows)
}

func number(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is not the number of a delivery", s)
	}
	return n, nil
}

func runDelivery(ctx context.Context, s *Service, call *module.Call) error {
	id, err := number(call.Args[1])
	if err != nil {
		return err
	}
	d, err := s.Delivery(module.Operator(ctx), call.Args[0], id)
	if err != nil {
		return advise(err)
	}
	v, rows := viewWhole(d), [][]string{}
	for _, a := range v.Attempts {
		rows = append(rows, []string{a.At, strconv.FormatInt(a.Duration, 10), strconv.Itoa(a.Status), a.Error, a.Response})
	}
	return call.Table(v, []string{"TRIED AT", "MS", "STATUS", "ERROR", "ANSWER"}, rows)
}

func runReplay(ctx context.Context, s *Service, call *module.Call) error {
	ctx = module.Operator(ctx)
	if len(call.Args) == 2 {
		id, err := number(call.Args[1])
		if err != nil {
			return err
		}
		if err := s.Replay(ctx, call.Args[0], id); err != nil {
			return advise(err)
		}
		return call.Say(replayed{ok(), 1}, "The running server makes the call %d again.", id)
	}
	after, _ := call.Flags("after").(int)
	since, err := parseSince(call.String("since"), s.now())
	if err != nil || (call.String("since") == "") == (after == 0) {
		return errors.New("say which: a DELIVERY, or --since with a time such as 2026-05-04T10:00:00Z or 2h, or --after with the id of an event")
	}
	n, err := s.ReplaySince(ctx, call.Args[0], since, int64(after))
	if err != nil {
		return advise(err)
	}
	return call.Say(replayed{ok(), n}, "The running server makes %d calls again.", n)
}

// parseSince reads a time, or how long ago.
func parseSince(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(s); err == nil && ago > 0 {
		return now.Add(-ago), nil
	}
	return time.Parse(time.RFC3339, s)
}
