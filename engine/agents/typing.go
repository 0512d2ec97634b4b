package agents

import (
	"context"
	"time"

	"tandem/engine/api"
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

// A typing is the last text that a client has typed.
type typing struct {
	at    time.Time
	end   int64 // of the output before it
	asked bool  // the agent was blocked before it
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
func (w *Watch) Typed(end int64) { w.typed.Store(&typing{time.Now(), end, w.blocked()}) }

// blocked reports whether the agent asks something.
func (w *Watch) blocked() bool {
	a := w.agent()
	return a != nil && Decide(a.Words).State == api.AgentBlocked
}

// AwaitTaken waits until the agent has taken the text that was typed last, so that it
// knows an enter behind it for what it is. end is that of the session's output. Where the
// agent has begun to ask something meanwhile, which enter would answer, it is an error.
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
			return w.hasAsked(last)
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

// hasAsked is the error of an agent that asks something since the text.
func (w *Watch) hasAsked(last *typing) error {
	w.look()
	if last.asked || !w.blocked() {
		return nil
	}
	return api.Errorf(api.CodeConflict, "enter was not pressed: the agent now asks something").WithHint("the text is in its prompt or its answer; check the screen")
}
