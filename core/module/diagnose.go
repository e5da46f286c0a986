package module

import (
	"context"

	"go.uber.org/fx"
)

// Level says how bad a finding is.
type Level string

// The levels.
const (
	Fine Level = "ok"
	Warn Level = "warn"
	Fail Level = "fail"
)

// Finding is what `quoin doctor` tells about one thing it looked at.
type Finding struct {
	Check string `json:"check"`
	Level Level  `json:"level"`
	Says  string `json:"says"`
	Do    string `json:"do,omitempty"` // what to do about it
}

// Diagnosis looks at one part of an installation for `quoin doctor`. It runs in
// a process of its own, beside the server or without one, and changes nothing.
type Diagnosis struct {
	Name string
	Run  func(ctx context.Context) ([]Finding, error)
}

// Diagnoses contributes what `quoin doctor` looks at: []module.Diagnosis.
func Diagnoses(constructor any) fx.Option { return many(constructor, "diagnoses") }

// DiagnosisList is what the modules contribute with Diagnoses.
type DiagnosisList struct {
	fx.In

	Diagnoses []Diagnosis `group:"diagnoses"`
}
