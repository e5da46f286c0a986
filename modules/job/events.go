package job

import (
	"encoding/json"

	"github.com/quoin-cms/quoin/core/event"
)

// outcome is the data of the events. It holds neither the command nor what it
// wrote: both may be secret.
type outcome struct {
	Job      string `json:"job"`
	Tag      string `json:"tag"`
	User     string `json:"user"`
	Schedule string `json:"schedule"`
	State    State  `json:"state"`
	Attempt  int    `json:"attempt"`
	ExitCode *int64 `json:"exit_code"`
}

func eventTypes() []event.Type {
	schema := event.Object("job string", "tag string", "user string", "schedule string", "state string", "attempt integer", "exit_code integer|null")
	return []event.Type{
		{
			Name: "job.done", Doc: "A job has completed.", Schema: schema,
			Sample: json.RawMessage(`{"job":"43","tag":"import","user":"ada","schedule":"","state":"done","attempt":1,"exit_code":null}`),
		}, {
			Name: "job.failed", Doc: "A job has failed for good, has lost its worker for good, or was cancelled.", Schema: schema,
			Sample: json.RawMessage(`{"job":"44","tag":"","user":"ada","schedule":"nightly","state":"failed","attempt":2,"exit_code":1}`),
		},
	}
}
