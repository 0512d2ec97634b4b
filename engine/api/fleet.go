package api

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// A FleetRole is a person's permissions on the machines of the fleet.
type FleetRole string

const (
	RoleRead    FleetRole = "read"    // sees processes, sessions, logs and the history, but no files and no variables
	RoleOperate FleetRole = "operate" // also starts, types, stops and works on files
	RoleAdmin   FleetRole = "admin"   // has all permissions of the machine's user
)

// A FleetState is the connection state of a machine of the fleet.
type FleetState string

const (
	FleetConnected FleetState = "connected"
	FleetAway      FleetState = "away" // offline: silent for 12 seconds, or signed off
)

// A FleetMachine is a machine of the fleet, as last reported to the hub.
type FleetMachine struct {
	Name      string            `json:"name" jsonschema:"name given in the invitation"`
	Labels    map[string]string `json:"labels,omitempty" jsonschema:"labels of its invitation, and os, arch and version"`
	State     FleetState        `json:"state" jsonschema:"connected or away"`
	Version   string            `json:"version" jsonschema:"version of tandem on it"`
	Processes int               `json:"processes" jsonschema:"number of running sessions and processes"`
	States    map[State]int     `json:"states,omitempty" jsonschema:"number of sessions and processes by state"`
	Failed    int               `json:"failed,omitempty" jsonschema:"number of sessions and processes that exited by themselves without success"`
	RTTMS     float64           `json:"rtt_ms,omitempty" jsonschema:"round-trip time to the hub in milliseconds"`
	LastSeen  time.Time         `json:"last_seen" jsonschema:"time of its last message"`
	Rows      []Process         `json:"rows,omitzero" jsonschema:"if requested: its sessions and processes, as in lists; missing if the hub does not know them all, and beyond 5,000 in one answer"`
}

// LabelText returns the machine's labels as key=value, sorted and joined by separator. Labels whose
// keys are in omitted are left out.
func (m FleetMachine) LabelText(separator string, omitted ...string) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(m.Labels)) {
		if !slices.Contains(omitted, key) {
			all = append(all, key+"="+m.Labels[key])
		}
	}
	return strings.Join(all, separator)
}

// A FleetSelf is an identity of this engine in the fleet.
type FleetSelf struct {
	Kind  string `json:"kind" jsonschema:"machine or person"`
	Name  string `json:"name" jsonschema:"name given in the invitation"`
	Role  string `json:"role,omitempty" jsonschema:"role of a person: read, operate or admin"`
	Error string `json:"error,omitempty" jsonschema:"why there is no connection to the hub"`
}

// The operations on the fleet.
var (
	FleetStatus = NewOperation[Empty, FleetStatusOutput]("fleet.status",
		"Reports this engine's identities in the fleet and its connection to the hub.", Read,
		Row[Empty]{Access: Unrestricted})
	FleetList = NewOperation[FleetListInput, FleetListOutput]("fleet.list",
		"Lists the machines of the fleet, as last reported to the hub.", Read,
		Row[FleetListInput]{Access: Unrestricted})
	FleetAny = NewOperation[FleetAnyInput, FleetAnyOutput]("fleet.any",
		"Returns a connected machine with the label: the first to answer.", Read,
		Row[FleetAnyInput]{Access: Unrestricted})
)

// FleetStatusOutput is the output of fleet.status.
type FleetStatusOutput struct {
	Hub string      `json:"hub,omitempty" jsonschema:"address of the hub; missing without a fleet"`
	As  []FleetSelf `json:"as" jsonschema:"what this engine is in the fleet: a machine, a person or both"`

	RTTMS       float64 `json:"rtt_ms,omitempty" jsonschema:"round-trip time to the hub in milliseconds, for a person"`
	InMessages  int64   `json:"in_messages,omitempty" jsonschema:"messages from the hub since this engine joined, for a person"`
	InBytes     int64   `json:"in_bytes,omitempty" jsonschema:"size of these messages in bytes"`
	OutMessages int64   `json:"out_messages,omitempty" jsonschema:"messages to the hub, for a person"`
	OutBytes    int64   `json:"out_bytes,omitempty" jsonschema:"size of these messages in bytes"`
	Reconnects  int64   `json:"reconnects,omitempty" jsonschema:"number of reconnections, for a person"`
}

// FleetListInput is the input of fleet.list.
type FleetListInput struct {
	Names  []string `json:"names,omitempty" jsonschema:"only machines with these names; * matches any text"`
	Labels []string `json:"labels,omitempty" jsonschema:"only machines with all of these: key=value, key!=value"`
	Rows   bool     `json:"rows,omitempty" jsonschema:"include the sessions and processes of each"`
}

// FleetListOutput is the output of fleet.list.
type FleetListOutput struct {
	Machines []FleetMachine `json:"machines" jsonschema:"by name"`
}

// A FleetSummary has the totals of a large fleet.
type FleetSummary struct {
	Machines int `json:"machines" jsonschema:"number of machines in the fleet"`
	Away     int `json:"away" jsonschema:"number of these machines that are offline"`
}

// FleetAnyInput is the input of fleet.any.
type FleetAnyInput struct {
	Label string `json:"label" jsonschema:"a label of its invitation, key=value"`
}

// FleetAnyOutput is the output of fleet.any.
type FleetAnyOutput struct {
	Machine string `json:"machine" jsonschema:"name of the machine"`
}
