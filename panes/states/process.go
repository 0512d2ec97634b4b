// Package states holds the words, glyphs and inks with which all panes show the state of processes,
// sessions, commands and coding agents.
package states

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// HowEnded describes how a session or process ended.
func HowEnded(p *api.Process) string {
	switch {
	case p.Interrupted != nil:
		return DescribeInterruption(p.Interrupted, time.Now(), math.MaxInt)
	case p.Error != "":
		return text.Clean(p.Error)
	case p.ExitCode != nil:
		return fmt.Sprintf("exited with status %d", *p.ExitCode)
	case p.ExitSignal != "":
		return "terminated by " + text.Clean(p.ExitSignal)
	case p.ExitUnknown:
		return "exited; status unknown"
	}
	return "exited"
}

// HowEndedIn is like HowEnded, but shortens a text too long for w cells.
func HowEndedIn(p *api.Process, w int) string {
	what := HowEnded(p)
	if text.Width(what) > w && p.Error == "" && p.ExitCode != nil {
		return "exit " + text.Itoa(*p.ExitCode)
	}
	return what
}

// DescribeInterruption says when a reboot or crash ended a session, and names the program running
// then. It shortens a text too long for w cells.
func DescribeInterruption(i *api.Interruption, now time.Time, w int) string {
	what, at, day := "interrupted", i.At.Local(), ""
	if i.By == api.ByReboot {
		what = "rebooted"
	}
	if at.YearDay() != now.YearDay() || now.Sub(at) > 24*time.Hour {
		day = "Jan 2 "
	}
	when := what + at.Format(" "+day+"15:04")
	if i.Program == "" {
		return when
	}
	program := text.Clean(i.Program)
	for _, long := range []string{when + "; was running: " + program, when + ": " + program} {
		if text.Width(long) <= w {
			return long
		}
	}
	return what + ": " + program
}

// Reason says briefly why a process is not up and running: it has failed, waits, or is being
// started or stopped. It returns "" for other processes.
func Reason(p *api.Process, now time.Time) string {
	switch {
	case p.State == api.StateBackoff:
		return HowEnded(p) + restartDelay(p, now)
	case p.Failed():
		return HowEnded(p)
	case p.State == api.StateWaiting:
		return "waiting for " + text.Clean(p.DependencyNames())
	case p.IsUnready():
		return "not ready yet"
	case p.State == api.StateStarting, p.State == api.StateStopping:
		return string(p.State) + "…"
	}
	return ""
}

// StateWords describes the state of a process, short enough for a column.
func StateWords(p *api.Process, now time.Time) string {
	switch {
	case p.Interrupted != nil:
		return "interrupted"
	case p.Failed() && p.ExitCode != nil:
		return "failed: exited " + text.Itoa(*p.ExitCode)
	case p.Failed() && p.ExitSignal != "" && p.Error == "": // otherwise the signal is a consequence of the failure
		return "failed: " + text.Clean(p.ExitSignal)
	case p.Failed() && p.ExitUnknown:
		return "exit unknown"
	case p.State == api.StateBackoff:
		return strings.TrimPrefix(restartDelay(p, now), ", ")
	case p.State == api.StateWaiting && len(p.WaitsFor) > 0:
		return "waiting for " + text.Clean(p.DependencyNames())
	case p.State == api.StateRunning && p.Supervision != nil && p.Supervision.Ready != nil:
		return map[bool]string{true: "ready", false: "not ready"}[*p.Supervision.Ready]
	case p.WaitsForInput():
		return "waits for input"
	case p.State == api.StateExited && p.ExitCode != nil:
		return "exited " + text.Itoa(*p.ExitCode)
	}
	return string(p.State)
}

// StateInk returns the ink for StateWords.
func StateInk(p *api.Process, look *look.Look) look.Ink {
	if p.IsUnready() || p.WaitsForInput() {
		return look.Warn
	}
	_, ink := StateGlyph(p, look)
	return ink
}

// InCrashLoop returns p itself unless p is running again in a crash loop. Then it returns p as it
// was before this run, waiting for the restart. The reason of the failure thus stays visible until
// a run lasts.
func InCrashLoop(p *api.Process, now time.Time) *api.Process {
	if p.State != api.StateStarting && p.State != api.StateRunning || !p.IsFailing(now) {
		return p
	}
	last := *p
	for _, run := range p.Supervision.Runs {
		if run.EndedAt != nil {
			last.StartedAt, last.ExitedAt, last.ExitCode, last.ExitSignal = run.StartedAt, run.EndedAt, run.ExitCode, run.ExitSignal
		}
	}
	// Use the engine's words for a process in backoff.
	switch last.State, last.Error = api.StateBackoff, ""; {
	case last.ExitCode != nil:
		last.Error = "exited with " + text.Itoa(*last.ExitCode)
	case last.ExitSignal != "":
		last.Error = "killed by " + last.ExitSignal
	}
	return &last
}

// BesideState returns how a failed process ended, if StateWords does not say so; otherwise "".
func BesideState(p *api.Process) string {
	if p.State == api.StateBackoff || p.Failed() && p.Error != "" {
		return HowEnded(p)
	}
	return ""
}

// Why explains why a process failed: how its last run ended, its length and time, and the number of
// restarts. It returns "" for other processes.
func Why(p *api.Process, now time.Time) string {
	p = InCrashLoop(p, now)
	if !p.Failed() && p.State != api.StateBackoff {
		return ""
	}
	parts := []string{HowEnded(p)}
	if p.ExitedAt != nil && !p.StartedAt.IsZero() {
		parts = append(parts, "ran "+units.Age(p.ExitedAt.Sub(p.StartedAt)), units.Age(now.Sub(*p.ExitedAt))+" ago")
	}
	if p.Supervision != nil && p.Supervision.Automatic > 0 {
		parts = append(parts, text.Count(p.Supervision.Automatic, "restart"))
	}
	return strings.Join(parts, ", ")
}

// restartDelay returns the time until a process in backoff is restarted.
func restartDelay(p *api.Process, now time.Time) string {
	if p.Supervision == nil || p.Supervision.NextStart == nil {
		return ", waiting to restart"
	}
	wait := p.Supervision.NextStart.Sub(now)
	if wait < time.Second {
		return ", restarting now"
	}
	return ", restarts in " + units.Age(wait+time.Second-1)
}

// CommandStatus returns the sign, the words and the ink for the outcome of a command. If the sign
// says everything, words is "".
func CommandStatus(c *api.Command, running bool, look *look.Look) (sign, words string, ink look.Ink) {
	switch {
	case c.Stopped:
		return look.Glyphs.Stopped, "stopped", look.Dim
	case c.ExitSignal != "":
		return look.Glyphs.Failed, strings.TrimPrefix(text.Clean(c.ExitSignal), "SIG"), look.Bad
	case c.ExitCode != nil && *c.ExitCode != 0:
		return look.Glyphs.Failed, strconv.Itoa(*c.ExitCode), look.Bad
	case c.ExitCode != nil:
		return look.Glyphs.Check, "", look.Dim
	case running:
		return look.Glyphs.Running, "", look.Good
	}
	return " ", "", look.Dim
}

// You is the name shown for the user.
const You = "you"

// Who returns the name of an actor without the prefix common to all agents.
func Who(actor string) string {
	if actor == "person" {
		return You
	}
	return strings.TrimPrefix(text.Clean(actor), "agent:")
}

// WhoFrom is like Who, but adds the machine of the caller, if it is another one.
func WhoFrom(actor, from string) string {
	if from == "" {
		return Who(actor)
	}
	return Who(actor) + " from " + text.Clean(from)
}

// StateGlyph returns the glyph and the ink for a process's state.
func StateGlyph(p *api.Process, look *look.Look) (string, look.Ink) {
	glyph := look.Glyphs.State(string(p.State))
	switch {
	case p.Interrupted != nil:
		return look.Glyphs.Backoff, look.Info
	case p.Failed():
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

// SplitLog reports whether a process's stderr has a log of its own.
func SplitLog(p *api.Process) bool { return p.Supervision != nil && p.Supervision.SplitLog }

// StateAway is the state shown for processes of a machine now offline.
const StateAway api.State = "away"

// ShownName returns the name of a session in panes and tabs (see api.Process.ShownName), with the
// name of its machine if that is not this one.
func ShownName(p *api.Process) string {
	machine, _ := api.MachineOf(p.ID)
	return api.OnMachine(machine, text.Clean(p.ShownName()))
}

// FullName returns the name of a process, with the name of its machine if that is not this one.
func FullName(p *api.Process) string {
	machine, _ := api.MachineOf(p.ID)
	return api.OnMachine(machine, text.Clean(p.Name))
}
