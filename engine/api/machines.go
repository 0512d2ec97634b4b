package api

import (
	"strings"
	"time"
)

// A MachineState is the state of the connection to a machine.
type MachineState string

const (
	MachineConnected  MachineState = "connected"
	MachineConnecting MachineState = "connecting" // for the first time, or after a recent loss
	MachineAway       MachineState = "away"       // offline; retried automatically
	MachineNeedsYou   MachineState = "needs_you"  // needs an answer from the user: `tandem machine connect`
)

// A Machine is another machine, and the state of the connection to it.
type Machine struct {
	Name     string       `json:"name" jsonschema:"name in config.toml or in the fleet"`
	State    MachineState `json:"state" jsonschema:"connected, connecting, away or needs_you"`
	Version  string       `json:"version,omitempty" jsonschema:"version of tandem on it, when last seen"`
	RTTMS    float64      `json:"rtt_ms,omitempty" jsonschema:"round-trip time in milliseconds"`
	LastSeen *time.Time   `json:"last_seen,omitempty" jsonschema:"when it last answered"`
	Error    string       `json:"error,omitempty" jsonschema:"why it is not connected"`
	Target   string       `json:"target" jsonschema:"how it is reached: user@box, or a command"`
	SSH      bool         `json:"ssh,omitempty" jsonschema:"it is reached by ssh, so tandem can be copied to it"`
	Fleet    bool         `json:"fleet,omitempty" jsonschema:"it belongs to the fleet, not to config.toml"`
}

// The operations on machines.
var (
	MachineList = NewOperation[MachineListInput, MachineListOutput]("machine.list",
		"Lists the machines of config.toml, and starts connecting to them.", Read,
		Row[MachineListInput]{Access: Unrestricted})
	MachineConnect = NewOperation[MachineConnectInput, Machine]("machine.connect",
		"Connects to a machine without delay, and returns once it is connected or has failed.", Write,
		Row[MachineConnectInput]{Access: UserOnly, Repeat: RepeatAlways})
)

// MachineListInput is the input of machine.list.
type MachineListInput struct {
	WaitMS int `json:"wait_ms,omitempty" jsonschema:"milliseconds to wait at most for machines being connected"`
}

// MachineListOutput is the output of machine.list, sorted by name.
type MachineListOutput struct {
	Machines []Machine     `json:"machines" jsonschema:"the other machines, by name; of a fleet of more than 32, only those passed to machine.connect"`
	Fleet    *FleetSummary `json:"fleet,omitempty" jsonschema:"totals of a fleet of more than 32 machines"`
}

// MachineConnectInput is the input of machine.connect.
type MachineConnectInput struct {
	Name  string `json:"name" jsonschema:"name in config.toml or in the fleet"`
	Close bool   `json:"close,omitempty" jsonschema:"stop listing a machine of a large fleet"`
}

// A HostError says why a machine is missing in an answer about several machines.
type HostError struct {
	Host    string `json:"host" jsonschema:"name of the machine"`
	Code    Code   `json:"code" jsonschema:"code of the error"`
	Reason  Reason `json:"reason,omitempty" jsonschema:"reason of the error"`
	Message string `json:"message" jsonschema:"why it did not answer"`
	Hint    string `json:"hint,omitempty" jsonschema:"what the user can do about it"`
}

// HostErrorOf returns why a machine did not answer.
func HostErrorOf(host string, err error) HostError {
	e := AsError(err)
	return HostError{host, e.Code, e.Reason, e.Message, e.Hint}
}

// OpenOptions redirect a connection to an engine. Either it leads to the engine of another machine,
// or the engine serves it as a connection from another machine. The bridge at the remote end uses
// the latter. They are sent in the query of engine.open.
type OpenOptions struct {
	Machine  string    // the target; "": this engine itself, with the other fields
	Origin   string    // the caller, "user@host"; "" on this engine's own machine
	Agent    string    // the agent's process behind the request on that machine; "" if none
	ReadOnly bool      // only reads are allowed
	AuthSock string    // socket of the client's ssh agent
	By       *FarAgent // the calling agent; nil for the user
}

// A FarAgent identifies an agent to another machine. It has the bounds to be enforced there.
type FarAgent struct {
	Name   string `json:"name"` // its client's name
	Owner  string `json:"owner"`
	Bounds Bounds `json:"bounds"` // after AbbreviateHome
}

// OnMachine adds the name of its machine to an id, for lists about several machines. If machine is
// "", which means this one, it returns id unchanged.
func OnMachine(machine, id string) string {
	if machine == "" || id == "" {
		return id
	}
	return machine + "/" + id
}

// PathOn adds the name of its machine to a path: "/box:/etc/hosts". If machine is "", which means
// this one, it returns path unchanged.
func PathOn(machine, path string) string {
	if machine == "" || path == "" {
		return path
	}
	return strings.TrimSuffix("/"+machine+":"+path, "/")
}

// PathOf splits a path made by PathOn into the machine, and the path there. It mistakes a local
// directory called "box:" for a machine.
func PathOf(path string) (machine, there string) {
	first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	machine, far := strings.CutSuffix(first, ":")
	if !far || machine == "" || !strings.HasPrefix(path, "/") {
		return "", path
	}
	return machine, "/" + rest
}

// MachineOf splits a name made by OnMachine into the machine, and the id or name there.
func MachineOf(name string) (machine, id string) {
	machine, id, far := strings.Cut(name, "/")
	if !far {
		return "", name
	}
	return machine, id
}

// Unqualify removes the machine named in a call's input and returns it; "" means this machine. in
// is a pointer. known reports whether a machine exists, because a path may only look like one on
// another machine.
func (e Entry) Unqualify(in any, known func(machine string) bool) (machine string, err error) {
	if e.Several {
		return "", nil
	}
	for i, id := range e.RoutingIDs(in) {
		name, rest := MachineOf(*id)
		if strings.Contains(rest, "/") { // no id: the call is rejected here
			name, rest = "", *id
		}
		if i > 0 && name != machine {
			return "", Errorf(CodeInvalid, "call %s: must name sessions and processes of one machine", e.Name)
		}
		machine, *id = name, rest
	}
	// Bookkeeping operations stay here: this engine judges and records calls, even if they are
	// carried out elsewhere.
	if host := e.Host(in); host != nil && *host != "" && e.Access != Bookkeeping {
		machine, *host = *host, ""
	}
	if files, ok := in.(interface{ Scope() *FileScope }); ok && e.paths != nil && files.Scope().Machines {
		if machine, err = unqualifyPaths(e.Name, e.paths(in), known); err != nil {
			return "", err
		}
		files.Scope().Machines = false
	}
	e.Adapt(in, machine)
	return machine, nil
}

// unqualifyPaths removes the machine from all paths, which must be the same, and returns it.
func unqualifyPaths(operation string, paths []*string, known func(machine string) bool) (machine string, err error) {
	for i, path := range paths {
		name, there := PathOf(*path)
		if name == "" || !known(name) {
			name, there = "", *path
		}
		if i > 0 && name != machine {
			return "", Errorf(CodeInvalid, "call %s: must name files of one machine", operation).WithReason(ReasonSeveralMachines)
		}
		machine, *path = name, there
	}
	return machine, nil
}
