package supervise

import (
	"slices"
	"time"
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
	// endedScreens is how many of these there are at most that nobody watches. The
	// logs hold them too, so what comes later than that is only slower.
	endedScreens = 32
)

// dropIdle closes the session of an ended process when nobody has used it for
// a while, or when many others were used since.
func (c *Control) dropIdle(p *proc) {
	c.dropScreens(p)
	if p.idle != nil {
		p.idle.Reset(endedIdle)
		return
	}
	p.idle = time.AfterFunc(endedIdle, func() {
		c.box.Post(func() {
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

// dropScreens notes that the session of an ended process is used, and closes
// those beyond endedScreens.
func (c *Control) dropScreens(used *proc) {
	c.screens = slices.DeleteFunc(c.screens, func(p *proc) bool {
		return p == used || p.live == nil || !p.state().Ended()
	})
	c.screens = append(c.screens, used)
	for _, p := range c.screens[:max(0, len(c.screens)-endedScreens)] {
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

// trimSoon trims once for all that ends at this moment.
func (c *Control) trimSoon() {
	if c.trimming {
		return
	}
	c.trimming = true
	c.box.Post(func() {
		c.trimming = false
		if !c.frozen {
			c.trimEnded()
		}
	})
}

// trimEnded removes the oldest ended sessions and transient processes, down to
// endedKept each. Others stay until somebody removes them.
func (c *Control) trimEnded() {
	c.trim(func(p *proc) bool { return p.rec.Transient })
	c.trim(func(p *proc) bool { return p.rec.TTY && !p.rec.Transient })
}

func (c *Control) trim(kind func(*proc) bool) {
	var ended []*proc
	for _, p := range c.procs {
		if kind(p) && p.state().Ended() {
			ended = append(ended, p)
		}
	}
	if len(ended) <= endedKept+endedSpare {
		return
	}
	slices.SortFunc(ended, byAge)
	for _, p := range ended[:len(ended)-endedKept] {
		c.handle(p.rec.ID, event{kind: evRemove})
	}
}
