package prompt

import (
	"context"
	"strings"
	"time"

	"tandem/engine/system/pty"
)

const (
	// A program counts as waiting for input if minReadPolls polls in a row find it reading, and it
	// has printed nothing for minQuietTime.
	minReadPolls = 3
	minQuietTime = 300 * time.Millisecond
	// repeatQuiet replaces minQuietTime when the same prompt is shown again.
	repeatQuiet = 100 * time.Millisecond
	// pollerQuiet replaces minQuietTime for a program that polls for keys and has printed no
	// question in front of the cursor. If such a program had printed a question before the input,
	// maxPollerQuiet applies.
	pollerQuiet    = time.Second
	maxPollerQuiet = 3 * time.Second
)

// inspectReader returns the state of the foreground program. It returns the zero Look while there
// is output that the screen does not show yet.
func (s *Shell) inspectReader() pty.Look {
	if s.programs == nil || s.t.Shown() < s.t.Log().End() {
		return pty.Look{}
	}
	look := s.inspectReaderNow()
	// The program may have printed something just before it started to read.
	if s.programs.hasOutput() || s.t.Shown() < s.t.Log().End() {
		return pty.Look{}
	}
	return look
}

// inspectReaderNow returns the state of the foreground program without waiting for the screen. A
// program that polls counts as waiting for a line only if it has printed a question, so there is
// text in front of the cursor.
func (s *Shell) inspectReaderNow() pty.Look {
	look := s.programs.inspect(s.o.PID)
	if !look.Alone {
		return look
	}
	soon, cancel := context.WithTimeout(context.Background(), pollBudget)
	defer cancel()
	if row, err := s.cursorRow(soon); err != nil || strings.TrimSpace(row) == "" {
		return pty.Look{}
	}
	return look
}

// asksAfterLine reports whether a shell that reads is not at its prompt, but asks a question on
// behalf of the last line, for example with the read builtin. It is for shells without marks at the
// start of commands: such a shell asks if the cursor has left the row of the prompt and there is no
// other prompt.
func (s *Shell) asksAfterLine(p promptState) bool {
	return p.phase == phaseReady && p.noStart && p.entered && !p.dropped && !p.more && s.lastRow(s.t.Shown()) > p.prompt
}

// childReads reports whether a program started by the shell waits for input.
func (e *execution) childReads() bool {
	look := e.s.inspectReader()
	return look.Reads && !look.Own
}

// checkReader decides how to type to a program that reads the terminal, but has marked no prompt.
// done is false while the state may still change.
func (e *execution) checkReader(ctx context.Context, state promptState) (done bool, err error) {
	look := e.s.inspectReader()
	switch {
	case e.s.t.Modes().Alt:
		return true, e.busyError(state.line)
	case !look.Reads:
		e.still = 0
		if state.phase != phaseUnknown && time.Since(e.began) > enterSettles {
			return true, e.busyError(state.line)
		}
		return false, nil
	}
	if e.still++; e.still <= minReadPolls && time.Since(e.s.LastActive()) < minQuietTime {
		return false, nil
	}
	if look.Hidden {
		return true, e.secretError()
	}
	lines, err := e.s.acceptsLines(ctx, look)
	if err != nil {
		return true, err
	}
	e.reader = e.s.programs.arguments(look.PID)
	e.relayed = isRelay(e.reader)
	builtin := look.Own && state.phase == phaseRunning && !e.relayed
	// A command line is not an answer to its question.
	if builtin && isInteractive(e.reader) {
		return true, e.busyError(state.line)
	}
	if lines && !builtin {
		e.useMarker(look.Own && !e.relayed)
		return true, nil
	}
	e.plain = true
	e.before, err = e.s.cursorRow(ctx)
	return true, err
}

// mayNeedInput reports whether a program that may ask for more input has received the command.
func (e *execution) mayNeedInput(seen commandWatch) bool {
	if e.plain || seen.begun {
		return true
	}
	return !e.marker && e.s.marks.snapshot().noStart && seen.continued < e.lines && e.s.t.Log().End() > e.start
}

// pollNeed returns what the program waits for, once it has waited and printed nothing for long
// enough.
func (e *execution) pollNeed(ctx context.Context) (Need, error) {
	look := e.s.inspectReader()
	if !look.Reads {
		e.still = 0
		return NeedNothing, nil
	}
	quiet := time.Since(e.s.LastActive())
	if e.still++; e.still < minReadPolls || quiet < e.s.minQuiet() {
		return NeedNothing, nil
	}
	if look.Hidden && quiet >= minQuietTime {
		return e.s.polled.storeNeed(NeedSecret, e.s.o.Changed), nil
	}
	row, err := e.s.cursorRow(ctx)
	if err != nil || look.Hidden || quiet < e.questionQuiet(row, look) {
		return NeedNothing, err
	}
	// Lists are to agree with the result of the command.
	return e.s.polled.storeNeed(NeedInput, e.s.o.Changed), nil
}

// minQuiet returns how long a program must print nothing before it counts as waiting. After input,
// the time is longer until there is output, because on a busy machine even the echo comes late.
func (s *Shell) minQuiet() time.Duration {
	if s.printed.Load() < s.typed.Load() {
		return pollerQuiet
	}
	return repeatQuiet
}

// isSettled reports whether the shell has been quiet for so long that it must have received the
// last input.
func (s *Shell) isSettled() bool { return time.Since(s.LastActive()) >= s.minQuiet() }

// questionQuiet returns how long a program that reads must print nothing before it counts as
// asking. row is the text in front of the cursor.
func (e *execution) questionQuiet(row string, look pty.Look) time.Duration {
	relayed := isRelay(e.s.programs.arguments(look.PID))
	switch {
	case e.before != "" && stripDigits(row) == stripDigits(e.before) && !relayed:
		return repeatQuiet
	case !look.Polls || e.s.t.Modes().Alt:
		return minQuietTime
	case row == "" && relayed:
		// The program on the other machine may run for long without output.
		return maxTimeout
	case row == "" && e.before != "":
		return maxPollerQuiet
	case row == "" && !e.plain, relayed:
		return pollerQuiet
	}
	return minQuietTime
}

// stripDigits removes the digits from a prompt, because some prompts number their lines.
func stripDigits(row string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, row)
}

// stallLimit returns after how many ticks a shell that keeps reading is taken not to have accepted
// the command.
func (e *execution) stallLimit() int {
	if e.relayed {
		return relayStalls
	}
	return unmarkedStalls
}
