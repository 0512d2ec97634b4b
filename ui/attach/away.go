package attach

import (
	"cmp"
	"fmt"
	"sync/atomic"
	"time"

	"tandem/engine/api"
)

const (
	// markInterval is how often a mark is sent while nothing is typed. It measures the
	// round trip, and shows that the machine still answers.
	markInterval = 3 * time.Second
	// silentAfter is how long an answer may take before the user is told.
	silentAfter = 3 * time.Second
)

// remoteState is the state of the connection to another machine, as shown to the user.
type remoteState struct {
	machine string // "" for this one

	offlineSince atomic.Pointer[time.Time]     // when it went offline; nil while reachable
	note         atomic.Pointer[func() string] // returns the note to show; nil for none
	noteSeconds  atomic.Int64                  // seconds since the note appeared
	idleSeconds  atomic.Int64                  // seconds since the last mark
}

// runOverlay draws predictions and notes, if the run has an overlay.
func (r *run) runOverlay() {
	if r.overlay != nil {
		r.overlay.drawLoop(r.ctx, r.tickSecond)
	}
}

// tickSecond runs once a second.
func (r *run) tickSecond() {
	if r.remote.noteSeconds.Add(1) > int64(noteTime/time.Second) {
		r.remote.note.Store(nil)
	}
	// An offline machine would not answer.
	if time.Duration(r.remote.idleSeconds.Add(1))*time.Second >= markInterval && r.remote.offlineSince.Load() == nil {
		r.sendMark()
	}
	r.updateNotice()
}

// setNote shows a note for noteTime. The note is formatted at each redraw, so that it includes a
// newly measured round trip.
func (a *remoteState) setNote(note func() string) {
	a.noteSeconds.Store(0)
	a.note.Store(&note)
}

// sendMark sends a mark for the engine to answer.
func (r *run) sendMark() {
	r.remote.idleSeconds.Store(0)
	n := r.overlay.pending.record(nil)
	r.link.sendNow(api.Input{Mark: &n})
}

// updateNotice shows the current notice, if there is one.
func (r *run) updateNotice() {
	if r.overlay == nil {
		return
	}
	if note := r.noticeText(); r.overlay.setNote(note) && note != "" {
		_, _ = fmt.Fprintln(r.Notices, note)
	}
}

func (r *run) noticeText() string {
	keys, since, open := r.overlay.pending.unanswered()
	name, leave := cmp.Or(r.remote.machine, "the engine"), r.leaveHint()
	switch gone := r.remote.offlineSince.Load(); {
	case gone != nil:
		return fmt.Sprintf(" %s is offline%s; %s", name, describeWaiting(keys), leave)
	case open && time.Since(since) > silentAfter:
		return fmt.Sprintf(" %s has not answered for %v%s; %s", name, time.Since(since).Truncate(time.Second), describeWaiting(keys), leave)
	}
	if note := r.remote.note.Load(); note != nil {
		return " " + (*note)()
	}
	return ""
}

func describeWaiting(keys int) string {
	switch keys {
	case 0:
		return ""
	case 1:
		return ", 1 key waits"
	}
	return fmt.Sprintf(", %d keys wait", keys)
}

func formatRTT(rtt time.Duration) string {
	if rtt == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%.1fms", float64(rtt.Microseconds())/1000)
}

// noteReachable records that the session is reachable, at first or again.
func (r *run) noteReachable() {
	if r.overlay == nil {
		return
	}
	r.remote.offlineSince.Store(nil)
	// Its answer acknowledges all earlier input, too.
	r.sendMark()
	r.updateNotice()
}

// handleMark handles a mark returned by the engine.
func (r *run) handleMark(m api.Mark) {
	if r.overlay != nil {
		r.overlay.handleMark(m)
		r.updateNotice()
	}
}

// sendSize passes the terminal's size and properties to the overlay and the session.
func (r *run) sendSize() {
	size := r.terminal.currentSize()
	if r.overlay != nil {
		r.overlay.setSize(size.Size)
	}
	r.link.sendSize(size.Size)
	r.sendDisplay()
}

// writeOutput writes a piece of the session's output.
func (r *run) writeOutput(p []byte) error {
	if r.overlay == nil {
		return r.terminal.writeAll(p)
	}
	return r.overlay.showOutput(p, r.filter.Within(), r.filter.Alt)
}

// retryDelay returns the time between two attempts to reach the session.
func (r *run) retryDelay() time.Duration {
	if r.remote.machine != "" {
		return retryOffline
	}
	return retryInterval
}

// countUnsent returns how many typed keys were lost because the machine is offline.
func (r *run) countUnsent() int {
	if r.overlay == nil || r.remote.offlineSince.Load() == nil {
		return 0
	}
	keys, _, _ := r.overlay.pending.unanswered()
	return keys
}
