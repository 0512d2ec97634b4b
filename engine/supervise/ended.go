package supervise

import (
	"slices"
	"time"

	"tandem/engine/invariants"
)

const (
	// endedKept is how many ended records are kept; older ones are removed.
	endedKept = 200
	// endedSpare is how many more there may be, so that they are not removed one
	// by one, each in the way of the next command.
	endedSpare = 20
)

const (
	// endedIdle is how long the screen of an ended process stays in memory.
	endedIdle = time.Minute
	// endedScreens is how many of them are kept at most if nobody watches them. The
	// logs hold them too, so a screen that is gone only takes longer to show.
	endedScreens = 32
)

// screens are the sessions of ended processes that are still in memory. The control
// goroutine owns them.
type screens struct {
	post func(func()) // runs something on the control goroutine
	open []*proc      // as long unused as it goes first
}

// use keeps the session of an ended process until nobody has used it for a while,
// or many others were used since.
func (s *screens) use(p *proc) {
	s.closeOthers(p)
	if p.idle != nil {
		p.idle.Reset(endedIdle)
		return
	}
	p.idle = time.AfterFunc(endedIdle, func() {
		s.post(func() {
			switch {
			case p.live == nil || !p.state().Ended():
			case p.live.Facts().Viewers > 0:
				p.idle.Reset(endedIdle)
			default:
				p.close()
			}
		})
	})
}

// closeOthers notes that the session of an ended process is used, and closes
// those beyond endedScreens.
func (s *screens) closeOthers(used *proc) {
	s.open = slices.DeleteFunc(s.open, func(p *proc) bool {
		return p == used || p.live == nil || !p.state().Ended()
	})
	s.open = append(s.open, used)
	kept := endedScreens
	if invariants.Sometimes("few screens of ended sessions", 4) {
		kept = 1
	}
	for _, p := range s.open[:max(0, len(s.open)-kept)] {
		if p.live.Facts().Viewers == 0 {
			p.close()
		}
	}
}

// close closes the session and keeps what it showed.
func (p *proc) close() {
	if p.idle != nil {
		p.idle.Stop()
	}
	if p.live != nil {
		p.last = p.live.Facts()
		p.live.Close()
		p.live = nil
	}
	p.share()
}

// trimSoon trims once for everything that ends at this moment.
func trimSoon(c *Control) {
	if c.trimming {
		return
	}
	c.trimming = true
	c.box.Post(func() {
		c.trimming = false
		if !c.frozen {
			trimEnded(c)
		}
	})
}

// trimEnded removes the oldest ended sessions and transient processes, down to
// endedKept each. Others stay until somebody removes them.
func trimEnded(c *Control) {
	trim(c, func(p *proc) bool { return p.rec.Transient })
	trim(c, func(p *proc) bool { return p.rec.TTY && !p.rec.Transient })
}

func trim(c *Control, kind func(*proc) bool) {
	ended := c.procs.oldestFirst(func(p *proc) bool { return kind(p) && p.state().Ended() })
	if len(ended) <= endedKept+endedSpare {
		return
	}
	for _, p := range ended[:len(ended)-endedKept] {
		c.handle(p.rec.ID, event{kind: evRemove})
	}
}
