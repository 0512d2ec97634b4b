package api

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// A FleetRole sets a person's permissions on the machines of the fleet.
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
	Name      string            `json:"name" jsonschema:"as invited"`
	Labels    map[string]string `json:"labels,omitempty" jsonschema:"labels of its invitation, and os, arch and version"`
	State     FleetState        `json:"state" jsonschema:"connected or away"`
	Version   string            `json:"version" jsonschema:"version of tandem on it"`
	Processes int               `json:"processes" jsonschema:"number of running sessions and processes"`
	States    map[State]int     `json:"states,omitempty" jsonschema:"number of sessions and processes by state"`
	Failed    int               `json:"failed,omitempty" jsonschema:"number that exited by themselves without success"`
	RTTMS     float64           `json:"rtt_ms,omitempty" jsonschema:"round-trip time to the hub in milliseconds"`
	LastSeen  time.Time         `json:"last_seen" jsonschema:"time of its last message"`
	Rows      []Process         `json:"rows,omitzero" jsonschema:"if requested: its sessions and processes, as in lists; missing if the hub does not know them all, and beyond 5,000 in one answer"`
}

// LabelText returns the machine's labels as key=value, sorted, joined by separator, except those
// with a key in without.
func (m FleetMachine) LabelText(separator string, without ...string) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(m.Labels)) {
		if !slices.Contains(without, key) {
			all = append(all, key+"="+m.Labels[key])
		}
	}
	return strings.Join(all, separator)
}

// A FleetSelf is an identity of this engine in the fleet.
type FleetSelf struct {
	Kind  string `json:"kind" jsonschema:"machine or person"`
	Name  string `json:"name" jsonschema:"as invited"`
	Role  string `json:"role,omitempty" jsonschema:"of a person: read, operate or admin"`
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
	FleetProcesses = NewOperation[FleetProcessesInput, FleetProcessesOutput]("fleet.processes",
		"Lists a window of the fleet's processes, as last reported to the hub: sorted, filtered and grouped.", Read,
		Row[FleetProcessesInput]{Access: UserOnly})
	FleetHistory = NewOperation[FleetHistoryInput, FleetHistoryOutput]("fleet.history",
		"Searches the histories of the fleet's machines, 64 at a time, and returns the rows found so far, best match or newest first.", Read,
		Row[FleetHistoryInput]{Access: UserOnly})
	FleetAny = NewOperation[FleetAnyInput, FleetAnyOutput]("fleet.any",
		"Returns a connected machine with the label: the first to answer.", Read,
		Row[FleetAnyInput]{Access: Unrestricted})
)

// FleetStatusOutput is the output of fleet.status.
type FleetStatusOutput struct {
	Hub string      `json:"hub,omitempty" jsonschema:"address of the hub; missing without a fleet"`
	As  []FleetSelf `json:"as" jsonschema:"a machine, a person or both"`

	RTTMS       float64 `json:"rtt_ms,omitempty" jsonschema:"of a person: round-trip time to the hub in milliseconds"`
	InMessages  int64   `json:"in_messages,omitempty" jsonschema:"of a person: messages from the hub since this engine joined"`
	InBytes     int64   `json:"in_bytes,omitempty" jsonschema:"their size"`
	OutMessages int64   `json:"out_messages,omitempty" jsonschema:"of a person: messages to the hub"`
	OutBytes    int64   `json:"out_bytes,omitempty" jsonschema:"their size"`
	Reconnects  int64   `json:"reconnects,omitempty" jsonschema:"of a person: number of reconnections"`
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

// A FleetSort is the sort order of a fleet's processes.
type FleetSort string

const (
	FleetByState   FleetSort = "state" // most urgent first
	FleetByName    FleetSort = "name"
	FleetByHost    FleetSort = "host"
	FleetByPID     FleetSort = "pid"
	FleetByUp      FleetSort = "up" // last started first
	FleetByWho     FleetSort = "who"
	FleetByCommand FleetSort = "command"
)

func FleetSorts() []FleetSort {
	return []FleetSort{FleetByState, FleetByName, FleetByHost, FleetByPID, FleetByUp, FleetByWho, FleetByCommand}
}

// FleetProcessesInput is the input of fleet.processes.
type FleetProcessesInput struct {
	Filter   string    `json:"filter,omitempty" jsonschema:"words to be found in name, machine, command, folder, state, actor or pid; !word: must not be found; host:PATTERN, label:KEY=VALUE, state:STATE (also failed and away)"`
	Sort     FleetSort `json:"sort,omitempty" jsonschema:"state (default), name, host, pid, up, who or command"`
	Reversed bool      `json:"reversed,omitempty" jsonschema:"reverse the order"`
	Group    string    `json:"group,omitempty" jsonschema:"host or label:KEY: list the processes below a line for each group"`
	Open     []string  `json:"open,omitempty" jsonschema:"groups to list with their processes; with a filter all are"`
	Offset   int       `json:"offset,omitempty" jsonschema:"number of the first line to return"`
	Limit    int       `json:"limit,omitempty" jsonschema:"maximum number of lines; default 200, at most 1000"`
	Find     string    `json:"find,omitempty" jsonschema:"MACHINE/ID, or \"group NAME\": report its line; if it is outside the requested window, move the window to it"`
	Since    int64     `json:"since,omitempty" jsonschema:"serial of the last answer: with wait_ms, wait for a change"`
	WaitMS   int       `json:"wait_ms,omitempty" jsonschema:"maximum wait, up to 30 seconds"`
}

// FleetProcessesOutput is the output of fleet.processes.
type FleetProcessesOutput struct {
	Serial   int64       `json:"serial" jsonschema:"counts changes"`
	Loading  bool        `json:"loading,omitempty" jsonschema:"the hub has not sent all rows yet"`
	Lines    []FleetLine `json:"lines" jsonschema:"the window"`
	Offset   int         `json:"offset" jsonschema:"number of its first line"`
	Total    int         `json:"total" jsonschema:"total number of lines"`
	Matching int         `json:"matching" jsonschema:"number of processes matching the filter"`
	All      int         `json:"all" jsonschema:"number of processes in the fleet"`
	At       int         `json:"at" jsonschema:"number of the line found by find; -1 if none"`
	Machines int         `json:"machines" jsonschema:"number of machines in the fleet"`
	Away     int         `json:"away" jsonschema:"number of these machines that are offline"`
	Labels   []string    `json:"labels" jsonschema:"keys of labels, for group"`
}

// A FleetLine is a process or the heading of a group.
type FleetLine struct {
	Group   *FleetGroup `json:"group,omitempty" jsonschema:"the group starting here"`
	Host    string      `json:"host,omitempty" jsonschema:"machine of the process"`
	Away    bool        `json:"away,omitempty" jsonschema:"the machine is offline; this was its last report"`
	Process *Process    `json:"process,omitempty" jsonschema:"the process, as in lists"`
}

// A FleetGroup is one machine of the fleet, or all machines with the same label.
type FleetGroup struct {
	Name      string `json:"name" jsonschema:"of the machine, or the value of the label; empty for machines without it"`
	Machines  int    `json:"machines" jsonschema:"number of machines in it with matching processes"`
	Away      int    `json:"away,omitempty" jsonschema:"number of these machines that are offline"`
	Processes int    `json:"processes" jsonschema:"number of matching processes"`
	Running   int    `json:"running" jsonschema:"number of them running"`
	Failed    int    `json:"failed,omitempty" jsonschema:"number of them failed"`
	Open      bool   `json:"open,omitempty" jsonschema:"its processes follow"`
}

// A FleetSummary has the totals of a large fleet.
type FleetSummary struct {
	Machines  int `json:"machines" jsonschema:"number of machines in the fleet"`
	Away      int `json:"away" jsonschema:"number of these machines that are offline"`
	Processes int `json:"processes" jsonschema:"number of running sessions and processes"`
	Failed    int `json:"failed" jsonschema:"number of failed ones"`
}

// FleetHistoryInput is the input of fleet.history.
type FleetHistoryInput struct {
	Search   HistorySearchInput `json:"search" jsonschema:"the search sent to each machine; offset and limit apply to the merged rows, of which at most 1,000 are available"`
	Machines string             `json:"machines,omitempty" jsonschema:"the machines to ask: host:PATTERN, label:KEY=VALUE, as in the filter of fleet.processes; empty: all"`
	Key      string             `json:"key" jsonschema:"chosen by the caller; a new search with the same key cancels this one"`
	Since    int64              `json:"since,omitempty" jsonschema:"serial of the last answer, to continue that search; 0: start a new one"`
	WaitMS   int                `json:"wait_ms,omitempty" jsonschema:"while machines are being asked: maximum wait for more rows, up to 30 seconds"`
}

// FleetHistoryOutput is the output of fleet.history.
type FleetHistoryOutput struct {
	Rows     []FleetHistoryRow `json:"rows" jsonschema:"rows found so far, best match first, the newer first among equals"`
	Total    int               `json:"total" jsonschema:"number of available rows, including those beyond the limit"`
	Found    int               `json:"found" jsonschema:"number of matching rows on the machines that have answered"`
	Serial   int64             `json:"serial" jsonschema:"counts changes"`
	Asking   bool              `json:"asking,omitempty" jsonschema:"some machines have not answered yet"`
	Machines int               `json:"machines" jsonschema:"number of machines selected"`
	Answered int               `json:"answered" jsonschema:"number of machines that have answered"`
	Away     int               `json:"away,omitempty" jsonschema:"number of machines that were offline and not queried"`
	Slow     int               `json:"slow,omitempty" jsonschema:"number of machines without an answer within 3 seconds"`
	Failed   int               `json:"failed,omitempty" jsonschema:"number of machines that answered with an error"`
	Problems []string          `json:"problems,omitempty" jsonschema:"a sample of these errors"`
}

// A FleetHistoryRow is a matching run on a machine.
type FleetHistoryRow struct {
	Machine string `json:"machine" jsonschema:"the machine it ran on"`
	HistoryRow
}

// FleetAnyInput is the input of fleet.any.
type FleetAnyInput struct {
	Label string `json:"label" jsonschema:"a label of its invitation, key=value"`
}

// FleetAnyOutput is the output of fleet.any.
type FleetAnyOutput struct {
	Machine string `json:"machine" jsonschema:"its name"`
}
