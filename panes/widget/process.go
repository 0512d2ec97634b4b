package widget

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/units"
)

// HowEnded says in words how a session or process ended.
func HowEnded(p *api.Process) string {
	switch {
	case p.Error != "":
		return Clean(p.Error)
	case p.ExitCode != nil:
		return fmt.Sprintf("exited with status %d", *p.ExitCode)
	case p.ExitSignal != "":
		return "terminated by " + Clean(p.ExitSignal)
	case p.ExitUnknown:
		return "exited; status unknown"
	}
	return "exited"
}

// HowEndedIn is HowEnded in fewer words where w cells are too few for it.
func HowEndedIn(p *api.Process, w int) string {
	what := HowEnded(p)
	if Width(what) > w && p.Error == "" && p.ExitCode != nil {
		return "exit " + Itoa(*p.ExitCode)
	}
	return what
}

// Reason says in a few words why a process is not simply running, "" if it is.
func Reason(p *api.Process, now time.Time) string {
	switch {
	case p.State == api.StateBackoff:
		return HowEnded(p) + againIn(p, now)
	case Failed(p):
		return HowEnded(p)
	case p.State == api.StateWaiting:
		return "waiting for " + Clean(p.DependencyNames())
	case p.IsUnready():
		return "not ready yet"
	case p.State == api.StateStarting, p.State == api.StateStopping:
		return string(p.State) + "…"
	}
	return ""
}

// StateWords says what state a process is in, short enough for a column.
func StateWords(p *api.Process, now time.Time) string {
	switch {
	case Failed(p) && p.ExitCode != nil:
		return "failed: exited " + Itoa(*p.ExitCode)
	case Failed(p) && p.ExitSignal != "" && p.Error == "": // else the signal came of the failure
		return "failed: " + Clean(p.ExitSignal)
	case Failed(p) && p.ExitUnknown:
		return "exit unknown"
	case p.State == api.StateBackoff:
		return strings.TrimPrefix(againIn(p, now), ", ")
	case p.State == api.StateWaiting && len(p.WaitsFor) > 0:
		return "waiting for " + Clean(p.DependencyNames())
	case p.State == api.StateRunning && p.Supervision != nil && p.Supervision.Ready != nil:
		return map[bool]string{true: "ready", false: "not ready"}[*p.Supervision.Ready]
	case p.State == api.StateExited && p.ExitCode != nil:
		return "exited " + Itoa(*p.ExitCode)
	}
	return string(p.State)
}

// StateInk is the ink of StateWords.
func StateInk(p *api.Process, look *Look) Ink {
	if p.IsUnready() {
		return look.Warn
	}
	_, ink := StateGlyph(p, look)
	return ink
}

// BesideState is what Reason has to say more than StateWords of what failed.
func BesideState(p *api.Process) string {
	if p.State == api.StateBackoff || Failed(p) && p.Error != "" {
		return HowEnded(p)
	}
	return ""
}

// Why says at length why a process failed: how its last run ended, how long that
// was and when, and how often it was started again; "" of what did not fail.
func Why(p *api.Process, now time.Time) string {
	if !Failed(p) && p.State != api.StateBackoff {
		return ""
	}
	parts := []string{HowEnded(p)}
	if p.ExitedAt != nil && !p.StartedAt.IsZero() {
		parts = append(parts, "ran "+units.Age(p.ExitedAt.Sub(p.StartedAt)), units.Age(now.Sub(*p.ExitedAt))+" ago")
	}
	if p.Supervision != nil && p.Supervision.Automatic > 0 {
		parts = append(parts, Count(p.Supervision.Automatic, "restart"))
	}
	return strings.Join(parts, ", ")
}

// againIn says when a process in backoff is started again.
func againIn(p *api.Process, now time.Time) string {
	if p.Supervision == nil || p.Supervision.NextStart == nil {
		return ", waiting to restart"
	}
	wait := p.Supervision.NextStart.Sub(now)
	if wait < time.Second {
		return ", restarting now"
	}
	return ", restarts in " + units.Age(wait+time.Second-1)
}

// CommandStatus is the sign and the words for how a command has ended, and
// their ink. Words are missing where the sign says it all.
func CommandStatus(c *api.Command, running bool, look *Look) (sign, words string, ink Ink) {
	switch {
	case c.Stopped:
		return look.Glyphs.Stopped, "stopped", look.Dim
	case c.ExitSignal != "":
		return look.Glyphs.Failed, strings.TrimPrefix(Clean(c.ExitSignal), "SIG"), look.Bad
	case c.ExitCode != nil && *c.ExitCode != 0:
		return look.Glyphs.Failed, strconv.Itoa(*c.ExitCode), look.Bad
	case c.ExitCode != nil:
		return look.Glyphs.Check, "", look.Dim
	case running:
		return look.Glyphs.Running, "", look.Good
	}
	return " ", "", look.Dim
}

// You is what a person is called.
const You = "you"

// Who is the name of who ran something: an agent's without what all have.
func Who(actor string) string {
	if actor == "person" {
		return You
	}
	return strings.TrimPrefix(Clean(actor), "agent:")
}

// WhoFrom is Who, and the other machine that it was done from.
func WhoFrom(actor, from string) string {
	if from == "" {
		return Who(actor)
	}
	return Who(actor) + " from " + Clean(from)
}

// StateGlyph is the sign of a process's state and its ink.
func StateGlyph(p *api.Process, look *Look) (string, Ink) {
	glyph := look.Glyphs.State(string(p.State))
	switch {
	case Failed(p):
		return look.Glyphs.Failed, look.Bad
	case p.State == api.StateRunning && p.Terminal != nil && p.Terminal.Rang:
		return glyph, look.Warn
	case p.State == api.StateRunning:
		return glyph, look.Good
	case p.State == StateAway:
		return look.Glyphs.Unknown, look.Dim
	case p.State.Ended():
		return glyph, look.Dim
	}
	return glyph, look.Warn
}

// Failed reports whether a process ended by itself and not well, as far as
// anybody knows.
func Failed(p *api.Process) bool { return p.Failed() }

// SplitLog reports whether a process's errors have a log of their own.
func SplitLog(p *api.Process) bool { return p.Supervision != nil && p.Supervision.SplitLog }

// StateAway is the state, for lists, of what ran on a machine that has gone away
// since.
const StateAway api.State = "away"

// FullName is's name, with its machine if that is another one.
func FullName(p *api.Process) string {
	machine, _ := api.MachineOf(p.ID)
	return api.OnMachine(machine, Clean(p.Name))
}
