package prompt

import (
	"context"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/pty"
)

const (
	// asksLooks is how many looks in a row see a program read before it counts as
	// waiting, and asksGap how long it has printed nothing by then.
	asksLooks = 3
	asksGap   = 300 * time.Millisecond
	// againGap takes its place where the same prompt is there again.
	againGap = 100 * time.Millisecond
	// pollsGap takes the place of asksGap where a program waits for keys among other
	// things and has left the cursor at no question of its own.
	pollsGap  = time.Second
	pollsLong = 3 * time.Second
)

// look looks at the program in the foreground; nothing is known of it while there is
// output that the screen does not show.
func (s *Shell) look() pty.Look {
	if s.o.Master == nil || s.t.Shown() < s.t.Log().End() {
		return pty.Look{}
	}
	look := s.lookNow()
	// It may have printed something just before it started to read.
	if pty.HasOutput(s.o.Master) || s.t.Shown() < s.t.Log().End() {
		return pty.Look{}
	}
	return look
}

// lookNow looks at the program in the foreground. One that polls for a line counts as waiting only
// if it has printed a question: the cursor stands behind text.
func (s *Shell) lookNow() pty.Look {
	look := pty.InspectForeground(s.o.Master, s.o.PID)
	if !look.Alone {
		return look
	}
	soon, cancel := context.WithTimeout(context.Background(), lookBudget)
	defer cancel()
	if row, err := s.row(soon); err != nil || strings.TrimSpace(row) == "" {
		return pty.Look{}
	}
	return look
}

// othersRead reports whether a program that the shell has started waits for input.
func (e *execution) othersRead() bool {
	look := e.s.look()
	return look.Reads && !look.Own
}

// checkReader looks whether what reads now, at no prompt that was told of, may be typed
// to, and how.
func (e *execution) checkReader(ctx context.Context, state promptState) (done bool, err error) {
	look := e.s.look()
	switch {
	case e.s.t.Modes().Alt:
		return true, e.errBusy(state.line)
	case !look.Reads:
		e.still = 0
		if state.phase != phaseUnknown && time.Since(e.began) > enterSettles {
			return true, e.errBusy(state.line)
		}
		return false, nil
	}
	if e.still++; e.still <= asksLooks && time.Since(e.s.LastActive()) < asksGap {
		return false, nil
	}
	if look.Hidden {
		return true, api.Errorf(api.CodeConflict, "run in %s: it waits for a secret", e.name).
			WithHint("answer with session.write, or have the user type it")
	}
	lines, err := e.s.takesLines(ctx, look)
	if err != nil {
		return true, err
	}
	e.reader = argumentsOf(look.PID)
	e.relayed = isRelay(e.reader)
	builtin := look.Own && state.phase == phaseRunning && !e.relayed
	if builtin && isInteractive(e.reader) { // a command line is no answer to what it asks
		return true, e.errBusy(state.line)
	}
	if lines && !builtin {
		e.useMarker(look.Own && !e.relayed)
		return true, nil
	}
	e.plain = true
	e.before, err = e.s.row(ctx)
	return true, err
}

// mayAsk reports whether what was typed has reached a program that may wait for input.
func (e *execution) mayAsk(seen commandWatch) bool {
	if e.plain || seen.begun {
		return true
	}
	return !e.marker && e.s.marks.state().noStart && seen.continued < e.lines && e.s.t.Log().End() > e.start
}

// asks tells what the program waits for, once it has waited and printed nothing for a
// while.
func (e *execution) asks(ctx context.Context) (Need, error) {
	look := e.s.look()
	if !look.Reads {
		e.still = 0
		return NeedNothing, nil
	}
	quiet := time.Since(e.s.LastActive())
	if e.still++; e.still < asksLooks || quiet < e.s.leastQuiet() {
		return NeedNothing, nil
	}
	if look.Hidden && quiet >= asksGap {
		return NeedSecret, nil
	}
	row, err := e.s.row(ctx)
	if err != nil || look.Hidden || quiet < e.pause(row, look) {
		return NeedNothing, err
	}
	return NeedInput, nil
}

// leastQuiet is how long a program prints nothing at least before it counts as
// waiting. What was typed may not have reached it before anything came of that: not
// even its echo is there at once on a busy machine.
func (s *Shell) leastQuiet() time.Duration {
	if s.printed.Load() < s.typed.Load() {
		return pollsGap
	}
	return againGap
}

// isSettled reports whether the shell has printed nothing for long enough that what was
// typed has reached it.
func (s *Shell) isSettled() bool { return time.Since(s.LastActive()) >= s.leastQuiet() }

// pause is how long a program that waits for input, with the cursor behind a row, is
// silent before it counts as asking.
func (e *execution) pause(row string, look pty.Look) time.Duration {
	relayed := isRelay(argumentsOf(look.PID))
	switch {
	case e.before != "" && withoutDigits(row) == withoutDigits(e.before) && !relayed:
		return againGap
	case !look.Polls || e.s.t.Modes().Alt:
		return asksGap
	case row == "" && relayed:
		return shellTimeMost // what it leads to may run for long without a word
	case row == "" && e.before != "":
		return pollsLong
	case row == "" && !e.plain, relayed:
		return pollsGap
	}
	return asksGap
}

// withoutDigits is a prompt without the numbers that some count their lines with.
func withoutDigits(row string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, row)
}

// lookLimit is how many looks at a shell that keeps reading count as its not having
// taken the command.
func (e *execution) lookLimit() int {
	if e.relayed {
		return relayLooks
	}
	return untoldLooks
}
