package prompt

import (
	"path/filepath"
	"strings"
	"time"

	"tandem/engine/base/names"
)

const (
	// runningAfter is how long a command must have run to be named: the many that take no time would
	// make the names of sessions flicker.
	runningAfter = 200 * time.Millisecond
	// maxRunning is how many bytes of its line are shown.
	maxRunning = 200
)

// Running returns the first line of the command that the shell runs or, if its marks do not tell, the
// command line or name of the program in front of it. It returns "" at the prompt and for a command that has just
// begun or must not be shown.
func (s *Shell) Running() string {
	state := s.marks.snapshot()
	if state.atPrompt() || state.phase == phaseRunning && time.Since(state.began) < runningAfter {
		return ""
	}
	line := state.line
	if state.phase != phaseRunning || line == "" {
		_, line = s.polled.get()
	}
	if s.o.Show != nil {
		line = s.o.Show(line) // all of it: the start of a secret is not recognized
	}
	line, _, _ = strings.Cut(strings.TrimSpace(line), "\n")
	return strings.ToValidUTF8(line[:min(len(line), maxRunning)], "")
}

// frontLine returns the command line of the program in the foreground, or its name only if its line was
// marked and could not be read: a shell set to keep lines that begin with a space from its history reports
// none, and nobody may see their arguments. It returns "" for the child of the terminal.
func frontLine(all programs, child int, marked bool) string {
	group := all.foreground()
	if group <= 0 || group == child {
		return ""
	}
	argv := all.arguments(group)
	if len(argv) == 0 {
		return ""
	}
	argv = append([]string{filepath.Base(argv[0])}, argv[1:]...)
	if marked {
		argv = argv[:1]
	}
	return names.CommandLine(argv)
}
