package api

import (
	"strings"
	"time"
)

// A MachineState says how it is with the link to a machine.
type MachineState string

const (
	MachineConnected  MachineState = "connected"
	MachineConnecting MachineState = "connecting" // for the first time, or since just now
	MachineAway       MachineState = "away"       // it does not answer; it is tried again by itself
	MachineNeedsYou   MachineState = "needs_you"  // a person has to answer something: `tandem machine connect`
)

// A Machine is another machine, as the link to it knows it.
type Machine struct {
	Name     string       `json:"name" jsonschema:"as in config.toml"`
	State    MachineState `json:"state" jsonschema:"connected, connecting, away or needs_you"`
	Version  string       `json:"version,omitempty" jsonschema:"of tandem there, when it was last seen"`
	RTTMS    float64      `json:"rtt_ms,omitempty" jsonschema:"how long a call that does nothing takes, in milliseconds"`
	LastSeen *time.Time   `json:"last_seen,omitempty" jsonschema:"when it last answered"`
	Error    string       `json:"error,omitempty" jsonschema:"why it is not connected"`
	Target   string       `json:"target" jsonschema:"what it is reached by: user@box, or a command"`
	SSH      bool         `json:"ssh,omitempty" jsonschema:"it is reached by ssh, over which tandem can be copied there"`
	Fleet    bool         `json:"fleet,omitempty" jsonschema:"it is one of the fleet, not of config.toml"`
}

// What can be asked about machines.
var (
	MachineList = NewOperation[MachineListInput, MachineListOutput]("machine.list",
		"Lists the machines of config.toml, and begins to connect to them.", Read)
	MachineConnect = NewOperation[MachineConnectInput, Machine]("machine.connect",
		"Tries at once to reach a machine, and answers when that is decided.", Write)
)

// MachineListInput is the input of machine.list.
type MachineListInput struct {
	WaitMS int `json:"wait_ms,omitempty" jsonschema:"wait this long at most for those that are being connected to"`
}

// MachineListOutput is the output of machine.list, by name.
type MachineListOutput struct {
	Machines []Machine     `json:"machines" jsonschema:"by name; of a fleet of more than 32, those that machine.connect was called for"`
	Fleet    *FleetSummary `json:"fleet,omitempty" jsonschema:"a fleet of more than 32 machines; its processes are listed by fleet.processes"`
}

// MachineConnectInput is the input of machine.connect.
type MachineConnectInput struct {
	Name  string `json:"name" jsonschema:"as in config.toml, or in the fleet"`
	Close bool   `json:"close,omitempty" jsonschema:"list a machine of a large fleet no more"`
}

// OpenOptions turn a connection to an engine into one to another: to the engine
// of a machine, or, for the bridge at the far end of a link, into one whose
// requests come from elsewhere. They travel in the query of engine.open.
type OpenOptions struct {
	Machine  string    // to which; "": this engine itself, with what follows
	Origin   string    // who asks, "user@host"; for this engine's own machine ""
	Agent    string    // what of an agent's the request was made from there; "" if nothing
	ReadOnly bool      // it may only read
	AuthSock string    // of the client: where its ssh agent listens
	By       *FarAgent // the agent that asks; nil for a person
}

// A FarAgent is an agent as another machine is told of it: who it is, and what it is held to
// wherever it is led.
type FarAgent struct {
	Name   string `json:"name"` // what its client is called
	Owner  string `json:"owner"`
	Bounds Bounds `json:"bounds"` // Away
}

// OnMachine is the name of something in a view of several machines: what the
// machine itself calls id. It is id alone for this machine, "".
func OnMachine(machine, id string) string {
	if machine == "" || id == "" {
		return id
	}
	return machine + "/" + id
}

// PathOn is a path of a machine in a view of several: "/box:/etc/hosts". It is path
// alone for this machine, "".
func PathOn(machine, path string) string {
	if machine == "" || path == "" {
		return path
	}
	return strings.TrimSuffix("/"+machine+":"+path, "/")
}

// PathOf is the machine of a path that PathOn made, and the path there. A folder
// of this machine may look the same.
func PathOf(path string) (machine, there string) {
	first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	machine, far := strings.CutSuffix(first, ":")
	if !far || machine == "" || !strings.HasPrefix(path, "/") {
		return "", path
	}
	return machine, "/" + rest
}

// MachineOf is the machine of a name that OnMachine made, and the name there.
func MachineOf(name string) (machine, id string) {
	machine, id, far := strings.Cut(name, "/")
	if !far {
		return "", name
	}
	return machine, id
}
