package panes

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"tandem/engine/api"
)

// pidText is the pid, "" without one.
func pidText(p *api.Process) string {
	if p.PID == 0 {
		return ""
	}
	return strconv.Itoa(p.PID)
}

func cpuText(p *api.Process) string {
	switch {
	case p.Metrics == nil || p.PID == 0:
		return ""
	case p.Metrics.CPUPercent >= 99.95:
		return strconv.FormatFloat(p.Metrics.CPUPercent, 'f', 0, 64)
	}
	return strconv.FormatFloat(p.Metrics.CPUPercent, 'f', 1, 64)
}

func memoryText(p *api.Process) string {
	if p.Metrics == nil || p.PID == 0 {
		return ""
	}
	return Bytes(p.Metrics.RSSBytes)
}

// Bytes is a number of bytes in at most five cells, as it is written everywhere:
// "673B", "1.2K", "812M".
func Bytes(n int64) string {
	v, units := float64(n), "BKMGTPE"
	for v >= 999.5 && len(units) > 1 {
		v, units = v/1024, units[1:]
	}
	digits := 0
	if v < 9.95 && n >= 1000 {
		digits = 1
	}
	return strconv.FormatFloat(v, 'f', digits, 64) + units[:1]
}

func upText(p *api.Process, now time.Time) string {
	if p.State.Ended() || p.State == api.StateBackoff || p.StartedAt.IsZero() {
		return ""
	}
	return Age(now.Sub(p.StartedAt))
}

// Age is a duration in at most six cells: "8s", "12m", "3h20m", "15d4h".
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

func restartsText(p *api.Process) string {
	if n := restarts(p); n > 0 {
		return strconv.Itoa(n)
	}
	return ""
}

func portsText(p *api.Process) string {
	if p.Metrics == nil || p.PID == 0 {
		return ""
	}
	var b strings.Builder
	for i, port := range p.Metrics.Ports {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(port))
	}
	return b.String()
}

func exitText(p *api.Process) string {
	switch {
	case p.ExitCode != nil:
		return strconv.Itoa(*p.ExitCode)
	case p.ExitSignal != "":
		return strings.TrimPrefix(Clean(p.ExitSignal), "SIG")
	case p.ExitUnknown:
		return "?"
	}
	return ""
}

func whoText(p *api.Process) string {
	return strings.TrimPrefix(Clean(p.Actor), "agent:")
}

// Reason says in a few words why a process is not simply running, "" if it is.
func Reason(p *api.Process, now time.Time) string {
	switch {
	case p.State == api.StateBackoff:
		return HowEnded(p) + againIn(p, now)
	case Failed(p):
		return HowEnded(p)
	case p.State == api.StateRunning && p.Supervision != nil && p.Supervision.Ready != nil && !*p.Supervision.Ready:
		return "not ready yet"
	case p.State == api.StateStarting, p.State == api.StateStopping:
		return string(p.State) + "…"
	}
	return ""
}

// shortReason is Reason where there is little room and the exit status is told
// beside it.
func shortReason(p *api.Process, now time.Time) string {
	if p.State == api.StateBackoff {
		return strings.TrimPrefix(againIn(p, now), ", ")
	}
	return HowEnded(p)
}

// besideExit is Reason where the exit status is told beside it.
func besideExit(p *api.Process, now time.Time) string {
	switch {
	case p.Error != "" || p.ExitCode == nil && p.ExitSignal == "":
	case p.State == api.StateBackoff:
		return shortReason(p, now)
	case Failed(p):
		return ""
	}
	return Reason(p, now)
}

// againIn says when a process in backoff is started again.
func againIn(p *api.Process, now time.Time) string {
	if p.Supervision == nil || p.Supervision.NextStart == nil {
		return ", waits to be started again"
	}
	wait := p.Supervision.NextStart.Sub(now)
	if wait < time.Second {
		return ", starts again now"
	}
	return ", starts again in " + Age(wait+time.Second-1)
}

// sparkline draws the last n values of a history of percentages. Its top is
// the largest value, but never less than a quarter of a core, so that idling
// looks idle.
func sparkline(history []float64, n int, look *Look) string {
	history = history[max(len(history)-n, 0):]
	top := 25.0
	for _, v := range history {
		top = max(top, v)
	}
	var b strings.Builder
	b.WriteString(Spaces(n - len(history)))
	for _, v := range history {
		b.WriteString(look.Glyphs.Level(int(v / top * 4.99)))
	}
	return b.String()
}
