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

// lineShells are the shells that read POSIX or fish command lines.
var lineShells = [...]string{"sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "mksh", fishShell}

const fishShell = "fish"

// relays are programs that pass input on to a terminal of their own. They always wait for keys.
var relays = [...]string{"ssh", "mosh-client", "su", "sudo", "doas", "docker", "podman", "kubectl", "nsenter", "machinectl"}

// acceptsLines reports whether the program reading the terminal is a shell at a prompt, or passes
// its input to one. Any other program must get plain text only.
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
// Line editors poll, except zsh's, but that enables bracketed paste.
func (s *Shell) editsLine(look pty.Look) bool {
	return look.Polls || !look.Canonical && s.t.Modes().BracketedPaste
}

// cursorRow returns the text in front of the cursor, in the cursor's row.
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

// isInteractive reports whether argv starts a shell that reads command lines from its terminal, not
// from a script or its arguments.
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

// IsShell reports whether a process is a shell reading command lines from its terminal or pipe. A
// subshell, which has only forked, is not.
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

// endsLikePrompt reports whether a row ends like the prompt of a shell. The prompt of psql, with a
// status character before # or $, does not count.
func endsLikePrompt(row string) bool {
	row = strings.TrimRight(row, " ")
	for _, end := range [...]string{"$", "#", "%"} {
		if before, ok := strings.CutSuffix(row, end); ok {
			return before == "" || !strings.ContainsAny(before[len(before)-1:], `=-('"*!^$`)
		}
	}
	return strings.HasSuffix(row, "❯")
}

// ForegroundGroup returns the process group in the foreground, or 0 if it is unknown. own is set if
// it is the group of the session's child. It may be called while the screen is locked.
func (s *Shell) ForegroundGroup() (group int, own bool) {
	if s.programs == nil {
		return 0, false
	}
	group = s.programs.foreground()
	return group, group == s.o.PID
}

// ForegroundReads reports whether the foreground program waits for input. For the session's child
// it returns false until all output is parsed, because the child may be a shell that has reached
// its prompt. It may be called while the screen is locked.
func (s *Shell) ForegroundReads() bool {
	if s.programs == nil {
		return false
	}
	look := s.programs.inspect(s.o.PID)
	return look.Reads && !(look.Own && (s.programs.hasOutput() || s.t.Shown() < s.t.Log().End()))
}

// promptGrace is how long a shell may take to show its prompt before the foreground program is
// reported. Meanwhile a command may be exiting, or the shell may be reading its startup files.
const promptGrace = 300 * time.Millisecond

// Foreground reports whether a shell waits for a command line. If not, it returns the name of the
// program in the foreground.
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

// foregroundName returns the name of the program in the foreground, or "". child is the terminal's
// child, a shell. line is the command that the shell is running, if known.
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
