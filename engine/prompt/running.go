package prompt

import (
	"time"

	"tandem/engine/vt"
)

// A Follower follows the marks in the log of a shell that has exited.
type Follower struct{ marks marks }

// NewFollower returns a Follower of marks with a nonce.
func NewFollower(nonce string) *Follower { return &Follower{marks{nonce: nonce}} }

// NoteMark records a mark.
func (f *Follower) NoteMark(e vt.PromptEvent) {
	unread := func(inputStart, int64) (string, int64, bool) { return "", 0, false }
	f.marks.noteMark(markFound{PromptEvent: e, now: time.Now(), typed: unread})
}

// Running returns the command that had started and not ended; "" if there is none, or if the shell
// did not report it.
func (f *Follower) Running() string {
	if state := f.marks.snapshot(); state.phase == phaseRunning {
		return state.line
	}
	return ""
}
