package api

// An EventType says what an Event carries.
type EventType string

const (
	EventSnapshot EventType = "snapshot" // always first: Processes and Info hold everything
	EventProcess  EventType = "process"  // Process is new or has changed
	EventRemoved  EventType = "removed"  // ID is gone
	EventNotice   EventType = "notice"   // Notice is something a person should read
	EventRequest  EventType = "request"  // Request is an agent's question to the person, or was answered; open ones follow a snapshot
	EventHistory  EventType = "history"  // the history has changed; History counts
	EventLayout   EventType = "layout"   // Layout shall be shown
	EventKept     EventType = "kept"     // Layout is what the next dashboard begins with, as number Revision; an event with a lower one comes late
	EventMachine  EventType = "machine"  // Machine is in another state; the machines asked for so far follow a snapshot. Without Machine: ask machine.list for the fleet again
	EventPolicy   EventType = "policy"   // Fault is why policy.toml does not apply as written; "" once it does. A fault follows a snapshot
	EventStopped  EventType = "stopped"  // always last: the engine ends because somebody asked, Notice says how; do not start it again
)

// An Event is one message of events.watch, a server-sent-event stream at
// GET /v1/events.watch. The snapshot and what follows it have no gap.
type Event struct {
	Type      EventType `json:"type" jsonschema:"snapshot, process, removed, notice, request, history, layout, kept, machine, policy or stopped"`
	Info      *Info     `json:"info,omitempty" jsonschema:"in a snapshot: what engine.info tells"`
	Processes []Process `json:"processes,omitempty" jsonschema:"in a snapshot: all of them"`
	Process   *Process  `json:"process,omitempty" jsonschema:"one that is new or has changed"`
	ID        string    `json:"id,omitempty" jsonschema:"of a process that is gone"`
	Request   *Request  `json:"request,omitempty" jsonschema:"a question of an agent, or its answer"`
	History   int64     `json:"history,omitempty" jsonschema:"how often the history has changed since the engine started"`
	Machine   *Machine  `json:"machine,omitempty" jsonschema:"another machine, as the link to it knows it"`
	Layout    *Layout   `json:"layout,omitempty" jsonschema:"how sessions shall be laid out; in a snapshot, and kept: how the dashboard that changed its own last has them"`
	Revision  int64     `json:"revision,omitempty" jsonschema:"in a snapshot, and kept: the number of that layout"`
	Fault     string    `json:"fault,omitempty" jsonschema:"in policy: why policy.toml does not apply as written; empty once it does"`
	Notice    string    `json:"notice,omitempty" jsonschema:"something a person should read"`
}

// WatchInput says which events a reader of events.watch wants; it travels in the
// query of the URL.
type WatchInput struct {
	// Lasting leaves out what concerns one-shot commands alone: there are many,
	// and most are over when one hears of them. In the URL: lasting=true.
	Lasting bool
}
