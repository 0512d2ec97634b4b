package prompt

import (
	"time"

	"tandem/engine/screen/vt"
)

// A Follower follows the marks in the log of a shell that has exited.
type Follower struct {
	marks        marks
	starts, ends int // of commands since Begin
}

// NewFollower returns a Follower for marks with this nonce.
func NewFollower(nonce string) *Follower { return &Follower{marks: marks{nonce: nonce}} }

// Begin notes that another shell begins here.
func (f *Follower) Begin() {
	f.marks.forgetProgram()
	f.starts, f.ends = 0, 0
}

// IsFresh reports whether the shell is still at its first prompt. Some shells report the end of a
// command before that prompt.
func (f *Follower) IsFresh() bool {
	return f.marks.snapshot().notes > 0 && f.starts == 0 && f.ends <= 1
}

// NoteMark records a mark.
func (f *Follower) NoteMark(e vt.PromptEvent) {
	unread := func(inputStart, int64) (string, int64, bool) { return "", 0, false }
	f.marks.noteMark(markFound{PromptEvent: e, now: time.Now(), typed: unread})
	switch e.Mark {
	case 'C':
		f.starts++
	case 'D':
		f.ends++
	}
}

// IsBetween reports whether, according to its marks, the shell runs no command and has not shown
// its prompt yet. Then nothing but the shell and its hooks writes to the terminal.
func (f *Follower) IsBetween() bool { return f.marks.snapshot().phase == phaseBetween }

// Running returns the command that had started and not ended. It returns "" if there is none, or if
// the shell did not report its line.
func (f *Follower) Running() string {
	if state := f.marks.snapshot(); state.phase == phaseRunning {
		return state.line
	}
	return ""
}
