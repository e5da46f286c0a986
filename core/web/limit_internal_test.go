package web

import "testing"

// TestBucketsAreBounded: whoever was silent for longest is forgotten first.
func TestBucketsAreBounded(t *testing.T) {
	q := newQuota[int64]("x", Rate{PerSecond: 0.001, Burst: 1}, 3)
	refused := func(key int64) bool { _, _, wait := q.take(key); return wait > 0 }
	for key := int64(1); key <= 3; key++ {
		if refused(key) {
			t.Fatalf("%d is refused at first", key)
		}
	}
	if !refused(1) || refused(4) { // 1 was seen last, so 2 goes
		t.Error("the wrong one was forgotten")
	}
	if len(q.by) != 3 || q.recent.Len() != 3 || !refused(1) || refused(2) {
		t.Errorf("%d buckets, %d in order", len(q.by), q.recent.Len())
	}
}
