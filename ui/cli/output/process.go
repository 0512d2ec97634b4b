package output

import (
	"strconv"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/units"
)

// StateText formats a process's state, with its exit status or its dependencies.
func StateText(p api.Process) string {
	text, exit := string(p.State), ExitText(p)
	if p.IsPrivate() {
		p.Terminal = nil
		return StateText(p) + ", private"
	}
	switch {
	case p.Interrupted != nil:
		return "interrupted"
	case p.State == api.StateWaiting && len(p.WaitsFor) > 0:
		return text + " for " + Visible(p.DependencyNames())
	case !p.State.Ended() || exit == "-":
		return text
	case exit == "unknown":
		return text + " (status unknown)"
	}
	return text + " " + exit
}

func StateTint(p api.Process) Tint {
	bad := p.ExitSignal != "" || p.ExitUnknown || p.ExitCode != nil && *p.ExitCode != 0
	switch {
	case p.Interrupted != nil:
		return Yellow
	case p.State == api.StateRunning:
		return Green
	case p.State == api.StateFailed, p.State == api.StateExited && bad:
		return Red
	case p.State.Ended():
		return Faint
	}
	return Yellow
}

// ProcessAge formats the time since the process started, or exited.
func ProcessAge(p api.Process, now time.Time) string {
	since := p.StartedAt
	if p.ExitedAt != nil {
		since = *p.ExitedAt
	}
	if since.IsZero() {
		return "-"
	}
	return units.Age(now.Sub(since))
}

// ExitText formats the last exit status of a process; "-" if there is none.
func ExitText(p api.Process) string {
	switch {
	case p.ExitSignal != "":
		return p.ExitSignal
	case p.ExitCode != nil:
		return strconv.Itoa(*p.ExitCode)
	case p.ExitUnknown:
		return "unknown"
	}
	return "-"
}

// WhoFrom formats an actor and the machine it came from, if that is another one.
func WhoFrom(actor, from string) string {
	if from != "" {
		actor += " from " + from
	}
	return Visible(actor)
}

// LiveFirst returns processes with the running ones first, otherwise in the same order.
func LiveFirst(all []api.Process) []api.Process {
	list := make([]api.Process, 0, len(all))
	for _, ended := range [...]bool{false, true} {
		for _, p := range all {
			if p.State.Ended() == ended {
				list = append(list, p)
			}
		}
	}
	return list
}

// Outcome formats the name and state of a process as a line.
func Outcome(p api.Process) string { return Visible(p.Name) + ": " + StateText(p) + "\n" }

// CommandEnd returns the exit status or signal of a command, or "-" if that is unknown or it still
// runs.
func CommandEnd(c api.Command) (string, Tint) {
	switch {
	case c.Stopped:
		return "stopped", Plain
	case c.ExitSignal != "":
		return c.ExitSignal, Red
	case c.ExitCode == nil:
		return "-", Plain
	case *c.ExitCode == 0:
		return "0", Plain
	}
	return strconv.Itoa(*c.ExitCode), Red
}
