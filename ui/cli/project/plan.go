package project

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/names"
)

// An Action is the effect of up on an entry. Its values are part of the JSON output; scripts rely on
// them.
type Action string

const (
	actionStart   Action = "started"
	actionRestart Action = "restarted"
	actionChange  Action = "replaced"
	actionKeep    Action = "unchanged"
	actionDone    Action = "done"
	actionOrphan  Action = "orphaned" // no longer in the file
	actionRemove  Action = "removed"
	actionFailed  Action = "failed"
)

// text describes the action after it was carried out.
func (a Action) text() string {
	if a == actionRestart {
		return "started again"
	}
	return string(a)
}

// Planned describes the action before it is carried out.
func (a Action) Planned() string {
	planned := map[Action]string{
		actionStart: "start", actionRestart: "start again", actionChange: "replace, because it has changed",
		actionKeep: "already running", actionDone: "already done",
		actionOrphan: "not in the file; --prune stops it", actionRemove: "stop and delete; not in the file",
	}
	return cmp.Or(planned[a], string(a))
}

// A Plan lists the actions that make the existing processes match a file.
type Plan struct {
	steps   []*step // each after its dependencies
	removed []api.Process
}

// A step is the action for one entry, and its progress.
type step struct {
	entry    *Entry
	action   Action
	existing *api.Process // the entry's current process; nil if there is none
	digest   string
	name     string // name to start it with

	newID    string       // id of the process to replace existing, which was stopped for it; "" if there is none
	restored *api.Process // existing, started again because its replacement failed
	settled  bool         // existing was deleted or started again

	runningSince time.Time // when process was first seen running, on trial

	started   chan struct{} // closed once process or err is set
	process   api.Process
	err       error
	announced bool   // its start was printed
	printed   string // last text printed about the step
	ready     bool   // the readiness check has passed
	finished  bool   // nothing more to wait for
}

func (s *step) afterNames() []string {
	var names []string
	for _, d := range s.entry.After {
		names = append(names, d.Name)
	}
	return names
}

type PlanOptions struct {
	Named   []string
	Replace bool
}

// NewPlan compares a file with list, the existing processes. order is the result of file.Order.
func NewPlan(file *File, order []*Entry, list []api.Process, o PlanOptions) *Plan {
	p := &Plan{}
	latest := map[string]*api.Process{}
	running := false
	for i := range list {
		q := &list[i]
		if q.Project == nil || q.Project.File != file.Path {
			continue
		}
		running = running || !q.State.Ended()
		if file.omits(q.Project.Name) {
			continue // it is in the file, with a mistake
		}
		if file.Entry(q.Project.Name) == nil {
			p.removed = append(p.removed, *q)
		} else if isNewer(q, latest[q.Project.Name]) {
			latest[q.Project.Name] = q
		}
	}
	for _, e := range order {
		s := &step{entry: e, existing: latest[e.Name], digest: digest(e), started: make(chan struct{})}
		s.action = actionFor(s, o, running)
		s.name = freeName(file, e.Name, list)
		p.steps = append(p.steps, s)
	}
	return p
}

// Results returns the planned actions. With prune, processes no longer in the file are marked for
// removal.
func (p *Plan) Results(prune bool) []Result {
	var all []Result
	for _, s := range p.steps {
		all = append(all, Result{Name: s.entry.Name, Action: s.action, After: s.afterNames(), Process: s.existing})
	}
	for i := range p.removed {
		gone := &p.removed[i]
		action := actionOrphan
		if prune {
			action = actionRemove
		}
		all = append(all, Result{Name: gone.Project.Name, Action: action, Process: gone})
	}
	return all
}

// isNewer reports whether q should represent an entry rather than old: only q runs, or q was
// started later. old may be nil.
func isNewer(q, old *api.Process) bool {
	if old == nil || q.State.Ended() != old.State.Ended() {
		return old == nil || old.State.Ended()
	}
	return q.StartedAt.After(old.StartedAt)
}

// actionFor returns the action for one entry. A completed task is not repeated while part of the
// project runs, unless it is named.
func actionFor(s *step, o PlanOptions, running bool) Action {
	switch {
	case s.existing == nil:
		return actionStart
	case s.existing.Project.Digest != s.digest || o.Replace:
		return actionChange
	case !s.existing.State.Ended():
		return actionKeep
	case running && !slices.Contains(o.Named, s.entry.Name) && s.existing.State == api.StateExited && hasSucceeded(s.entry, *s.existing):
		return actionDone
	}
	return actionRestart
}

// hasSucceeded reports whether a process exited with a success code of its entry.
func hasSucceeded(e *Entry, p api.Process) bool {
	if p.ExitCode == nil {
		return false
	}
	return *p.ExitCode == 0 || e.Start.Restart != nil && slices.Contains(e.Start.Restart.SuccessCodes, *p.ExitCode)
}

// freeName returns the entry's name, prefixed with the project's if another running process has
// that name.
func freeName(file *File, name string, list []api.Process) string {
	for _, q := range list {
		ours := q.Project != nil && q.Project.File == file.Path && q.Project.Name == name
		if q.Name == name && !q.State.Ended() && !ours {
			return names.Clean(file.Name + "-" + name)
		}
	}
	return name
}

// digest returns a hash of an entry's definition.
func digest(e *Entry) string {
	text, err := json.Marshal(struct {
		Start api.ProcessStartInput
		Env   []Variable
	}{e.Start, e.Env})
	if err != nil {
		return "" // cannot happen: the fields are strings and numbers
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}
