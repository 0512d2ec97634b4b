package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"tandem/engine/api"
	"tandem/ui/cli/project"
)

// An upAction is what up does with an entry.
type upAction string

const (
	actionStart  upAction = "started"
	actionAgain  upAction = "started again"
	actionChange upAction = "replaced"
	actionKeep   upAction = "unchanged"
	actionDone   upAction = "done"
	actionLeft   upAction = "not in the file"
	actionEnd    upAction = "removed"
	actionFailed upAction = "failed"
)

// plan says what will be done.
func (a upAction) plan() string {
	switch a {
	case actionStart:
		return "start"
	case actionAgain:
		return "start again"
	case actionChange:
		return "replace, as it has changed"
	case actionKeep:
		return "runs already"
	case actionDone:
		return "done already"
	case actionLeft:
		return "not in the file; --prune ends it"
	case actionEnd:
		return "end and forget, as the file does not name it"
	}
	return string(a)
}

// A plan is what has to be done to bring about what a file says.
type plan struct {
	steps   []*step // each after what it depends on
	removed []api.Process
}

// A step is what has to be done about one entry.
type step struct {
	entry  *project.Entry
	action upAction
	old    *api.Process // what there is of it; nil for nothing
	digest string
	name   string // under which it is started

	begun   chan struct{} // closed when process or err is set
	process api.Process
	err     error
	ready   bool // it was waited for and has become ready
}

func (s *step) afterNames() []string {
	var names []string
	for _, d := range s.entry.After {
		names = append(names, d.Name)
	}
	return names
}

type planOptions struct {
	named   []string
	replace bool
}

// makePlan compares a file with what there is.
func makePlan(file *project.File, order []*project.Entry, list []api.Process, o planOptions) *plan {
	p := &plan{}
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
func actionFor(s *step, o planOptions, running bool) upAction {
	switch {
	case s.old == nil:
		return actionStart
	case s.old.Project.Digest != s.digest || o.replace:
		return actionChange
	case !s.old.State.Ended():
		return actionKeep
	case running && !slices.Contains(o.named, s.entry.Name) && s.old.State == api.StateExited && succeeded(s.entry, *s.old):
		return actionDone
	}
	return actionAgain
}

// succeeded reports whether a process has ended with success.
func succeeded(e *project.Entry, p api.Process) bool {
	if p.ExitCode == nil {
		return false
	}
	return *p.ExitCode == 0 || e.Start.Restart != nil && slices.Contains(e.Start.Restart.SuccessCodes, *p.ExitCode)
}

// freeName is the entry's name, or, where something else that runs has it, one
// with the project's before it.
func freeName(file *project.File, name string, list []api.Process) string {
	for _, q := range list {
		ours := q.Project != nil && q.Project.File == file.Path && q.Project.Name == name
		if q.Name == name && !q.State.Ended() && !ours {
			return file.Name + "-" + name
		}
	}
	return name
}

// digest tells one definition of an entry from another.
func digest(e *project.Entry) string {
	text, err := json.Marshal(struct {
		Start api.ProcessStartInput
		Env   []project.Variable
	}{e.Start, e.Env})
	if err != nil {
		return "" // cannot be: there are only words and numbers in it
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}
