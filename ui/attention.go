package ui

import (
	"time"
)

// Attention configures when and how the user is notified of events out of sight.
type Attention struct {
	NoNotify    bool          // disables desktop notifications
	LongCommand time.Duration // minimum duration of a command whose end is reported; default 10s
	Quiet       Hours         // no desktop notifications during these hours
}

// Hours is a part of the day, in minutes since midnight. It spans midnight if From is
// later than To; the zero value is empty.
type Hours struct{ From, To int }

// Have reports whether the local time of t is within h.
func (h Hours) Have(t time.Time) bool {
	at := 60*t.Hour() + t.Minute()
	if h.From <= h.To {
		return h.From <= at && at < h.To
	}
	return at >= h.From || at < h.To
}
