package proctree

import (
	"math"
	"slices"
	"time"

	"tandem/engine/api"
)

const (
	// pastStep is the least time that a span lasts. What is asked for every second
	// or every five comes a little early sometimes.
	pastStep = 5*time.Second - 500*time.Millisecond
	// pastLength is how far back a past goes, in seconds.
	pastLength = 10 * 60
)

// A past is how the use of a tree went in the last ten minutes, as spans in which
// it stayed the same. What idles has a single one.
type past struct {
	spans []span        // oldest first
	from  uint32        // the beginning of the first, in seconds since boot
	last  time.Duration // the end of the last, since boot
	ticks uint64        // used since then
}

// A span lasts until a time, in seconds since boot. It takes twelve bytes, as there
// may be 120 of every process.
type span struct {
	until uint32
	cpu   float32 // percent of a core
	rss   uint32  // in KiB
}

// begin sets when a past begins.
func (p *past) begin(at time.Duration) { p.last, p.from = at, seconds(at) }

// note adds what was used until now, and the memory that is used now.
func (p *past) note(now time.Duration, ticks uint64, rss int64) {
	p.ticks += ticks
	if now-p.last < pastStep {
		return
	}
	next := p.open(now, rss)
	p.last, p.ticks = now, 0
	if n := len(p.spans); n > 0 && p.spans[n-1].cpu == next.cpu && p.spans[n-1].rss == next.rss {
		p.spans[n-1].until = next.until
	} else {
		p.spans = append(p.spans, next)
	}
	oldest := next.until - min(pastLength, next.until)
	gone := 0
	for p.spans[gone].until <= oldest {
		gone++
	}
	p.spans = slices.Delete(p.spans, 0, gone)
	p.from = max(p.from, oldest)
}

// open is the span since the last one.
func (p *past) open(now time.Duration, rss int64) span {
	return span{until: seconds(now), cpu: percent(p.ticks, now-p.last), rss: uint32(min(rss>>10, math.MaxUint32))}
}

// tell puts a past into metrics, up to now.
func (p *past) tell(out *api.Metrics, now time.Duration) {
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
	add(p.open(now, out.RSSBytes))
}

// still notes that nothing was used since the last look, and that memory is what it
// was.
func (p *past) still(now time.Duration) {
	if n := len(p.spans); n > 0 {
		p.note(now, 0, int64(p.spans[n-1].rss)<<10)
	}
}

// percent is what ticks are of a core in a time, to a tenth: what differs by less
// is the same span.
func percent(ticks uint64, in time.Duration) float32 {
	if in <= 0 {
		return 0
	}
	return float32(math.Round(float64(ticks)/in.Seconds()*10) / 10)
}

func seconds(d time.Duration) uint32 { return uint32(d / time.Second) }
