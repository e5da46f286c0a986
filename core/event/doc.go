// Package event is the event bus: a transactional outbox. Emit adds an event
// to the caller's transaction, together with one delivery for each durable
// subscriber that wants it; subscribers work their deliveries with leases of
// core/work.
//
// # Two kinds of subscribers
//
// A durable Subscription is known by its name to all processes of an
// installation. Each delivery is worked by one of the processes that serve the
// name, and waits when there is none. A Live subscriber is a function in this
// process that is told after a commit and forgotten with the process: for
// indexes and caches in memory that are rebuilt at start.
// Where such a process must also follow what others write, a durable
// Subscription with Elsewhere hears those only, and makes no delivery for an
// event of its own; Bus.Known tells from when on it misses none.
//
// # Guarantees
//
//	change of state and its event     both or none: they are one transaction.
//	event and its deliveries          both or none, for the subscribers known at that moment.
//	event to a durable subscriber     at least once, through crashes, restarts and deployments.
//	                                  A handler sees an event again when its process died, stood
//	                                  still past its lease, or failed before it was marked done.
//	Transactional subscriber          exactly once in effect: what the handler writes with its
//	                                  context, and the mark that it is done, are one transaction.
//	two processes, one delivery       never at the same time, as long as the handler's process is
//	                                  not held up for longer than a lease. A process that was may
//	                                  still run, but marks nothing.
//	order                             none promised. Deliveries are claimed oldest first, but
//	                                  batches run side by side and failures come back later. A
//	                                  handler should load the present state of the subject and
//	                                  not trust that the event is the newest.
//	a failing event                   does not hold up the others: a batch that fails is handled
//	                                  one by one. After MaxAttempts the delivery is buried: kept,
//	                                  counted in Stats, listed by Buried, tried again by
//	                                  RetryBuried.
//	a subscriber nobody serves        gets deliveries for a day more, then none; what it has is
//	                                  kept until DropSubscriber (quoin events drop). Where this
//	                                  process is the only one (SQLite) it gets none from the next
//	                                  Start on.
//	Live subscriber                   at most once, after the commit; in the order of commits on
//	                                  SQLite, about in that order on PostgreSQL.
//	events themselves                 kept for Options.Retention, and longer while a delivery
//	                                  waits or is buried.
//
// Polling (Options.Poll) is what delivers. That a commit wakes subscribers in
// this process, and in others by NOTIFY outside of any transaction, at most
// every 50 ms, only shortens the wait; all of it may fail without harm.
package event
