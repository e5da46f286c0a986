package pluginhost

// State is where a plugin is in its life.
type State string

// The states.
const (
	Disabled State = "disabled" // found, and nobody enabled it
	Starting State = "starting"
	Ready    State = "ready"
	Backoff  State = "backoff" // it died and is started again soon
	Failed   State = "failed"  // it stays down until quoin plugin reload
	Stopped  State = "stopped"
)
