package cast

import (
	"fmt"
	"strings"
	"time"

	"tandem/engine/api"
)

const (
	// guessedStep is the assumed time between two pieces of output whose times are unknown, and
	// guessedPiece the assumed size of a piece in bytes.
	guessedStep  = 20 * time.Millisecond
	guessedPiece = 1 << 10
)

// A timeline converts answers of session.record to events.
type timeline struct {
	live func() time.Duration // time of new output since the start; nil to use the log's times

	base    time.Time // start of the log's times
	hasBase bool
	last    time.Duration
	cols    int
	rows    int
	guessed int64 // bytes with unknown times
	marks   markFilter
}

// events returns the events of an answer, in order.
func (t *timeline) events(out api.SessionRecordOutput) []Event {
	var events []Event
	if t.live != nil {
		t.last = max(t.last, t.live())
	}
	if len(out.Repaint) > 0 {
		events = append(events, Event{t.last, Output, string(withSixels(out.Repaint, out.Sizes))})
	}
	sizes, times := out.Sizes, out.Times
	for at, end := out.Start, out.Start+int64(len(out.Data)); ; {
		for len(sizes) > 0 && sizes[0].Offset <= at {
			events = t.resize(events, sizes[0])
			sizes = sizes[1:]
		}
		if at >= end {
			return events
		}
		for len(times) > 0 && times[0].Offset <= at {
			t.advance(times[0].At)
			times = times[1:]
		}
		to := end
		if len(sizes) > 0 {
			to = min(to, sizes[0].Offset)
		}
		if len(times) > 0 && t.live == nil {
			to = min(to, times[0].Offset)
		}
		// Until the first known time, small pieces keep the output from appearing all at once.
		if t.live == nil && !t.hasBase {
			to = min(to, at+guessedPiece)
			t.guessed += to - at
			t.last += guessedStep
		}
		if text := t.marks.strip(out.Data[at-out.Start : to-out.Start]); len(text) > 0 {
			events = append(events, Event{t.last, Output, string(text)})
		}
		at = to
	}
}

// advance moves to a time of the log.
func (t *timeline) advance(at time.Time) {
	if t.live != nil {
		return
	}
	if !t.hasBase {
		t.base, t.hasBase = at.Add(-t.last), true
		if t.last > 0 {
			t.base = t.base.Add(-guessedStep)
		}
	}
	t.last = max(t.last, at.Sub(t.base))
}

// resize adds an event if the size has changed.
func (t *timeline) resize(events []Event, s api.LogSize) []Event {
	if t.cols != 0 && (s.Cols != t.cols || s.Rows != t.rows) { // the header has the first size
		events = append(events, Event{t.last, Resize, fmt.Sprintf("%dx%d", s.Cols, s.Rows)})
	}
	t.cols, t.rows = s.Cols, s.Rows
	return events
}

// A markFilter removes the marks of Tandem's shell integration: OSC 133 and 633. They refer to
// their own session, contain its nonce, and would be taken for commands during playback.
type markFilter struct {
	held   []byte // the beginning of a possible mark
	inside bool   // within a mark
}

func (f *markFilter) strip(p []byte) []byte {
	out := make([]byte, 0, len(p)+len(f.held))
	for _, c := range p {
		if f.inside {
			switch {
			// A mark ends at BEL, at ST (ESC \), or when CAN or SUB aborts it.
			case c == 0x07, c == '\\' && len(f.held) > 0, c == 0x18, c == 0x1a:
				f.inside, f.held = false, nil
			case c == 0x1b:
				f.held = []byte{c}
			default:
				f.held = nil
			}
			continue
		}
		f.held = append(f.held, c)
		for len(f.held) > 0 && !isMarkPrefix(f.held) {
			out = append(out, f.held[0])
			f.held = f.held[1:]
		}
		if len(f.held) == len("\x1b]133;") {
			f.inside, f.held = true, nil
		}
	}
	return out
}

// isMarkPrefix reports whether p is the beginning of a mark.
func isMarkPrefix(p []byte) bool {
	return strings.HasPrefix("\x1b]133;", string(p)) || strings.HasPrefix("\x1b]633;", string(p))
}
