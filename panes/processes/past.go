package processes

import (
	"time"

	"tandem/engine/api"
)

// A past is how a value went: spans in which it was the same, oldest first, up to
// now.
type past struct {
	values  []float64
	seconds []int
}

func cpuPast(m *api.Metrics) past { return past{m.CPUHistory, m.HistorySeconds} }

func memoryPast(m *api.Metrics) past {
	p := past{seconds: m.HistorySeconds}
	for _, rss := range m.RSSHistory {
		p.values = append(p.values, float64(rss))
	}
	return p
}

// length is the time from the beginning until now.
func (p past) length() (all time.Duration) {
	for i := range p.values {
		all += p.span(i)
	}
	return all
}

// span is how long a value lasted. Engines that do not tell have one a second.
func (p past) span(i int) time.Duration {
	if i < len(p.seconds) {
		return time.Duration(p.seconds[i]) * time.Second
	}
	return time.Second
}

// unknown is the value of a time before a past began.
const unknown = -1

// in divides the time of a window up to now into n parts and gives the largest value
// in each, so that no peak is lost.
func (p past) in(window time.Duration, n int) []float64 {
	parts := make([]float64, n)
	for i := range parts {
		parts[i] = unknown
	}
	end := time.Duration(0) // before now
	for i := len(p.values) - 1; i >= 0 && end < window; i-- {
		begin := end + p.span(i)
		first := max(n-int((begin*time.Duration(n)+window-1)/window), 0)
		last := n - 1 - int(end*time.Duration(n)/window)
		for part := first; part <= last; part++ {
			parts[part] = max(parts[part], p.values[i])
		}
		end = begin
	}
	return parts
}
