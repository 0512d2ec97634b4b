package factory

import (
	"errors"
	"time"

	"tandem/engine/base/units"
)

// A Moment is a flag value such as 30m or 2d (ago), 15:04 (today), 2026-11-20 or an RFC 3339 time.
// Times without a zone are in this machine's.
type Moment struct{ at time.Time }

func (m *Moment) String() string {
	if m.at.IsZero() {
		return ""
	}
	return m.at.Format(time.RFC3339)
}

// Type implements pflag.Value.
func (m *Moment) Type() string { return "time" }

// Set implements pflag.Value.
func (m *Moment) Set(s string) error {
	at, ok := units.ParseMoment(s, time.Now())
	if !ok {
		return errors.New("must be " + units.Moments)
	}
	m.at = at
	return nil
}

// Time returns the time; nil if none was given.
func (m Moment) Time() *time.Time {
	if m.at.IsZero() {
		return nil
	}
	return &m.at
}
