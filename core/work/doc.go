// Package work is the only queue: it claims rows under a lease. Deliveries of
// events, jobs, webhook attempts and periodic tasks are rows that it claims.
//
// # The table
//
// A queue is a table of the module that owns it, with these columns and any
// others the module likes:
//
//	id         bigint primary key (identity; INTEGER PRIMARY KEY on SQLite)
//	queue      text not null       which of the table's queues the row waits in
//	due_at     bigint not null     microseconds since 1970; from then on it may be claimed
//	owner      text                who claimed it; null while it waits
//	attempt    integer not null default 0   how often it was claimed
//	buried_at  bigint              given up; null unless it is
//	last_error text                why the last attempt failed
//	created_at bigint not null
//
// and the index (queue, due_at, id) WHERE buried_at IS NULL. A row is added by a
// plain INSERT of queue, due_at and created_at, in the transaction that makes
// the work necessary.
//
// # A row's life
//
//	waiting ──Claim──► leased ──Done──► gone (or kept, due never again)
//	   ▲                │ │ └──Bury──► buried ──Revive──► waiting
//	   └─Retry, Release─┘ │
//	   └──lease runs out──┘
//
// A claim moves due_at to the end of the lease, so a row whose owner died
// becomes due again by itself: there is no sweeper. Every change of a leased row
// names the owner and the attempt of its claim. A process that lost its lease,
// for example because it stood still, matches no row and is told ErrLost.
//
// What is promised: a row that was committed is worked at least once. What is
// not: exactly once, unless the work's effect and Done share a transaction.
//
// Ends of leases are compared by the clocks of the processes. Clocks that
// differ by more than a part of the lease make rows change hands early; the
// fence keeps that harmless for rows, not for effects outside the database.
package work
