package api

// An EventType says which fields of an Event are set.
type EventType string

const (
	EventSnapshot EventType = "snapshot" // always first: Processes and Info are complete
	EventProcess  EventType = "process"  // Process is new or has changed
	EventRemoved  EventType = "removed"  // ID was deleted
	EventNotice   EventType = "notice"   // Notice is a message to the user
	EventRequest  EventType = "request"  // Request is new or was answered; open ones and those with a standing answer follow a snapshot
	EventHistory  EventType = "history"  // the history has changed; History counts the changes
	EventLayout   EventType = "layout"   // the layout was changed by Changes, and has the number Revision; ignore an event with a lower number
	EventShow     EventType = "show"     // dashboards with the keyboard in session ID go to session Show
	EventMachine  EventType = "machine"  // Machine has changed state; known machines follow a snapshot. Without Machine: call machine.list again for the fleet
	EventMachines EventType = "machines" // Machines and Fleet are complete; sent with WatchInput.Machines, after the snapshot and after changes
	EventPolicy   EventType = "policy"   // Fault is the error in policy.toml, "" once it is fixed. A fault follows a snapshot
	EventStopped  EventType = "stopped"  // always last: the engine stops on request, Notice says how; do not start it again
)

// An Event is one message of events.watch, a stream of server-sent events at GET /v1/events.watch.
// The stream begins with a snapshot. No change is lost between it and the next event.
type Event struct {
	Type      EventType      `json:"type" jsonschema:"snapshot, process, removed, notice, request, history, layout, show, machine, machines, policy or stopped"`
	Host      string         `json:"host,omitempty" jsonschema:"the other machine that the event is about; ids in the event begin with its name, as in box/4f2a"`
	Info      *Info          `json:"info,omitempty" jsonschema:"in a snapshot: the output of engine.info"`
	Processes []Process      `json:"processes,omitempty" jsonschema:"in a snapshot: all sessions and processes"`
	Process   *Process       `json:"process,omitempty" jsonschema:"new or changed session or process"`
	ID        string         `json:"id,omitempty" jsonschema:"id of a deleted session or process; in show events: id of the session whose pane has the focus"`
	Request   *Request       `json:"request,omitempty" jsonschema:"new or answered request of an agent"`
	History   int64          `json:"history,omitempty" jsonschema:"number of changes to the history since the engine started"`
	Machine   *Machine       `json:"machine,omitempty" jsonschema:"a machine with a changed state"`
	Machines  []Machine      `json:"machines,omitempty" jsonschema:"in machines events, and in a snapshot if machines were requested: all other machines, by name"`
	Fleet     *FleetSummary  `json:"fleet,omitempty" jsonschema:"in machines events, and in a snapshot if machines were requested: a fleet that has more machines than listed"`
	Layout    *Layout        `json:"layout,omitempty" jsonschema:"in a snapshot: the layout"`
	Revision  int64          `json:"revision,omitempty" jsonschema:"in snapshot and layout events: the revision of the layout"`
	Changes   []LayoutChange `json:"changes,omitempty" jsonschema:"in layout events: what was changed"`
	Show      string         `json:"show,omitempty" jsonschema:"in show events: the session to go to"`
	Fault     string         `json:"fault,omitempty" jsonschema:"in policy events: the error in policy.toml; empty once it is fixed"`
	Notice    string         `json:"notice,omitempty" jsonschema:"message to the user"`
}

// WithoutPrivate returns the event without what private sessions run and show.
func (e Event) WithoutPrivate() Event {
	hide := func(p Process) Process {
		if p.IsPrivate() {
			return p.WithoutContent()
		}
		return p
	}
	if e.Process != nil {
		p := hide(*e.Process)
		e.Process = &p
	}
	all := make([]Process, len(e.Processes))
	for i, p := range e.Processes {
		all[i] = hide(p)
	}
	if e.Processes != nil {
		e.Processes = all
	}
	return e
}

// WatchInput selects the events sent by events.watch. It is passed in the query of the URL.
type WatchInput struct {
	// Lasting leaves out events about one-shot commands. There are many of them, and most have
	// exited before their first event arrives. In the URL: lasting=true.
	Lasting bool
	// Machines adds the events of other machines. For each machine, a snapshot comes first, once it
	// is known. Only the user gets these events. In the URL: machines=true.
	Machines bool
}
