package processes

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/units"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

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
	return units.Bytes(p.Metrics.RSSBytes)
}

func upText(p *api.Process, now time.Time) string {
	if p.State.Ended() || p.State == api.StateBackoff || p.State == api.StateWaiting || p.StartedAt.IsZero() {
		return ""
	}
	return units.Age(now.Sub(p.StartedAt))
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

// hostText returns the machine of a process, "" for this one.
func hostText(p *api.Process) string {
	machine, _ := api.MachineOf(p.ID)
	return machine
}

func whoText(p *api.Process) string { return states.Who(p.Actor) }

// fromText returns the machine a process was started from, "" if it is its own.
func fromText(p *api.Process) string { return text.Clean(p.From) }

// sparkline draws the recent use of the CPU in n cells of five seconds each. Its top is the largest
// value, but at least a quarter of a core, so that idling looks idle.
func sparkline(p history, n int, look *look.Look) string {
	values := p.sample(time.Duration(n)*sparkStep, n)
	top := max(25, slices.Max(values))
	var b strings.Builder
	for _, v := range values {
		if v == unknown {
			b.WriteString(" ")
			continue
		}
		b.WriteString(look.Glyphs.Level(int(v / top * 4.99)))
	}
	return b.String()
}
