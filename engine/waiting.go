package engine

import (
	"context"
	"time"

	"tandem/engine/shell"
)

// A need is what the program in the foreground of a terminal waits for.
type need string

const (
	needNothing need = ""
	needInput   need = "input"
	needSecret  need = "secret"
	needPrompt  need = "prompt"
)

// waiting tells what the session waits for, as far as that can be seen now.
func (s *session) waiting() need {
	if s.o.master == nil || s.isOver() || !s.childLives() {
		return needNothing
	}
	state := s.marks.state()
	if state.atPrompt() {
		return needPrompt
	}
	n, own := lookInto(s.o.master, s.o.pid)
	switch {
	case n == needInput && own && state.phase == shellReady:
		return needPrompt
	case n == needInput && own && state.phase == shellUnknown && s.o.kind != shell.None:
		return needPrompt
	}
	return n
}

// lookAtNeed looks what the session waits for and notes it for its view.
func (s *session) lookAtNeed() need {
	n := s.waiting()
	s.looked.Store(time.Now().UnixNano())
	s.mu.Lock()
	changed := s.known.waiting != n
	s.known.waiting = n
	s.mu.Unlock()
	if changed {
		s.pace.touch()
	}
	return n
}

// needFresh is how long a look is good for a listing.
const needFresh = time.Second

// lookGap is the time between looks at a program's state, which nobody
// announces.
const lookGap = 50 * time.Millisecond

// awaitNeed waits until two looks in a row agree that the session waits for
// something that counts.
func (s *session) awaitNeed(ctx context.Context, counts func(need) bool) (need, error) {
	tick := time.NewTicker(lookGap)
	defer tick.Stop()
	var last need
	at := int64(-1)
	for {
		now, end := s.lookAtNeed(), s.log.End()
		if counts(now) && (now == needPrompt && s.marks.state().atPrompt() || now == last && end == at) && s.parsed.Load() == end {
			return now, nil
		}
		last, at = now, end
		select {
		case <-tick.C:
		case <-s.over:
			return needNothing, nil
		case <-ctx.Done():
			return needNothing, ctx.Err()
		}
	}
}

// lookAtNeeds looks what the sessions wait for that have changed since anybody
// looked.
func (h *host) lookAtNeeds(ctx context.Context) {
	all, err := ask(ctx, h.control, func() (all []*session) {
		for _, p := range h.control.procs {
			if s, ok := p.live.(*session); ok && !p.state().Ended() {
				all = append(all, s)
			}
		}
		return all
	})
	if err != nil {
		return
	}
	for _, s := range all {
		if time.Since(time.Unix(0, s.looked.Load())) > needFresh && ctx.Err() == nil {
			s.lookAtNeed()
		}
	}
}
