package file

import (
	"sync"
	"time"
)

// claims are who writes to which upload. On SQLite, which belongs to one
// process, they are kept here: a row would cost each chunk another flush of the
// disk. Elsewhere they are columns of file_upload.
type claims struct {
	mu sync.Mutex
	by map[string]lease // by the id of the upload
}

type lease struct {
	owner string
	until time.Time
}

// take claims an upload; false when somebody else has it.
func (c *claims) take(id, owner string, until, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by[id].until.After(now) {
		return false
	}
	c.by[id] = lease{owner, until}
	return true
}

// renew keeps a claim, or gives it up when until is zero; false when it was
// lost.
func (c *claims) renew(id, owner string, until time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by[id].owner != owner {
		return false
	}
	if until.IsZero() {
		delete(c.by, id)
	} else {
		c.by[id] = lease{owner, until}
	}
	return true
}

// owns reports whether the claim was not lost.
func (c *claims) owns(id, owner string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.by[id].owner == owner
}

// drop gives a claim up.
func (c *claims) drop(id, owner string) { c.renew(id, owner, time.Time{}) }

// held reports whether somebody writes to the upload; nil holds nothing.
func (c *claims) held(id string, now time.Time) bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.by[id].until.After(now)
}

// forget drops whoever holds an upload that is no more.
func (c *claims) forget(id string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.by, id)
}
