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
	// maxRunning is how many bytes of its line are kept.
	maxRunning = 200
)

// Running returns the first line of the command that the shell runs or, if its marks do not tell, the
// command line of the program in front of it. It returns "" at the prompt and for a command that has just
// begun.
func (s *Shell) Running() string {
	switch state := s.marks.snapshot(); {
	case state.atPrompt():
		return ""
	case state.phase == phaseRunning && time.Since(state.began) < runningAfter:
		return ""
	case state.phase == phaseRunning && state.line != "":
		line, _, _ := strings.Cut(strings.TrimSpace(state.line), "\n")
		return strings.ToValidUTF8(line[:min(len(line), maxRunning)], "")
	}
	_, front := s.polled.get()
	return front
}

// frontLine returns the command line of the program in the foreground; "" if that is the child of the
// terminal.
func frontLine(all programs, child int) string {
	group := all.foreground()
	if group <= 0 || group == child {
		return ""
	}
	argv := all.arguments(group)
	if len(argv) == 0 {
		return ""
	}
	argv = append([]string{filepath.Base(argv[0])}, argv[1:]...)
	line, _, _ := strings.Cut(names.CommandLine(argv), "\n")
	return strings.ToValidUTF8(line[:min(len(line), maxRunning)], "")
}
