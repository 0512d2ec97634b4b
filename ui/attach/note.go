package attach

import (
	"sync"
	"time"
)

// noteTime is how long a note stays in the last row if no key ends it. Answers of the terminal
// and changes of focus do not.
const noteTime = 4 * time.Second

// A note is a line for the user in the terminal's last row. While it is shown the
// session's output waits; then its screen is fetched again. A run with an overlay
// draws the note there, and no output waits.
type note struct {
	run *run

	mu    sync.Mutex
	stop  chan struct{} // of 1: ends the note that is shown
	ended chan struct{} // closed when the terminal is free again; nil before the first note
}

// show shows what text returns, unless a note is already shown.
func (n *note) show(text func() string) {
	r := n.run
	if r.over != nil {
		r.away.setNote(text)
		r.tell()
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.shown() {
		return
	}
	r.terminal.writing.Lock()
	r.link.takeBack()
	r.terminal.drawNote(" " + text())
	n.stop = make(chan struct{}, 1)
	n.ended = r.spawn(func() {
		defer r.terminal.writing.Unlock()
		select {
		case <-time.After(noteTime):
		case <-n.stop:
		case <-r.ctx.Done():
			return
		}
		r.link.refresh()
	})
}

// shown reports whether a note is shown. n is locked.
func (n *note) shown() bool {
	if n.ended == nil {
		return false
	}
	select {
	case <-n.ended:
		return false
	default:
		return true
	}
}

// end removes the note and lets the session's output through again.
func (n *note) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.shown() {
		select {
		case n.stop <- struct{}{}:
		default:
		}
		<-n.ended
	}
}
