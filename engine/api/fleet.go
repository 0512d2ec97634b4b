package api

import (
	"maps"
	"slices"
	"strings"
	"time"
)

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
	Failed    int               `json:"failed,omitempty" jsonschema:"how many have ended by themselves and not well"`
	RTTMS     float64           `json:"rtt_ms,omitempty" jsonschema:"how long a word takes from it to the hub and back, in milliseconds"`
	LastSeen  time.Time         `json:"last_seen" jsonschema:"when it was heard of last"`
	Rows      []Process         `json:"rows,omitzero" jsonschema:"if they were asked for: what runs there, as lists show it; missing where the hub does not know all of it, and beyond 5,000 in one answer"`
}

// LabelText returns the labels of a machine as key=value, without those of some keys.
func (m FleetMachine) LabelText(separator string, without ...string) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(m.Labels)) {
		if !slices.Contains(without, key) {
			all = append(all, key+"="+m.Labels[key])
		}
	}
	return strings.Join(all, separator)
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
	FleetStatus = NewOperation[Empty, FleetStatusOutput]("fleet.status",
		"Tells who this engine is in the fleet, and whether the hub can be reached.", Read)
	FleetList = NewOperation[FleetListInput, FleetListOutput]("fleet.list",
		"Lists the machines of the fleet, as they have told the hub.", Read)
	FleetProcesses = NewOperation[FleetProcessesInput, FleetProcessesOutput]("fleet.processes",
		"Lists what runs on the machines of the fleet, as they have told the hub: a window of it, sorted, filtered and grouped.", Read)
	FleetHistory = NewOperation[FleetHistoryInput, FleetHistoryOutput]("fleet.history",
		"Searches the histories of machines of the fleet, which are asked 64 at a time: tells what has come, best match or newest first.", Read)
	FleetAny = NewOperation[FleetAnyInput, FleetAnyOutput]("fleet.any",
		"Asks the connected machines with a label, and tells which one has answered.", Read)
)

// FleetStatusOutput is the output of fleet.status.
type FleetStatusOutput struct {
	Hub string      `json:"hub,omitempty" jsonschema:"where the hub is; none without a fleet"`
	As  []FleetSelf `json:"as" jsonschema:"a machine, a person or both"`

	RTTMS       float64 `json:"rtt_ms,omitempty" jsonschema:"of a person: how long a word takes to the hub and back, in milliseconds"`
	InMessages  int64   `json:"in_messages,omitempty" jsonschema:"of a person: messages from the hub since this engine joined"`
	InBytes     int64   `json:"in_bytes,omitempty" jsonschema:"how much that was"`
	OutMessages int64   `json:"out_messages,omitempty" jsonschema:"of a person: messages to the hub"`
	OutBytes    int64   `json:"out_bytes,omitempty" jsonschema:"how much that was"`
	Reconnects  int64   `json:"reconnects,omitempty" jsonschema:"of a person: how often the connection was lost and made again"`
}

// FleetListInput is the input of fleet.list.
type FleetListInput struct {
	Names  []string `json:"names,omitempty" jsonschema:"only machines of these names; * stands for any text"`
	Labels []string `json:"labels,omitempty" jsonschema:"only machines with all of these: key=value, key!=value"`
	Rows   bool     `json:"rows,omitempty" jsonschema:"also what runs on each"`
}

// FleetListOutput is the output of fleet.list.
type FleetListOutput struct {
	Machines []FleetMachine `json:"machines" jsonschema:"by name"`
}

// A FleetSort is what the processes of a fleet are sorted by.
type FleetSort string

const (
	FleetByState   FleetSort = "state" // those that want to be seen first
	FleetByName    FleetSort = "name"
	FleetByHost    FleetSort = "host"
	FleetByPID     FleetSort = "pid"
	FleetByUp      FleetSort = "up" // started last first
	FleetByWho     FleetSort = "who"
	FleetByCommand FleetSort = "command"
)

// FleetSorts are all of them.
func FleetSorts() []FleetSort {
	return []FleetSort{FleetByState, FleetByName, FleetByHost, FleetByPID, FleetByUp, FleetByWho, FleetByCommand}
}

// FleetProcessesInput is the input of fleet.processes.
type FleetProcessesInput struct {
	Filter   string    `json:"filter,omitempty" jsonschema:"words that name, machine, command, folder, state, starter or pid have to hold; !word: must not; host:PATTERN, label:KEY=VALUE, state:STATE (also failed and away)"`
	Sort     FleetSort `json:"sort,omitempty" jsonschema:"state (default), name, host, pid, up, who or command"`
	Reversed bool      `json:"reversed,omitempty" jsonschema:"sort the other way round"`
	Group    string    `json:"group,omitempty" jsonschema:"host or label:KEY: processes stand below a line for each group"`
	Open     []string  `json:"open,omitempty" jsonschema:"groups whose processes are listed too; with a filter, those of all are"`
	Offset   int       `json:"offset,omitempty" jsonschema:"number of the first line wanted"`
	Limit    int       `json:"limit,omitempty" jsonschema:"most lines; default 200, at most 1000"`
	Find     string    `json:"find,omitempty" jsonschema:"MACHINE/ID, or \"group NAME\": tell where it is; the window is about it if it is not in the one asked for"`
	Since    int64     `json:"since,omitempty" jsonschema:"serial of the last answer: with wait_ms, wait until there is something newer"`
	WaitMS   int       `json:"wait_ms,omitempty" jsonschema:"wait this long at most, up to 30 seconds"`
}

// FleetProcessesOutput is the output of fleet.processes.
type FleetProcessesOutput struct {
	Serial   int64       `json:"serial" jsonschema:"counts changes"`
	Loading  bool        `json:"loading,omitempty" jsonschema:"the hub has not sent all rows yet"`
	Lines    []FleetLine `json:"lines" jsonschema:"the window"`
	Offset   int         `json:"offset" jsonschema:"number of its first line"`
	Total    int         `json:"total" jsonschema:"lines of all there are"`
	Matching int         `json:"matching" jsonschema:"processes that match the filter"`
	All      int         `json:"all" jsonschema:"processes of the fleet"`
	At       int         `json:"at" jsonschema:"number of the line that was looked for; -1 if there is none"`
	Machines int         `json:"machines" jsonschema:"machines of the fleet"`
	Away     int         `json:"away" jsonschema:"how many of them are away"`
	Labels   []string    `json:"labels" jsonschema:"keys of labels, by which can be grouped"`
}

// A FleetLine is a process, or what heads a group.
type FleetLine struct {
	Group   *FleetGroup `json:"group,omitempty" jsonschema:"the group that begins here"`
	Host    string      `json:"host,omitempty" jsonschema:"machine of the process"`
	Away    bool        `json:"away,omitempty" jsonschema:"the machine is away: this is how it was"`
	Process *Process    `json:"process,omitempty" jsonschema:"the process, as lists show it"`
}

// A FleetGroup is a machine of the fleet, or those with the same label.
type FleetGroup struct {
	Name      string `json:"name" jsonschema:"of the machine, or the value of the label; empty for machines without it"`
	Machines  int    `json:"machines" jsonschema:"machines in it with processes that match"`
	Away      int    `json:"away,omitempty" jsonschema:"how many of them are away"`
	Processes int    `json:"processes" jsonschema:"processes that match"`
	Running   int    `json:"running" jsonschema:"how many of them run"`
	Failed    int    `json:"failed,omitempty" jsonschema:"how many of them have failed"`
	Open      bool   `json:"open,omitempty" jsonschema:"its processes follow"`
}

// A FleetSummary is a fleet in a few numbers.
type FleetSummary struct {
	Machines  int `json:"machines" jsonschema:"machines of the fleet"`
	Away      int `json:"away" jsonschema:"how many of them are away"`
	Processes int `json:"processes" jsonschema:"sessions and processes that have not ended"`
	Failed    int `json:"failed" jsonschema:"how many have failed"`
}

// FleetHistoryInput is the input of fleet.history.
type FleetHistoryInput struct {
	Search   HistorySearchInput `json:"search" jsonschema:"what each machine is asked; offset and limit are of the rows of all, of which 1,000 can be had"`
	Machines string             `json:"machines,omitempty" jsonschema:"which: host:PATTERN, label:KEY=VALUE, as in the filter of fleet.processes; empty: all"`
	Key      string             `json:"key" jsonschema:"chosen by who asks: another search with the same one ends this"`
	Since    int64              `json:"since,omitempty" jsonschema:"serial of the last answer, to go on with that search; 0: ask the machines anew"`
	WaitMS   int                `json:"wait_ms,omitempty" jsonschema:"while machines are being asked: wait this long at most for more than that answer had, up to 30 seconds"`
}

// FleetHistoryOutput is the output of fleet.history.
type FleetHistoryOutput struct {
	Rows     []FleetHistoryRow `json:"rows" jsonschema:"those that have come, best match first, the newer first among equals"`
	Total    int               `json:"total" jsonschema:"rows that can be had, those beyond the limit included"`
	Found    int               `json:"found" jsonschema:"rows that match on the machines that have answered"`
	Serial   int64             `json:"serial" jsonschema:"counts changes"`
	Asking   bool              `json:"asking,omitempty" jsonschema:"there is more to come"`
	Machines int               `json:"machines" jsonschema:"machines that are meant"`
	Answered int               `json:"answered" jsonschema:"how many have answered"`
	Away     int               `json:"away,omitempty" jsonschema:"how many are away, and were not asked"`
	Slow     int               `json:"slow,omitempty" jsonschema:"how many did not answer within 3 seconds"`
	Failed   int               `json:"failed,omitempty" jsonschema:"how many have answered with an error"`
	Problems []string          `json:"problems,omitempty" jsonschema:"some of these errors"`
}

// A FleetHistoryRow is a run that was found on a machine.
type FleetHistoryRow struct {
	Machine string `json:"machine" jsonschema:"where it ran"`
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
