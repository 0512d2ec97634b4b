package prompt

import (
	"path/filepath"
	"strings"
	"time"

	"tandem/engine/base/names"
)

const (
	// runningAfter is how long a command must have run before its name is shown. Many commands take
	// no time, and would make the names of sessions flicker.
	runningAfter = 200 * time.Millisecond
	// maxRunning is how many bytes of a command line are shown.
	maxRunning = 200
)

// Running returns the first line of the command that the shell is running. If the shell's marks do
// not report it, Running returns the command line or the name of the program in the foreground. It
// returns "" at the prompt, and if the command has only just begun or must not be shown.
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

// frontLine returns the command line of the program in the foreground, or "" if that is the
// terminal's child. marked is set if the shell marked the command without reporting its line. Then
// the user may have kept the line out of the history with a leading space, and nobody may see the
// arguments, so frontLine returns the program's name only.
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
