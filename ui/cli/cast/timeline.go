package cast

import (
	"fmt"
	"strings"
	"time"

	"tandem/engine/api"
)

const (
	// guessedStep is the time between pieces of output whose times nobody knows,
	// and guessedPiece how much a piece has.
	guessedStep  = 20 * time.Millisecond
	guessedPiece = 1 << 10
)

// A timeline makes events of what the engine tells of a session.
type timeline struct {
	live func() time.Duration // what comes is printed now; nil: when the log says

	base    time.Time // what the log's times count from
	based   bool
	last    time.Duration
	cols    int
	rows    int
	guessed int64 // bytes whose times are not known
	marks   markFilter
}

// events are those of an answer of session.record, in order.
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
			t.tick(times[0].At)
			times = times[1:]
		}
		to := end
		if len(sizes) > 0 {
			to = min(to, sizes[0].Offset)
		}
		if len(times) > 0 && t.live == nil {
			to = min(to, times[0].Offset)
		}
		if t.live == nil && !t.based {
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

// tick goes on to a time of the log.
func (t *timeline) tick(at time.Time) {
	if t.live != nil {
		return
	}
	if !t.based {
		t.base, t.based = at.Add(-t.last), true
		if t.last > 0 {
			t.base = t.base.Add(-guessedStep)
		}
	}
	t.last = max(t.last, at.Sub(t.base))
}

// resize tells a size that is another than before.
func (t *timeline) resize(events []Event, s api.LogSize) []Event {
	known := t.cols != 0
	if s.Cols == t.cols && s.Rows == t.rows {
		return events
	}
	t.cols, t.rows = s.Cols, s.Rows
	if !known { // the header has it
		return events
	}
	return append(events, Event{t.last, Resize, fmt.Sprintf("%dx%d", s.Cols, s.Rows)})
}

// A markFilter takes out the marks that a shell makes for Tandem: OSC 133 and
// 633. They mean the session that they were made in, hold a word that is its
// own, and would be taken for commands where they are played.
type markFilter struct {
	held   []byte // the beginning of what may be a mark
	inside bool   // a mark has begun and not ended
}

func (f *markFilter) strip(p []byte) []byte {
	out := make([]byte, 0, len(p)+len(f.held))
	for _, c := range p {
		if f.inside {
			switch {
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
		for len(f.held) > 0 && !beginsMark(f.held) {
			out = append(out, f.held[0])
			f.held = f.held[1:]
		}
		if len(f.held) == len("\x1b]133;") {
			f.inside, f.held = true, nil
		}
	}
	return out
}

// beginsMark reports whether a mark may begin so.
func beginsMark(p []byte) bool {
	return strings.HasPrefix("\x1b]133;", string(p)) || strings.HasPrefix("\x1b]633;", string(p))
}
