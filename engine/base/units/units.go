// Package units formats sizes and durations in a few cells, the same everywhere.
package units

import (
	"fmt"
	"strconv"
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
