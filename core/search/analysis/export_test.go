package analysis

// SegmentWords exposes the slow path of the standard tokenizer, to compare the
// fast one with it.
func SegmentWords(b *Buffer, text []byte, lower bool) { segmentWords(b, text, lower) }

// EuropeanWords exposes the fast path.
func EuropeanWords(b *Buffer, text []byte, lower bool) bool { return europeanWords(b, text, lower) }
