package prompt

import (
	"bytes"
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A shell's marks come from hooks, which a sourced file may replace and which are lost when the
// shell execs another program. The last command then seems to run forever. So a shell that waits at
// a prompt although its marks say otherwise is treated as a shell without marks. The status of its
// last command is unknown.

// maxPrompt is how many bytes of output are searched for the start of the last row.
const maxPrompt = 4 << 10

// mayBeLost reports whether the marks say that the shell is not waiting for input.
func (p promptState) mayBeLost() bool {
	switch p.phase {
	case phaseRunning, phaseBetween:
		return true
	}
	return p.phase == phaseReady && p.entered
}

// noteLost checks whether the shell waits at an unmarked prompt. If so, it records that the marks
// are lost and returns true.
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

// noteUnmarkedPrompt records that the shell waits at a prompt without a mark, because its hooks
// were removed or another shell replaced it. notes is the number of marks seen at that time; ok is
// false if more have arrived.
func (m *marks) noteUnmarkedPrompt(f markFound, notes int) (ended *Command, ok bool) {
	f.Mark, f.lost = 'D', true
	m.readTyped(&f)
	m.mu.Lock()
	defer m.mu.Unlock()
	// A mark that arrived meanwhile is more reliable than the observation.
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

// endUnmarked ends a command at the next prompt, because no mark reported its end.
func (m *marks) endUnmarked(w *commandWatch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w.ended, w.end, w.endedAt, w.lost = true, w.unmarked, time.Now(), true
}

// atUnmarkedPrompt reports whether the session's own process is a shell that reads a command line.
// It distinguishes this from builtins with a line editor (read -e, vared) by the displayed prompt.
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
	// A shell that is still in the row of its prompt has not reacted to the input.
	return (edits || state.noStart) && prompt && !state.more && s.lastRow(s.t.Shown()) > state.prompt
}

// isLastPrompt reports whether row shows the last marked prompt, ignoring digits.
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

// isReplaced reports whether another program replaced the one started with the session's nonce. It
// returns false if the environment cannot be read.
func (s *Shell) isReplaced() bool {
	environ := s.programs.environ(s.o.PID)
	return environ != "" && !strings.Contains("\x00"+environ, "\x00"+NonceVariable+"=")
}

// lastRow returns the offset of the start of the row that ends at end.
func (s *Shell) lastRow(end int64) int64 {
	p, start, err := readRange(s.t.Log(), end-maxPrompt, end, maxPrompt)
	if err != nil {
		return end
	}
	return start + int64(bytes.LastIndexByte(p, '\n')+1)
}

// endsInSymbol reports whether a row ends in a symbol, excluding those that end questions.
func endsInSymbol(row string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(row, " "))
	return last != utf8.RuneError && !unicode.IsLetter(last) && !unicode.IsDigit(last) && !strings.ContainsRune(`:?!.,;=-_'")]}`, last)
}
