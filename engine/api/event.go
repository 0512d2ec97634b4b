package api

// An EventType says what an Event carries.
type EventType string

const (
	EventSnapshot EventType = "snapshot" // always first: Processes and Info hold everything
	EventProcess  EventType = "process"  // Process is new or has changed
	EventRemoved  EventType = "removed"  // ID is gone
	EventNotice   EventType = "notice"   // Notice is something a person should read
)

// An Event is one message of events.watch, a server-sent-event stream at
// GET /v1/events.watch. The snapshot and what follows it have no gap.
type Event struct {
	Type      EventType `json:"type"`
	Info      *Info     `json:"info,omitempty"`
	Processes []Process `json:"processes,omitempty"`
	Process   *Process  `json:"process,omitempty"`
	ID        string    `json:"id,omitempty"`
	Notice    string    `json:"notice,omitempty"`
}
