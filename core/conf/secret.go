package conf

import (
	"fmt"
	"io"
	"log/slog"
)

// Stars is what every printed form of a Secret shows, whatever it holds.
const Stars = "***"

// Secret is a string that does not show itself: fmt, JSON, YAML, text and slog
// all give ***. Only Reveal gives the value. fmt calls no methods on unexported
// struct fields and none for %p (which go vet refuses for a string), so a
// struct that is ever printed keeps its secrets in exported fields.
type Secret string

// Reveal gives the value, for the one call that needs it.
func (s Secret) Reveal() string { return string(s) }

// Set reports whether the secret is not empty.
func (s Secret) Set() bool { return s != "" }

// String gives ***.
func (s Secret) String() string { return Stars }

// Format writes *** for every verb; without it %d would show the value.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Stars) }

// MarshalText gives ***; JSON and YAML encoders use it.
func (s Secret) MarshalText() ([]byte, error) { return []byte(Stars), nil }

// LogValue gives ***.
func (s Secret) LogValue() slog.Value { return slog.StringValue(Stars) }
