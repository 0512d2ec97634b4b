package processes

import (
	"time"

	"tandem/engine/api"
)

// A history is the course of a value up to now: spans of a constant value, oldest first.
type history struct {
	values  []float64
	seconds []int
}

func cpuHistory(m *api.Metrics) history { return history{m.CPUHistory, m.HistorySeconds} }

func memoryHistory(m *api.Metrics) history {
	p := history{seconds: m.HistorySeconds}
	for _, rss := range m.RSSHistory {
		p.values = append(p.values, float64(rss))
	}
	return p
}

func (p history) duration() (all time.Duration) {
	for i := range p.values {
		all += p.spanDuration(i)
	}
	return all
}

// spanDuration returns the duration of a span. Older engines do not send it; their spans take a
// second.
func (p history) spanDuration(i int) time.Duration {
	if i < len(p.seconds) {
		return time.Duration(p.seconds[i]) * time.Second
	}
	return time.Second
}

// unknown is the value before a history began.
const unknown = -1

// sample divides the window up to now into n parts and returns the largest value in each, so that
// no peak is lost.
func (p history) sample(window time.Duration, n int) []float64 {
	parts := make([]float64, n)
	for i := range parts {
		parts[i] = unknown
	}
	end := time.Duration(0) // before now
	for i := len(p.values) - 1; i >= 0 && end < window; i-- {
		begin := end + p.spanDuration(i)
		first := max(n-int((begin*time.Duration(n)+window-1)/window), 0)
		last := n - 1 - int(end*time.Duration(n)/window)
		for part := first; part <= last; part++ {
			parts[part] = max(parts[part], p.values[i])
		}
		end = begin
	}
	return parts
}
