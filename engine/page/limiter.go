package page

import (
	"sync"
	"time"
)

const (
	// triesPerMinute is how many codes one address may try in a minute; on this machine, one user.
	triesPerMinute = 10
	// maxTriesPerMinute is how many all together may.
	maxTriesPerMinute = 200
)

// A limiter lets a number of things happen in a time, for each who does them and for all.
type limiter struct {
	each time.Duration
	most int // for one
	all  int

	mu    sync.Mutex
	taken []taking // oldest first
}

type taking struct {
	who string
	at  time.Time
}

func newLimiter(most, all int, each time.Duration) limiter {
	return limiter{most: most, all: all, each: each}
}

// take reports whether one more may happen now for who, and counts it.
func (l *limiter) take(who string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.taken) > 0 && now.Sub(l.taken[0].at) >= l.each {
		l.taken = l.taken[1:]
	}
	own := 0
	for _, t := range l.taken {
		if t.who == who {
			own++
		}
	}
	if own >= l.most || len(l.taken) >= l.all {
		return false
	}
	l.taken = append(l.taken, taking{who, now})
	return true
}

// giveBack makes the last one of who not count.
func (l *limiter) giveBack(who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.taken) - 1; i >= 0; i-- {
		if l.taken[i].who == who {
			l.taken = append(l.taken[:i:i], l.taken[i+1:]...)
			return
		}
	}
}
