// Package qualify adds the name of another machine to the ids and paths in its engine's answers.
package qualify

import (
	"slices"

	"tandem/engine/api"
)

// Output adds the machine's name to the ids and paths in the output of an operation on that
// machine. out is a pointer.
func Output(machine string, out any) {
	switch out := out.(type) {
	case *api.Process:
		rename(machine, out)
	case *api.ProcessListOutput:
		for i := range out.Processes {
			rename(machine, &out.Processes[i])
		}
	case *api.ProcessLogOutput:
		out.Process = Process(machine, out.Process)
	case *api.ProcessWaitOutput:
		rename(machine, &out.Process)
	case *api.SessionWaitOutput:
		rename(machine, &out.Process)
	case *api.AgentWaitOutput:
		out.Process = Process(machine, out.Process)
	case *api.ExecOutput:
		rename(machine, &out.Process)
	case *api.SessionRestoreOutput:
		for i := range out.Restored {
			rename(machine, &out.Restored[i].Process)
		}
		for i := range out.Failed {
			out.Failed[i].ID = api.OnMachine(machine, out.Failed[i].ID)
		}
	case *api.AgentExplainOutput:
		out.Session = api.OnMachine(machine, out.Session)
	case *api.Request:
		out.ID = api.OnMachine(machine, out.ID)
	case *api.HistorySearchOutput:
		for i := range out.Rows {
			row := &out.Rows[i]
			row.Host, row.Process = machine, api.OnMachine(machine, row.Process)
		}
	case *api.OutputSearchOutput:
		for i := range out.Hits {
			out.Hits[i].ID = api.OnMachine(machine, out.Hits[i].ID)
		}
	case *api.ScrubOutput:
		for i, p := range out.Places {
			out.Places[i].ID = api.OnMachine(machine, p.ID)
		}
	default:
		outputOfFiles(machine, out)
	}
}

// outputOfFiles is Output for operations on files.
func outputOfFiles(machine string, out any) {
	switch out := out.(type) {
	case *api.FileInfo:
		out.Path = api.PathOn(machine, out.Path)
	case *api.FilesListOutput:
		out.Path = api.PathOn(machine, out.Path)
	case *api.FilesReadOutput:
		out.Path = api.PathOn(machine, out.Path)
	case *api.FilesReadJSONOutput:
		out.Path = api.PathOn(machine, out.Path)
	case *api.FilesWriteOutput:
		out.Path = api.PathOn(machine, out.Path)
	case *api.FilesEditOutput:
		out.Path = api.PathOn(machine, out.Path)
	case *api.FilesTransferOutput:
		out.Job = api.OnMachine(machine, out.Job)
		for i, path := range out.Conflicts {
			out.Conflicts[i] = api.PathOn(machine, path)
		}
	case *api.FileJob:
		out.ID, out.Current = api.OnMachine(machine, out.ID), api.PathOn(machine, out.Current)
		for i := range out.Done {
			d := &out.Done[i]
			d.Path, d.To, d.Replaced = api.PathOn(machine, d.Path), api.PathOn(machine, d.To), api.PathOn(machine, d.Replaced)
		}
	}
}

// rename adds a machine's name to the ids of a process.
func rename(machine string, p *api.Process) {
	p.ID = api.OnMachine(machine, p.ID)
	p.WaitsFor = slices.Clone(p.WaitsFor)
	for i := range p.WaitsFor {
		p.WaitsFor[i].ID = api.OnMachine(machine, p.WaitsFor[i].ID)
	}
}

// Process returns a copy of a process with the machine's name in its ids. If p is nil, it returns
// nil.
func Process(machine string, p *api.Process) *api.Process {
	if p == nil {
		return nil
	}
	qualified := *p
	rename(machine, &qualified)
	return &qualified
}

// Event returns an event with the machine's name in its ids.
func Event(machine string, e api.Event) api.Event {
	e.Host, e.ID, e.Process = machine, api.OnMachine(machine, e.ID), Process(machine, e.Process)
	e.Processes = slices.Clone(e.Processes)
	for i := range e.Processes {
		rename(machine, &e.Processes[i])
	}
	if e.Request != nil {
		r := *e.Request
		r.ID = api.OnMachine(machine, r.ID)
		e.Request = &r
	}
	return e
}
