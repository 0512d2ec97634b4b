package coding

import (
	"context"
	"time"

	"tandem/engine/api"
)

// Agents distinguish typing from pasting by the time between two keys. Claude Code, Codex and Gemini
// CLI, for example, treat an enter right after a text as part of the text, or drop it.
const (
	// enterGap is the time from an agent's first reaction to a text until enter.
	enterGap = 250 * time.Millisecond
	// maxEnterWait limits the wait for a reaction.
	maxEnterWait = 2 * time.Second
	// answerPollInterval is the time between checks for a reaction.
	answerPollInterval = 5 * time.Millisecond
)

// A typedText records the last text typed by a client.
type typedText struct {
	at         time.Time
	end        int64 // end of the output before it
	wasBlocked bool  // the agent was blocked before it
}

func (w *Watch) HasAgent() bool {
	if w == nil {
		return false
	}
	a := w.currentAgent()
	return a != nil && a.Process != nil
}

// RecordTyped records a typed text; end is the end of the session's output before it.
func (w *Watch) RecordTyped(end int64) { w.lastTyped.Store(&typedText{time.Now(), end, w.isBlocked()}) }

// isBlocked reports whether the agent asks a question.
func (w *Watch) isBlocked() bool {
	a := w.currentAgent()
	return a != nil && Decide(a.Words).State == api.AgentBlocked
}

// AwaitEnterTime waits until the agent has taken the last text, so that enter counts as a key of
// its own. end returns the end of the session's output. If the agent has started to ask a question,
// which enter would answer, AwaitEnterTime returns an error.
func (w *Watch) AwaitEnterTime(ctx context.Context, end func() int64) error {
	last := w.lastTyped.Swap(nil)
	if last == nil {
		return nil
	}
	look := time.NewTicker(answerPollInterval)
	defer look.Stop()
	for due := last.at.Add(maxEnterWait); ; {
		now := time.Now()
		if answer := now.Add(enterGap); end() > last.end && answer.Before(due) {
			// Count the first reaction only: an agent keeps printing.
			due, last.end = answer, 1<<62
		}
		if !now.Before(due) {
			return w.checkNewQuestion(last)
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

// checkNewQuestion returns an error if the agent has asked a question since the text.
func (w *Watch) checkNewQuestion(last *typedText) error {
	w.inspect()
	if last.wasBlocked || !w.isBlocked() {
		return nil
	}
	return api.Errorf(api.CodeConflict, "enter was not pressed: the agent is asking a question now").WithHint("the text is in its prompt or its answer; check the screen")
}
