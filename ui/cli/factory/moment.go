package factory

import (
	"fmt"
	"strconv"
	"strings"
	"time"
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
	at, ok := parseMoment(s, time.Now())
	if !ok {
		return fmt.Errorf("must be a time such as 30m, 2d, 15:04, 2026-11-20 or 2026-11-20T15:04:05Z")
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

func parseMoment(s string, now time.Time) (time.Time, bool) {
	const day = 24 * time.Hour
	for suffix, unit := range map[string]time.Duration{"d": day, "w": 7 * day} {
		if n, err := strconv.ParseFloat(strings.TrimSuffix(s, suffix), 64); err == nil && strings.HasSuffix(s, suffix) && n >= 0 && n < 1e5 {
			return now.Add(-time.Duration(n * float64(unit))), true
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), true
	}
	if at, err := time.ParseInLocation("15:04", s, now.Location()); err == nil {
		y, m, d := now.Date()
		return time.Date(y, m, d, at.Hour(), at.Minute(), 0, 0, now.Location()), true
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04", "2006-01-02T15:04", time.DateTime, time.DateOnly} {
		if at, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}
