package outputs

import (
	"path"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/names"
)

// kinds are the valid values of a search's kind.
var kinds = [...]string{string(api.KindSession), string(api.KindProcess), kindExec}

// kindExec is the kind of a one-shot command.
const kindExec = "exec"

// kindOf returns the kind by which a search lists a process: kindExec for a one-shot command,
// otherwise the process's own kind.
func kindOf(p api.Process) string {
	if p.Supervision != nil && p.Supervision.Transient {
		return kindExec
	}
	return string(p.Kind)
}

// A filter selects sessions, processes and lines by the conditions of a search.
type filter struct{ api.OutputSearchInput }

// check returns an error for an invalid condition.
func (f filter) check() error {
	for _, pattern := range [...]string{f.Name, f.Project} {
		if _, err := path.Match(pattern, ""); err != nil {
			return api.Errorf(api.CodeInvalid, "search output of %s: not a valid pattern", names.Shown(pattern))
		}
	}
	for _, kind := range kinds {
		if f.Kind == "" || f.Kind == kind {
			return nil
		}
	}
	return api.Errorf(api.CodeInvalid, "search output of kind %s: must be session, process or exec", names.Shown(f.Kind))
}

// Accepts reports whether the log of a process is searched.
func (f filter) Accepts(p api.Process) bool {
	switch {
	case f.Name != "" && !matchesName(f.Name, p.Name) && f.Name != p.ID,
		f.Project != "" && !matchesName(f.Project, projectOf(p)),
		f.Actor != "" && !matchesActor(f.Actor, p.Actor),
		f.Command != "" && !strings.Contains(strings.ToLower(p.Command), strings.ToLower(f.Command)),
		f.Kind != "" && f.Kind != kindOf(p),
		f.Failed && !hasFailed(p),
		f.Running && p.State.Ended(),
		f.Since != nil && p.State.Ended() && p.ExitedAt != nil && p.ExitedAt.Before(*f.Since):
		return false
	}
	return true
}

// acceptsTime reports whether lines written at a time are found; zero is an unknown time.
func (f filter) acceptsTime(at time.Time) bool {
	return at.IsZero() || (f.Since == nil || !at.Before(*f.Since)) && (f.Until == nil || at.Before(*f.Until))
}

func matchesName(pattern, name string) bool {
	ok, _ := path.Match(pattern, name)
	return ok || pattern == name
}

// projectOf returns the name of the project of a process, or "".
func projectOf(p api.Process) string {
	switch {
	case p.Project == nil:
		return ""
	case p.Project.Project == "":
		return path.Base(path.Dir(p.Project.File))
	}
	return p.Project.Project
}

// matchesActor reports whether name means an actor: one exactly, all connections of an agent, or any
// agent for "agent".
func matchesActor(name, actor string) bool {
	isAgent := strings.HasPrefix(actor, api.AgentPrefix)
	return name == actor || isAgent && (name == "agent" || strings.HasPrefix(actor, name+"/"))
}

// hasFailed reports whether a process exited with an error, without a request to stop.
func hasFailed(p api.Process) bool {
	return p.State == api.StateFailed || p.State == api.StateExited && (p.ExitSignal != "" || p.ExitCode != nil && *p.ExitCode != 0)
}
