package terminal

import (
	"cmp"
	"context"
	"slices"
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
func (s *Session) waiting() need {
	if s.options.Master == nil || s.isOver() || !s.childLives() {
		return needNothing
	}
	state := s.marks.state()
	if state.atPrompt() {
		return needPrompt
	}
	n, own := lookInto(s.options.Master, s.options.PID)
	switch {
	case own && state.taking(time.Now()):
		return needNothing
	case n == needInput && own && state.phase == shellReady:
		return needPrompt
	case n == needInput && own && state.phase == shellUnknown && s.options.Kind != shell.None:
		return needPrompt
	}
	return n
}

// LookAtNeed looks what the session waits for and notes it for its view.
func (s *Session) LookAtNeed() need {
	n := s.waiting()
	s.looked.Store(time.Now().UnixNano())
	s.mu.Lock()
	changed := s.known.Waiting != n
	s.known.Waiting = n
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
func (s *Session) awaitNeed(ctx context.Context, counts func(need) bool) (need, error) {
	tick := time.NewTicker(lookGap)
	defer tick.Stop()
	var last need
	at := int64(-1)
	for {
		now, end := s.LookAtNeed(), s.log.End()
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

// quietGap is how long nothing is printed before it is worth a look what a
// program waits for.
const quietGap = 200 * time.Millisecond

// lookWhenQuiet has somebody look once when the output pauses, so that a program
// which asks for something is seen to.
func (s *Session) lookWhenQuiet() {
	if s.options.Master != nil && s.quieting.CompareAndSwap(false, true) {
		time.AfterFunc(quietGap, s.lookIfQuiet)
	}
}

func (s *Session) lookIfQuiet() {
	left := quietGap - time.Since(time.Unix(0, s.used.output.Load()))
	switch {
	case s.ctx.Err() != nil || s.isOver():
	case left > 0:
		time.AfterFunc(left, s.lookIfQuiet)
		return
	default:
		s.LookAtNeed()
	}
	s.quieting.Store(false)
}

// answerMost is how long after an answer a program may still wait for it, as far
// as that can be seen.
const answerMost = 5 * time.Second

// lookWhenAnswered has somebody look, after something was typed, until the
// program waits no longer: an answer need not make it print anything.
func (s *Session) lookWhenAnswered() {
	s.mu.Lock()
	asked := s.known.Waiting
	s.mu.Unlock()
	if asked != needNothing && s.answering.CompareAndSwap(false, true) {
		time.AfterFunc(quietGap, func() { s.lookIfAnswered(asked) })
	}
}

// lookIfAnswered looks, and again after twice the time if nothing has changed.
func (s *Session) lookIfAnswered(asked need) {
	since := time.Since(time.Unix(0, s.used.input.Load()))
	again := max(quietGap-since, 0)
	switch {
	case s.ctx.Err() != nil || s.isOver():
	case again == 0 && (s.LookAtNeed() != asked || since > answerMost):
	default:
		time.AfterFunc(cmp.Or(again, since), func() { s.lookIfAnswered(asked) })
		return
	}
	s.answering.Store(false)
}

// lookBudget bounds the time that a listing spends on looks.
const lookBudget = 20 * time.Millisecond

// LookAtNeeds looks what sessions wait for that nobody has looked at for a while,
// those first that have waited longest for it.
func LookAtNeeds(ctx context.Context, all []*Session) {
	slices.SortFunc(all, func(a, b *Session) int { return cmp.Compare(a.looked.Load(), b.looked.Load()) })
	for begun, i := time.Now(), 0; i < len(all) && time.Since(begun) < lookBudget; i++ {
		s := all[i]
		if time.Since(time.Unix(0, s.looked.Load())) > needFresh && ctx.Err() == nil {
			s.LookAtNeed()
		}
	}
}
