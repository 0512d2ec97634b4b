package prompt

import (
	"bytes"
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A shell's marks come from hooks. A sourced file may replace them, and they are lost when the
// shell executes another program in its place. Then the last command seems to run forever. So a
// shell that waits at a prompt, although its marks say otherwise, is treated as a shell without
// marks. The exit status of its last command is unknown.

// maxPrompt is how many bytes of output are searched for the beginning of the last row.
const maxPrompt = 4 << 10

// mayBeLost reports whether, according to its marks, the shell is not waiting for input. If it
// waits nevertheless, its marks are lost.
func (p promptState) mayBeLost() bool {
	switch p.phase {
	case phaseRunning, phaseBetween:
		return true
	}
	return p.phase == phaseReady && p.entered
}

// noteLost checks whether the shell waits at an unmarked prompt. If so, it records that the marks
// are lost, and returns true.
func (s *Shell) noteLost(ctx context.Context) bool {
	state := s.marks.snapshot()
	if s.programs == nil || !state.mayBeLost() || !s.isSettled() || !s.atUnmarkedPrompt(ctx, state) {
		return false
	}
	cols, rows := s.t.Size()
	at := s.lastRow(s.t.Shown())
	ended, ok := s.marks.noteUnmarkedPrompt(markFound{at: at, now: time.Now(), typed: s.typedLineReader(cols, rows, false)}, state.notes)
	if ok {
		s.reportCommand(ended)
		s.o.Changed()
	}
	return ok
}

// noteUnmarkedPrompt records that the shell waits at a prompt without a mark. Its hooks were
// removed, or another shell replaced it. notes is the number of marks seen at the time. ok is false
// if more have arrived since.
func (m *marks) noteUnmarkedPrompt(f markFound, notes int) (ended *Command, ok bool) {
	f.Mark, f.lost = 'D', true
	m.readTyped(&f)
	m.mu.Lock()
	defer m.mu.Unlock()
	// A mark that has arrived meanwhile is more reliable than this observation.
	if m.notes != notes || m.phase == phaseReady && !f.sent && !m.dropped {
		return nil, false
	}
	m.notes++
	was, told := m.phase, m.watch != nil && m.watch.ended
	ended = m.endCommand(f, nil)
	if was == phaseRunning && m.replay {
		// The previous engine recorded it.
		ended = nil
	}
	m.phase, m.reported, m.ahead, m.once = phaseUnknown, false, 0, oneTime{}
	if w := m.watch; w != nil && w.ended {
		w.lost, w.ready, w.cursor = !told, true, f.at
	}
	return ended, true
}

// endUnmarked ends a command at the next prompt, for want of a mark that reports its end.
func (m *marks) endUnmarked(w *commandWatch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w.ended, w.end, w.endedAt, w.lost = true, w.unmarked, time.Now(), true
}

// atUnmarkedPrompt reports whether the session's own process is a shell reading a command line.
// Builtins with a line editor (read -e, vared) read as well; the prompt on the screen tells the
// difference.
func (s *Shell) atUnmarkedPrompt(ctx context.Context, state promptState) bool {
	look := s.inspectReader()
	if !look.Reads || look.Hidden || look.PID != s.o.PID || s.t.Modes().Alt || !isInteractive(s.programs.arguments(look.PID)) {
		return false
	}
	row, err := s.cursorRow(ctx)
	if err != nil {
		return false
	}
	edits, prompt := s.editsLine(look), endsLikePrompt(row)
	if state.phase == phaseUnknown || s.isReplaced() {
		return edits || prompt
	}
	prompt = prompt || s.isLastPrompt(state, row)
	switch state.phase {
	case phaseBetween:
		return edits
	case phaseRunning:
		// A builtin would have stopped at the interrupt.
		return edits && (prompt || endsInSymbol(row) || state.interruptedAt.After(state.began))
	}
	// While the cursor is still in the row of the prompt, the shell has not reacted to the input.
	return (edits || state.noStart) && prompt && !state.more && s.lastRow(s.t.Shown()) > state.prompt
}

// isLastPrompt reports whether row is the same as the last marked prompt, apart from digits.
func (s *Shell) isLastPrompt(state promptState, row string) bool {
	p, start, err := readRange(s.t.Log(), state.drawing, state.prompt, maxPrompt)
	if err != nil || start != state.drawing {
		return false
	}
	cols, rows := s.t.Size()
	text := cleanOutput(p, cols, rows)
	text = strings.TrimRight(text[strings.LastIndexByte(text, '\n')+1:], " ")
	return text != "" && stripDigits(text) == stripDigits(strings.TrimRight(row, " "))
}

// isReplaced reports whether another program has replaced the one that was started with the
// session's nonce. It returns false if the environment of the process cannot be read.
func (s *Shell) isReplaced() bool {
	environ := s.programs.environ(s.o.PID)
	return environ != "" && !strings.Contains("\x00"+environ, "\x00"+NonceVariable+"=")
}

// lastRow returns the offset of the start of the row that ends at the offset end.
func (s *Shell) lastRow(end int64) int64 {
	p, start, err := readRange(s.t.Log(), end-maxPrompt, end, maxPrompt)
	if err != nil {
		return end
	}
	return start + int64(bytes.LastIndexByte(p, '\n')+1)
}

// endsInSymbol reports whether a row ends in a symbol, except those with which questions end.
func endsInSymbol(row string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(row, " "))
	return last != utf8.RuneError && !unicode.IsLetter(last) && !unicode.IsDigit(last) && !strings.ContainsRune(`:?!.,;=-_'")]}`, last)
}
