package attach

import "time"

// noteTime is how long a note stays in the last row, unless a key ends it.
const noteTime = 4 * time.Second

// A note is a line for the user in the terminal's last row. The session's output
// waits meanwhile, and its screen is fetched again afterwards. Where an overlay is
// drawn anyway, it shows the note, and nothing waits.
type note struct {
	run   *run
	stop  chan struct{} // of 1: ends the note that is shown
	ended chan struct{} // closed when the terminal is free again; nil before the first note
}

// show shows text, unless a note is shown already.
func (n *note) show(text string) {
	r := n.run
	if r.over != nil {
		r.away.said(text)
		r.tell()
		return
	}
	if n.shown() {
		return
	}
	r.terminal.writing.Lock()
	r.link.takeBack()
	r.terminal.drawNote(" " + text)
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

// end lets the session's output through again.
func (n *note) end() {
	if n.shown() {
		select {
		case n.stop <- struct{}{}:
		default:
		}
		<-n.ended
	}
}
