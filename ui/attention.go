package ui

import (
	"time"
)

// Attention is when and how the person is told of what happens out of sight.
type Attention struct {
	NoNotify    bool          // no notifications of the desktop
	LongCommand time.Duration // a command that took this long is told of; default 10s
	Quiet       Hours         // when the desktop is left alone
}

// Hours are a part of the day, in minutes since midnight; From may be later than
// To. The zero value is none of it.
type Hours struct{ From, To int }

// Have reports whether a time is among the hours, by its own clock.
func (h Hours) Have(t time.Time) bool {
	at := 60*t.Hour() + t.Minute()
	if h.From <= h.To {
		return h.From <= at && at < h.To
	}
	return at >= h.From || at < h.To
}
