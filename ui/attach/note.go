package attach

import (
	"fmt"
	"sync"
	"time"
)

// noteTime is how long a note stays in the last row unless a key ends it. Reports of the
// terminal and focus changes do not end it.
const noteTime = 4 * time.Second

// A note is a line for the user in the terminal's last row. While it is shown, the
// session's output is held; then its screen is fetched again. A run with an overlay draws
// the note there instead, and holds no output.
type note struct {
	run *run

	mu   sync.Mutex
	stop chan struct{} // capacity 1; ends the current note
	done chan struct{} // closed when the terminal is free again; nil before the first note
}

// showText shows the result of text, unless a note is shown already.
func (n *note) showText(text func() string) {
	r := n.run
	if r.overlay != nil {
		r.remote.setNote(text)
		r.updateNotice()
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.isShown() {
		return
	}
	// The goroutine below unlocks writing: all output waits for the end of the note.
	r.terminal.writing.Lock()
	r.link.awaitTerminal()
	shown := text()
	_, _ = fmt.Fprintln(r.Notices, shown)
	r.terminal.drawNote(" " + shown)
	n.stop = make(chan struct{}, 1)
	n.done = r.spawnGuarded(func() {
		defer r.terminal.writing.Unlock()
		select {
		case <-time.After(noteTime):
		case <-n.stop:
		case <-r.ctx.Done():
			return
		}
		r.link.forceReattach()
	})
}

// isShown reports whether a note is shown. n is locked.
func (n *note) isShown() bool {
	if n.done == nil {
		return false
	}
	select {
	case <-n.done:
		return false
	default:
		return true
	}
}

// endNote removes the note and lets output through again.
func (n *note) endNote() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.isShown() {
		select {
		case n.stop <- struct{}{}:
		default:
		}
		<-n.done
	}
}
