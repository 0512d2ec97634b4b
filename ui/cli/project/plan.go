package project

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"tandem/engine/api"
)

// An Action is what up does with an entry.
type Action string

const (
	actionStart  Action = "started"
	actionAgain  Action = "started again"
	actionChange Action = "replaced"
	actionKeep   Action = "unchanged"
	actionDone   Action = "done"
	actionLeft   Action = "not in the file"
	actionEnd    Action = "removed"
	actionFailed Action = "failed"
)

// plan says what will be done.
func (a Action) Planned() string {
	switch a {
	case actionStart:
		return "start"
	case actionAgain:
		return "start again"
	case actionChange:
		return "replace, because it has changed"
	case actionKeep:
		return "already running"
	case actionDone:
		return "already done"
	case actionLeft:
		return "not in the file; --prune stops it"
	case actionEnd:
		return "stop and delete; not in the file"
	}
	return string(a)
}

// A Plan is what has to be done to bring about what a file says.
type Plan struct {
	steps   []*step // each after what it depends on
	removed []api.Process
}

// A step is what has to be done about one entry.
type step struct {
	entry  *Entry
	action Action
	old    *api.Process // what there is of it; nil for nothing
	digest string
	name   string // under which it is started

	begun   chan struct{} // closed when process or err is set
	process api.Process
	err     error
	noted   bool   // its start was printed
	printed string // last text printed about it
	ready   bool   // the wait for its readiness has succeeded
	over    bool   // no wait for it remains
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

// NewPlan compares a file with what there is.
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
		if file.Entry(q.Project.Name) == nil {
			p.removed = append(p.removed, *q)
		} else if better(q, latest[q.Project.Name]) {
			latest[q.Project.Name] = q
		}
	}
	for _, e := range order {
		s := &step{entry: e, old: latest[e.Name], digest: digest(e), begun: make(chan struct{})}
		s.action = actionFor(s, o, running)
		s.name = freeName(file, e.Name, list)
		p.steps = append(p.steps, s)
	}
	return p
}

// Results tells what would be done; with prune, of what the file does not name
// any more too.
func (p *Plan) Results(prune bool) []Result {
	var all []Result
	for _, s := range p.steps {
		all = append(all, Result{Name: s.entry.Name, Action: s.action, After: s.afterNames(), Process: s.old})
	}
	for i := range p.removed {
		gone := &p.removed[i]
		action := actionLeft
		if prune {
			action = actionEnd
		}
		all = append(all, Result{Name: gone.Project.Name, Action: action, Process: gone})
	}
	return all
}

// better reports whether q tells more about an entry than what is known: it
// runs, or was started later.
func better(q, than *api.Process) bool {
	if than == nil || q.State.Ended() != than.State.Ended() {
		return than == nil || than.State.Ended()
	}
	return q.StartedAt.After(than.StartedAt)
}

// actionFor decides about one entry. A task that is done is not done again as
// long as anything of the project runs and nobody names it.
func actionFor(s *step, o PlanOptions, running bool) Action {
	switch {
	case s.old == nil:
		return actionStart
	case s.old.Project.Digest != s.digest || o.Replace:
		return actionChange
	case !s.old.State.Ended():
		return actionKeep
	case running && !slices.Contains(o.Named, s.entry.Name) && s.old.State == api.StateExited && succeeded(s.entry, *s.old):
		return actionDone
	}
	return actionAgain
}

// succeeded reports whether a process has ended with success.
func succeeded(e *Entry, p api.Process) bool {
	if p.ExitCode == nil {
		return false
	}
	return *p.ExitCode == 0 || e.Start.Restart != nil && slices.Contains(e.Start.Restart.SuccessCodes, *p.ExitCode)
}

// freeName is the entry's name, or, where something else that runs has it, one
// with the project's before it.
func freeName(file *File, name string, list []api.Process) string {
	for _, q := range list {
		ours := q.Project != nil && q.Project.File == file.Path && q.Project.Name == name
		if q.Name == name && !q.State.Ended() && !ours {
			return file.Name + "-" + name
		}
	}
	return name
}

// digest tells one definition of an entry from another.
func digest(e *Entry) string {
	text, err := json.Marshal(struct {
		Start api.ProcessStartInput
		Env   []Variable
	}{e.Start, e.Env})
	if err != nil {
		return "" // cannot be: there are only words and numbers in it
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}
