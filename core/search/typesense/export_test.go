package typesense

// ParseName takes the name of a field apart, for tests.
func ParseName(name string) (prefix, path, tag string, ok bool) { return parseName(name) }
