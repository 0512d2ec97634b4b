package attach

import (
	"cmp"
	"fmt"
	"sync/atomic"
	"time"

	"tandem/engine/api"
)

const (
	// markStep is how often a mark is sent while nothing is typed: it tells the
	// round trip, and that the machine answers.
	markStep = 3 * time.Second
	// silentAfter is how long an answer may take before the person is told.
	silentAfter = 3 * time.Second
)

// away is what the person is to know of another machine, while it lasts.
type away struct {
	machine string // "" for this one

	since atomic.Pointer[time.Time]     // it cannot be reached; nil if it can
	note  atomic.Pointer[func() string] // returns the note a key asked for; nil for none
	shown atomic.Int64                  // for how many seconds it has been shown
	quiet atomic.Int64                  // for how many seconds no mark was sent
}

// drawOver draws over the session, if anything ever is.
func (r *run) drawOver() {
	if r.over != nil {
		r.over.loop(r.ctx, r.second)
	}
}

// second is called once a second.
func (r *run) second() {
	if r.away.shown.Add(1) > int64(noteTime/time.Second) {
		r.away.note.Store(nil)
	}
	if time.Duration(r.away.quiet.Add(1))*time.Second >= markStep && r.away.since.Load() == nil { // nobody answers while it is away
		r.mark()
	}
	r.tell()
}

// setNote shows a note for noteTime. It is formatted anew at each redraw, so that a
// round trip measured meanwhile appears in it.
func (a *away) setNote(note func() string) {
	a.shown.Store(0)
	a.note.Store(&note)
}

// mark asks for an answer.
func (r *run) mark() {
	r.away.quiet.Store(0)
	n := r.over.way.add(nil)
	r.link.tell(api.Input{Mark: &n})
}

// tell shows the person what there is to know.
func (r *run) tell() {
	if r.over != nil {
		r.over.say(r.notice())
	}
}

func (r *run) notice() string {
	keys, since, open := r.over.way.open()
	name, leave := cmp.Or(r.away.machine, "the engine"), r.leaveKey()
	switch gone := r.away.since.Load(); {
	case gone != nil:
		return fmt.Sprintf(" %s is away%s; %s", name, waiting(keys), leave)
	case open && time.Since(since) > silentAfter:
		return fmt.Sprintf(" %s has not answered for %v%s; %s", name, time.Since(since).Truncate(time.Second), waiting(keys), leave)
	}
	if note := r.away.note.Load(); note != nil {
		return " " + (*note)()
	}
	return ""
}

func waiting(keys int) string {
	switch keys {
	case 0:
		return ""
	case 1:
		return ", 1 key waits"
	}
	return fmt.Sprintf(", %d keys wait", keys)
}

func shortly(rtt time.Duration) string {
	if rtt == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%.1fms", float64(rtt.Microseconds())/1000)
}

// back is called when the session can be reached, at first or again.
func (r *run) back() {
	if r.over == nil {
		return
	}
	r.away.since.Store(nil)
	r.mark() // its answer is one for all that went before
	r.tell()
}

// answered takes a mark that came back.
func (r *run) answered(m api.Mark) {
	if r.over != nil {
		r.over.answered(m)
		r.tell()
	}
}

// resized tells the size of the terminal, and what it is like, to whoever draws on it.
func (r *run) resized() {
	size := r.terminal.size()
	if r.over != nil {
		r.over.resize(size.Size)
	}
	r.link.resize(size.Size)
	r.tellDisplay()
}

// write writes a piece of the session's output.
func (r *run) write(p []byte) error {
	if r.over == nil {
		return r.terminal.write(p)
	}
	return r.over.show(p, r.filter.Within(), r.filter.Alt)
}

// retry is the time between two attempts to reach the session again.
func (r *run) retry() time.Duration {
	if r.away.machine != "" {
		return retryAway
	}
	return retry
}

// unsent is how many keys were typed in vain, as the machine was away.
func (r *run) unsent() int {
	if r.over == nil || r.away.since.Load() == nil {
		return 0
	}
	keys, _, _ := r.over.way.open()
	return keys
}
