// Package units formats sizes and durations in a few cells, the same everywhere, and parses times
// that the user types.
package units

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Bytes formats a number of bytes in at most five cells: "673B", "1.2K", "812M".
func Bytes(n int64) string {
	v, units := float64(n), "BKMGTPE"
	// The next unit starts at 999.5, not 1024, because four digits and a unit would need a cell
	// more.
	for v >= 999.5 && len(units) > 1 {
		v, units = v/1024, units[1:]
	}
	digits := 0
	if v < 9.95 && n >= 1000 {
		digits = 1
	}
	return strconv.FormatFloat(v, 'f', digits, 64) + units[:1]
}

// Age formats a duration in at most six cells: "8s", "12m", "3h20m", "15d4h".
func Age(d time.Duration) string {
	s := max(int64(d/time.Second), 0)
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm", s/60)
	case s < 86400:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	case s < 100*86400:
		return fmt.Sprintf("%dd%dh", s/86400, s/3600%24)
	}
	return fmt.Sprintf("%dd", s/86400)
}

// Elapsed formats a running time in at most six cells: "12ms", "3.4s", "2m05s", "3h20m"; "" if ms
// is negative, for unknown.
func Elapsed(ms int64) string {
	switch d := time.Duration(ms) * time.Millisecond; {
	case ms < 0:
		return ""
	case d < time.Second:
		return strconv.FormatInt(ms, 10) + "ms"
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Truncate(100*time.Millisecond).Seconds(), 'f', 1, 64) + "s"
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + "s"
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return Age(d)
	}
}

// Ago formats a time in the past in at most four cells: "now", "12m", "3h", "15d", "9w", "2y".
func Ago(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	case d < day:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	case d < 60*day:
		return strconv.Itoa(int(d/day)) + "d"
	case d < 2*365*day:
		return strconv.Itoa(int(d/(7*day))) + "w"
	}
	return strconv.Itoa(min(int(d/(365*day)), 999)) + "y"
}

// Moments describes what ParseMoment accepts, for messages.
const Moments = "a time such as 30m, 2d, 15:04, 2026-11-20 or 2026-11-20T15:04:05Z"

// ParseMoment parses a time before now, such as 30m or 2d, a time of now's day, such as 15:04, or a
// date with or without a time. Times without a zone are in that of now.
func ParseMoment(s string, now time.Time) (time.Time, bool) {
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
