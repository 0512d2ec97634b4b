package api

import "time"

// A FleetRole bounds what a person may do on machines of the fleet.
type FleetRole string

const (
	RoleRead    FleetRole = "read"    // sees processes, sessions, logs and the history; no files, no variables
	RoleOperate FleetRole = "operate" // starts, types, stops and works on files too
	RoleAdmin   FleetRole = "admin"   // does all that somebody at the machine may
)

// A FleetState says how it is with a machine of the fleet.
type FleetState string

const (
	FleetConnected FleetState = "connected"
	FleetAway      FleetState = "away" // nothing came from it for 12 seconds, or it said that it goes
)

// A FleetMachine is a machine of the fleet, as it has told the hub last.
type FleetMachine struct {
	Name      string            `json:"name" jsonschema:"as invited"`
	Labels    map[string]string `json:"labels,omitempty" jsonschema:"of its invitation, and os, arch and version"`
	State     FleetState        `json:"state" jsonschema:"connected or away"`
	Version   string            `json:"version" jsonschema:"of tandem there"`
	Processes int               `json:"processes" jsonschema:"sessions and processes that have not ended"`
	States    map[State]int     `json:"states,omitempty" jsonschema:"how many sessions and processes are in each state"`
	LastSeen  time.Time         `json:"last_seen" jsonschema:"when it was heard of last"`
}

// A FleetSelf is who this engine is in the fleet.
type FleetSelf struct {
	Kind  string `json:"kind" jsonschema:"machine or person"`
	Name  string `json:"name" jsonschema:"as invited"`
	Role  string `json:"role,omitempty" jsonschema:"of a person: read, operate or admin"`
	Error string `json:"error,omitempty" jsonschema:"why there is no connection to the hub"`
}

// What can be asked about the fleet.
var (
	FleetStatus = Operation[Empty, FleetStatusOutput]{"fleet.status",
		"Tells who this engine is in the fleet, and whether the hub can be reached.", Read}
	FleetList = Operation[FleetListInput, FleetListOutput]{"fleet.list",
		"Lists the machines of the fleet, as they have told the hub.", Read}
	FleetAny = Operation[FleetAnyInput, FleetAnyOutput]{"fleet.any",
		"Asks the connected machines with a label, and tells which one has answered.", Read}
)

// FleetStatusOutput is the output of fleet.status.
type FleetStatusOutput struct {
	Hub string      `json:"hub,omitempty" jsonschema:"where the hub is; none without a fleet"`
	As  []FleetSelf `json:"as" jsonschema:"a machine, a person or both"`
}

// FleetListInput is the input of fleet.list.
type FleetListInput struct {
	Names  []string `json:"names,omitempty" jsonschema:"only machines of these names; * stands for any text"`
	Labels []string `json:"labels,omitempty" jsonschema:"only machines with all of these: key=value, key!=value"`
}

// FleetListOutput is the output of fleet.list.
type FleetListOutput struct {
	Machines []FleetMachine `json:"machines" jsonschema:"by name"`
}

// FleetAnyInput is the input of fleet.any.
type FleetAnyInput struct {
	Label string `json:"label" jsonschema:"a label of its invitation, key=value"`
}

// FleetAnyOutput is the output of fleet.any.
type FleetAnyOutput struct {
	Machine string `json:"machine" jsonschema:"its name"`
}
