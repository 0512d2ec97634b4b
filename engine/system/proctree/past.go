package proctree

import (
	"math"
	"slices"
	"time"

	"tandem/engine/api"
)

const (
	// pastStep is the minimum length of a span. It is slightly less than five seconds: addUse is
	// usually called every second or every five seconds, and a call may come a little early.
	pastStep = 5*time.Second - 500*time.Millisecond
	// maxPast is the length of a past in seconds.
	maxPast = 10 * 60
)

// A past is the use of a tree over the last ten minutes, in spans of constant use. An idle tree
// has one span.
type past struct {
	spans []span        // oldest first
	from  uint32        // start of the first span, in seconds since boot
	last  time.Duration // end of the last span, since boot
	ticks uint64        // used since last
}

// A span ends at a time in seconds since boot. It takes twelve bytes: there may be 120 per
// process.
type span struct {
	until uint32
	cpu   float32 // percent of a core
	rss   uint32  // in KiB
}

// startAt sets the start of a past.
func (p *past) startAt(at time.Duration) { p.last, p.from = at, seconds(at) }

// addUse adds ticks, the CPU time used since the last call, to the current span. Once pastStep has
// passed, it ends the span, with rss as the memory used in it.
func (p *past) addUse(now time.Duration, ticks uint64, rss int64) {
	p.ticks += ticks
	if now-p.last < pastStep {
		return
	}
	next := p.openSpan(now, rss)
	p.last, p.ticks = now, 0
	if n := len(p.spans); n > 0 && p.spans[n-1].cpu == next.cpu && p.spans[n-1].rss == next.rss {
		// Extend the last span instead of adding an equal one.
		p.spans[n-1].until = next.until
	} else {
		p.spans = append(p.spans, next)
	}
	oldest := next.until - min(maxPast, next.until)
	gone := 0
	for p.spans[gone].until <= oldest {
		gone++
	}
	p.spans = slices.Delete(p.spans, 0, gone)
	p.from = max(p.from, oldest)
}

// openSpan returns the span since the last one.
func (p *past) openSpan(now time.Duration, rss int64) span {
	return span{until: seconds(now), cpu: percent(p.ticks, now-p.last), rss: uint32(min(rss>>10, math.MaxUint32))}
}

// copyTo copies the past into metrics, up to now.
func (p *past) copyTo(out *api.Metrics, now time.Duration) {
	from := p.from
	add := func(s span) {
		if s.until > from {
			out.CPUHistory = append(out.CPUHistory, float64(s.cpu))
			out.RSSHistory = append(out.RSSHistory, int64(s.rss)<<10)
			out.HistorySeconds = append(out.HistorySeconds, int(s.until-from))
			from = s.until
		}
	}
	for _, s := range p.spans {
		add(s)
	}
	add(p.openSpan(now, out.RSSBytes))
}

// addIdle records that no CPU time was used since the last call and that the memory is unchanged.
func (p *past) addIdle(now time.Duration) {
	if n := len(p.spans); n > 0 {
		p.addUse(now, 0, int64(p.spans[n-1].rss)<<10)
	}
}

// percent returns ticks as a percentage of a core. It rounds to a tenth, so that similar use joins
// one span.
func percent(ticks uint64, in time.Duration) float32 {
	if in <= 0 {
		return 0
	}
	return float32(math.Round(float64(ticks)/in.Seconds()*10) / 10)
}

func seconds(d time.Duration) uint32 { return uint32(d / time.Second) }
