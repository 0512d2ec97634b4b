package prompt

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A shell's marks come from hooks that a sourced file may replace, and go with the shell
// when another program takes its place (exec). Nothing announces that: the last command
// seems to run forever. So a shell that is seen to wait at a prompt, where the marks say
// that it does not, counts as one that tells nothing. What it ran has an unknown status.

// maxPrompt bounds how much output is searched for the beginning of the last row.
const maxPrompt = 4 << 10

// mayBeLost reports whether the marks say that something runs.
func (p promptState) mayBeLost() bool {
	switch p.phase {
	case phaseRunning, phaseBetween:
		return true
	}
	return p.phase == phaseReady && p.entered
}

// noteLost looks whether the shell waits at a prompt that no mark reported, and notes
// that. It reports whether it did.
func (s *Shell) noteLost(ctx context.Context) bool {
	state := s.marks.state()
	if s.o.Master == nil || !state.mayBeLost() || !s.isSettled() || !s.atUnmarkedPrompt(ctx, state) {
		return false
	}
	cols, rows := s.t.Size()
	at := s.lastRow(s.t.Shown())
	ended, ok := s.marks.lose(markFound{at: at, now: time.Now(), typed: s.lineTyped(cols, rows, false)}, state.notes)
	if ok {
		s.tellRan(ended)
		s.o.Changed()
	}
	return ok
}

// lose notes that the shell waits at a prompt that no mark reported: its hooks are gone,
// or another shell took its place. notes is their number when that was seen; ok is false if
// more came since.
func (m *marks) lose(f markFound, notes int) (ended *Command, ok bool) {
	f.Mark, f.lost = 'D', true
	m.readTyped(&f)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.notes != notes || m.phase == phaseReady && !f.sent && !m.dropped {
		return nil, false
	}
	m.notes++
	was, told := m.phase, m.watch != nil && m.watch.ended
	ended = m.finish(f, nil)
	if was == phaseRunning && m.replay {
		ended = nil // the engine before this one has recorded it
	}
	m.phase, m.told, m.ahead, m.lent = phaseUnknown, false, 0, loan{}
	if w := m.watch; w != nil && w.ended {
		w.lost, w.ready, w.cursor = !told, true, f.at
	}
	return ended, true
}

// concede ends a command whose prompt came without a mark of its end.
func (m *marks) concede(w *commandWatch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w.ended, w.end, w.endedAt, w.lost = true, w.unmarked, time.Now(), true
}

// atUnmarkedPrompt reports whether the session's own process is a shell that reads a
// command line. The line editors of its builtins (read -e, vared) do not show the prompt.
func (s *Shell) atUnmarkedPrompt(ctx context.Context, state promptState) bool {
	look := s.look()
	if !look.Reads || look.Hidden || look.PID != s.o.PID || s.t.Modes().Alt || !isInteractive(argumentsOf(look.PID)) {
		return false
	}
	row, err := s.row(ctx)
	if err != nil {
		return false
	}
	edits, prompt := s.editsLine(look), endsPrompt(row)
	if state.phase == phaseUnknown || s.isReplaced() {
		return edits || prompt
	}
	prompt = prompt || s.isLastPrompt(state, row)
	switch state.phase {
	case phaseBetween:
		return edits
	case phaseRunning:
		return edits && (prompt || endsInSymbol(row) || state.broken.After(state.began)) // an interrupt ends a builtin
	}
	return (edits || state.noStart) && prompt && !state.more
}

// isLastPrompt reports whether a row is that of the last prompt that was marked.
func (s *Shell) isLastPrompt(state promptState, row string) bool {
	p, start, err := readRange(s.t.Log(), state.drawing, state.prompt, maxPrompt)
	if err != nil || start != state.drawing {
		return false
	}
	cols, rows := s.t.Size()
	text := cleanOutput(p, cols, rows)
	text = strings.TrimRight(text[strings.LastIndexByte(text, '\n')+1:], " ")
	return text != "" && withoutDigits(text) == withoutDigits(strings.TrimRight(row, " "))
}

// isReplaced reports whether another program took the place of the one that was given the
// session's word. What cannot be read is not known to be another.
func (s *Shell) isReplaced() bool {
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(s.o.PID) + "/environ")
	return err == nil && len(environ) > 0 && !strings.Contains("\x00"+string(environ), "\x00"+NonceVariable+"=")
}

// lastRow is the offset where the row that ends at an offset begins.
func (s *Shell) lastRow(end int64) int64 {
	p, start, err := readRange(s.t.Log(), end-maxPrompt, end, maxPrompt)
	if err != nil {
		return end
	}
	return start + int64(bytes.LastIndexByte(p, '\n')+1)
}

// endsInSymbol reports whether a row ends as no question does.
func endsInSymbol(row string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(row, " "))
	return last != utf8.RuneError && !unicode.IsLetter(last) && !unicode.IsDigit(last) && !strings.ContainsRune(`:?!.,;=-_'")]}`, last)
}
