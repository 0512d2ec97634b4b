package prompt

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/pty"
)

// lineShells are the shells with POSIX or fish command lines.
var lineShells = [...]string{"sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "mksh", fishShell}

const fishShell = "fish"

// relays pass on what is typed to a terminal of their own, in which anything may run.
// They wait for keys all the time.
var relays = [...]string{"ssh", "mosh-client", "su", "sudo", "doas", "docker", "podman", "kubectl", "nsenter", "machinectl"}

// takesLines reports whether the program that was seen to read is a shell at a prompt
// of its own, or leads to one. Nothing but the command itself may be typed into what is not.
func (s *Shell) takesLines(ctx context.Context, look pty.Look) (bool, error) {
	argv := argumentsOf(look.PID)
	switch {
	case isInteractive(argv) && s.editsLine(look):
		return true, nil
	case isInteractive(argv), isRelay(argv):
		row, err := s.row(ctx)
		return endsPrompt(row), err
	}
	return false, nil
}

// editsLine reports whether the program reading the terminal is a line editor; few builtins are.
// Line editors poll, except zsh's, which enables bracketed paste.
func (s *Shell) editsLine(look pty.Look) bool {
	return look.Polls || !look.Canonical && s.t.Modes().BracketedPaste
}

// row is the cursor's row, up to the cursor.
func (s *Shell) row(ctx context.Context) (string, error) {
	c, err := s.t.Cursor(ctx)
	if err != nil {
		return "", err
	}
	rows, err := s.t.Rows(ctx)
	if err != nil || c.Y >= len(rows) {
		return "", err
	}
	text := []rune(rows[c.Y])
	for len(text) < c.X {
		text = append(text, ' ')
	}
	return string(text[:c.X]), nil
}

func argumentsOf(pid int) []string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
}

// isInteractive reports whether argv starts a shell that reads command lines from its
// terminal, no script and no command.
func isInteractive(argv []string) bool {
	if len(argv) > 1 && filepath.Base(argv[0]) == "busybox" {
		argv = argv[1:]
	}
	if !slices.Contains(lineShells[:], programOf(argv)) {
		return false
	}
	for i := 1; i < len(argv); i++ {
		switch a := argv[i]; {
		case a == "--rcfile", a == "--init-file", a == "-o", a == "+o", a == "-O", a == "+O", a == "-C":
			i++
		case !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "+"):
			return false
		case !strings.HasPrefix(a, "--") && strings.Contains(a, "c"):
			return false
		}
	}
	return true
}

// programOf returns the name of the program in argv, without the dash of a login shell.
func programOf(argv []string) string {
	if len(argv) == 0 {
		return ""
	}
	return strings.TrimPrefix(filepath.Base(argv[0]), "-")
}

func isRelay(argv []string) bool {
	return len(argv) > 0 && slices.Contains(relays[:], filepath.Base(argv[0]))
}

// endsPrompt reports whether a row ends as the prompts of shells do, and not as that of
// psql, whose prompts say by a character before # or $ what it waits for.
func endsPrompt(row string) bool {
	row = strings.TrimRight(row, " ")
	for _, end := range [...]string{"$", "#", "%"} {
		if before, ok := strings.CutSuffix(row, end); ok {
			return before == "" || !strings.ContainsAny(before[len(before)-1:], `=-('"*!^$`)
		}
	}
	return strings.HasSuffix(row, "❯")
}

// promptComes is how long a shell may take to come to its prompt before something
// else counts as having the terminal: a command that is just ending, files that it
// reads when it starts.
const promptComes = 300 * time.Millisecond

// Foreground tells whether a shell waits for a command line, and what has the terminal
// if none does.
func (s *Shell) Foreground(ctx context.Context) (out api.SessionForegroundOutput, err error) {
	if err := s.t.IsReady(ctx); err != nil {
		return out, err
	}
	s.noteLost(ctx)
	soon, cancel := context.WithTimeout(ctx, promptComes)
	defer cancel()
	if need, _ := s.awaitNeed(soon, func(n Need) bool { return n == NeedPrompt }); need == NeedPrompt || ctx.Err() != nil {
		out.Prompt = need == NeedPrompt
		return out, ctx.Err()
	}
	look, running := s.look(), s.marks.state()
	switch {
	case !look.Reads, look.Hidden, s.t.Modes().Alt, look.Own && running.phase == phaseRunning: // a builtin reads
	case look.Own && isInteractive(argumentsOf(look.PID)): // a shell that marks nothing
		out.Prompt = true
	default:
		out.Prompt, err = s.takesLines(ctx, look)
	}
	if !out.Prompt && err == nil {
		out.Program = s.program(running.line)
	}
	return out, err
}

// program names what has the terminal; line is what the shell runs, as far as it told.
func (s *Shell) program(line string) string {
	if s.o.Master == nil {
		return ""
	}
	group, err := pty.Foreground(s.o.Master)
	if err != nil || group <= 0 {
		return ""
	}
	if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); group == s.o.PID && word != "" {
		return word // a builtin or a function of the shell
	}
	return programOf(argumentsOf(group))
}
