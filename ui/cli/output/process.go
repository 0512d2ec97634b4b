package output

import (
	"fmt"
	"strconv"
	"time"

	"tandem/engine/api"
)

// StateText is a process's state in words, with how it ended.
func StateText(p api.Process) string {
	text := string(p.State)
	switch {
	case p.State == api.StateWaiting && len(p.WaitsFor) > 0:
		return text + " for " + Visible(p.Awaits())
	case !p.State.Ended():
		return text
	case p.ExitSignal != "":
		return text + " " + p.ExitSignal
	case p.ExitCode != nil:
		return text + " " + strconv.Itoa(*p.ExitCode)
	case p.ExitUnknown:
		return text + " (status unknown)"
	}
	return text
}

func StateTint(p api.Process) Tint {
	bad := p.ExitSignal != "" || p.ExitUnknown || p.ExitCode != nil && *p.ExitCode != 0
	switch {
	case p.State == api.StateRunning:
		return Green
	case p.State == api.StateFailed, p.State == api.StateExited && bad:
		return Red
	case p.State.Ended():
		return Faint
	}
	return Yellow
}

// Age is how long a process has run, or since when it has ended.
func Age(p api.Process, now time.Time) string {
	since := p.StartedAt
	if p.ExitedAt != nil {
		since = *p.ExitedAt
	}
	if since.IsZero() {
		return "-"
	}
	return Span(now.Sub(since))
}

// Span is a duration in its largest unit.
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= day:
		return fmt.Sprintf("%dd", d/day)
	case d >= time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= time.Minute:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return fmt.Sprintf("%ds", max(d, 0)/time.Second)
}

// Size is a number of bytes in its largest unit of 1024.
func Size(bytes int64) string {
	n, units := float64(bytes), "BKMGT"
	for n >= 1000 && len(units) > 1 {
		n, units = n/1024, units[1:]
	}
	if n < 9.95 && units[0] != 'B' && n > 0 {
		return fmt.Sprintf("%.1f%c", n, units[0])
	}
	return fmt.Sprintf("%.0f%c", n, units[0])
}

// ExitText is how a process has ended last, "-" if it has not.
func ExitText(p api.Process) string {
	switch {
	case p.ExitSignal != "":
		return p.ExitSignal
	case p.ExitCode != nil:
		return strconv.Itoa(*p.ExitCode)
	case p.ExitUnknown:
		return "unknown"
	}
	return "-"
}

// WhoFrom is who did something, and from which other machine.
func WhoFrom(actor, from string) string {
	if from != "" {
		actor += " from " + from
	}
	return Visible(actor)
}
