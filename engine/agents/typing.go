package agents

import (
	"context"
	"time"
)

// Agents tell what is typed from what is pasted by the time between two keys. Enter right
// behind a text is a part of it for them, or is dropped: Claude Code, Codex and Gemini CLI
// do that.
const (
	// enterGap is the time from an agent's first answer to a text to enter.
	enterGap = 250 * time.Millisecond
	// enterWait is how long an agent may take to answer a text at all.
	enterWait = 2 * time.Second
	// answerLook is the time between two looks for its answer.
	answerLook = 5 * time.Millisecond
)

// typing is the last text that was typed for somebody.
type typing struct {
	at  time.Time
	end int64 // of the output before it
}

// HasAgent reports whether an agent runs in the session.
func (w *Watch) HasAgent() bool {
	if w == nil {
		return false
	}
	a := w.agent()
	return a != nil && a.Process != nil
}

// Typed notes that a text was typed, when the session's output had that end.
func (w *Watch) Typed(end int64) { w.typed.Store(&typing{time.Now(), end}) }

// AwaitTaken waits until the agent has taken the text that was typed last, so that it
// knows an enter behind it for what it is. end is that of the session's output.
func (w *Watch) AwaitTaken(ctx context.Context, end func() int64) error {
	last := w.typed.Swap(nil)
	if last == nil {
		return nil
	}
	look := time.NewTicker(answerLook)
	defer look.Stop()
	for due := last.at.Add(enterWait); ; {
		now := time.Now()
		if answer := now.Add(enterGap); end() > last.end && answer.Before(due) {
			due, last.end = answer, 1<<62
		}
		if !now.Before(due) {
			return nil
		}
		select {
		case <-look.C:
		case <-w.terminal.Gone():
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
