package prompt

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/system/pty"
	"tandem/persist/procstat"
)

// lineShells are the shells with POSIX or fish command lines.
var lineShells = [...]string{"sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "mksh", fishShell}

const fishShell = "fish"

// relays are programs that pass input on to a terminal of their own. They always wait for keys.
var relays = [...]string{"ssh", "mosh-client", "su", "sudo", "doas", "docker", "podman", "kubectl", "nsenter", "machinectl"}

// acceptsLines reports whether the reading program is a shell at a prompt, or leads to one. A
// program that is not must get the plain text only.
func (s *Shell) acceptsLines(ctx context.Context, look pty.Look) (bool, error) {
	argv := s.programs.arguments(look.PID)
	switch {
	case isInteractive(argv) && s.editsLine(look):
		return true, nil
	case isInteractive(argv), isRelay(argv):
		row, err := s.cursorRow(ctx)
		return endsLikePrompt(row), err
	}
	return false, nil
}

// editsLine reports whether the program reading the terminal is a line editor; few builtins are.
// Line editors poll, except zsh's, which enables bracketed paste.
func (s *Shell) editsLine(look pty.Look) bool {
	return look.Polls || !look.Canonical && s.t.Modes().BracketedPaste
}

// cursorRow returns the text of the cursor's row before the cursor.
func (s *Shell) cursorRow(ctx context.Context) (string, error) {
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

// isInteractive reports whether argv starts a shell that reads command lines from its terminal,
// rather than a script or a command.
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

// IsShell reports whether a process is a shell that reads command lines from its terminal or pipe,
// rather than a subshell, which has only forked.
func IsShell(pid int) bool {
	const forkedOnly = 0x40 // PF_FORKNOEXEC
	p, err := procstat.Read(pid)
	return err == nil && p.Flags&forkedOnly == 0 && isInteractive(ptyPrograms{}.arguments(pid))
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

// endsLikePrompt reports whether a row ends like a shell prompt. It excludes psql's, with a status
// character before # or $.
func endsLikePrompt(row string) bool {
	row = strings.TrimRight(row, " ")
	for _, end := range [...]string{"$", "#", "%"} {
		if before, ok := strings.CutSuffix(row, end); ok {
			return before == "" || !strings.ContainsAny(before[len(before)-1:], `=-('"*!^$`)
		}
	}
	return strings.HasSuffix(row, "❯")
}

// ForegroundGroup returns the process group in the foreground, 0 if unknown. own is set if the group
// belongs to the session's child. It may be called while the screen is locked.
func (s *Shell) ForegroundGroup() (group int, own bool) {
	if s.programs == nil {
		return 0, false
	}
	group = s.programs.foreground()
	return group, group == s.o.PID
}

// ForegroundReads reports whether the foreground program waits for input. It is false for the session's
// child before all output is parsed, as a shell may have reached its prompt. It may be
// called while the screen is locked.
func (s *Shell) ForegroundReads() bool {
	if s.programs == nil {
		return false
	}
	look := s.programs.inspect(s.o.PID)
	return look.Reads && !(look.Own && (s.programs.hasOutput() || s.t.Shown() < s.t.Log().End()))
}

// promptGrace is how long a shell may take to show its prompt before another program counts as the
// foreground: a command may be exiting, or the shell reading its startup files.
const promptGrace = 300 * time.Millisecond

// Foreground reports whether a shell waits for a command line, and otherwise the name of the
// foreground program.
func (s *Shell) Foreground(ctx context.Context) (out api.SessionForegroundOutput, err error) {
	if err := s.t.IsReady(ctx); err != nil {
		return out, err
	}
	s.noteLost(ctx)
	soon, cancel := context.WithTimeout(ctx, promptGrace)
	defer cancel()
	if need, _ := s.awaitNeed(soon, func(n Need) bool { return n == NeedPrompt }); need == NeedPrompt || ctx.Err() != nil {
		out.Prompt = need == NeedPrompt
		return out, ctx.Err()
	}
	look, running := s.inspectReader(), s.marks.snapshot()
	switch {
	case !look.Reads, look.Hidden, s.t.Modes().Alt, look.Own && running.phase == phaseRunning: // a builtin reads
	case look.Own && isInteractive(s.programs.arguments(look.PID)): // a shell without marks
		out.Prompt = true
	default:
		out.Prompt, err = s.acceptsLines(ctx, look)
	}
	if !out.Prompt && err == nil {
		out.Program = foregroundName(s.programs, s.o.PID, running.line)
	}
	return out, err
}

// foregroundName returns the name of the program in the foreground, or "". line is the command that the
// shell, the child of the terminal, runs, as far as known.
func foregroundName(all programs, child int, line string) string {
	if all == nil {
		return ""
	}
	group := all.foreground()
	if group <= 0 {
		return ""
	}
	if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); group == child && word != "" {
		// A builtin or a function of the shell.
		return word
	}
	return programOf(all.arguments(group))
}
