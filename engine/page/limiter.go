package page

import (
	"sync"
	"time"
)

const (
	// triesPerMinute is the number of codes one address, or one user of this machine, may try per
	// minute.
	triesPerMinute = 10
	// maxTriesPerMinute is the number of codes that may be tried per minute by all clients together.
	maxTriesPerMinute = 200
)

// A limiter limits the rate of an action, per actor and in total.
type limiter struct {
	each  time.Duration
	limit int // per actor
	all   int

	mu      sync.Mutex
	actions []action // oldest first
}

type action struct {
	actor string
	at    time.Time
}

func newLimiter(limit, all int, each time.Duration) limiter {
	return limiter{limit: limit, all: all, each: each}
}

// allow counts an action of actor and reports whether it is allowed now.
func (l *limiter) allow(actor string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	// Drop expired actions, which are first.
	for len(l.actions) > 0 && now.Sub(l.actions[0].at) >= l.each {
		l.actions = l.actions[1:]
	}
	own := 0
	for _, t := range l.actions {
		if t.actor == actor {
			own++
		}
	}
	if own >= l.limit || len(l.actions) >= l.all {
		return false
	}
	l.actions = append(l.actions, action{actor, now})
	return true
}

// giveBack uncounts the latest action of actor.
func (l *limiter) giveBack(actor string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.actions) - 1; i >= 0; i-- {
		if l.actions[i].actor == actor {
			l.actions = append(l.actions[:i:i], l.actions[i+1:]...)
			return
		}
	}
}
