package prompt

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"
	"time"

	"tandem/engine/panics"
	"tandem/engine/pty"
)

// A Need is what the program in the foreground of a terminal waits for.
type Need string

const (
	NeedNothing Need = ""
	NeedInput   Need = "input"
	NeedSecret  Need = "secret" // input that is not echoed
	NeedPrompt  Need = "prompt" // the next command line
)

const (
	// needFresh is how long a look is good for a listing, and lookBudget how long a
	// listing looks at all.
	needFresh  = time.Second
	lookBudget = 20 * time.Millisecond
	// lookGap is the time between looks at a program's state, which nobody announces.
	lookGap = 50 * time.Millisecond
	// quietGap is how long nothing is printed before it is worth a look what a program
	// waits for.
	quietGap = 200 * time.Millisecond
	// aheadSettles is how long a shell takes at most from its prompt to what was typed
	// before that.
	aheadSettles = 100 * time.Millisecond
	// answerMost is how long after an answer a program may still wait for it, as far as
	// that can be seen.
	answerMost = 5 * time.Second
)

// Need is what it waits for, as it was seen last.
func (s *Shell) Need() Need {
	s.mu.Lock()
	need := s.need
	s.mu.Unlock()
	switch {
	case s.marks.state().atPrompt():
		return NeedPrompt
	case need == NeedPrompt:
		return NeedNothing
	}
	return need
}

// LookAtNeed looks what it waits for.
func (s *Shell) LookAtNeed() Need {
	n := s.waiting()
	s.looked.Store(time.Now().UnixNano())
	s.mu.Lock()
	changed := s.need != n
	s.need = n
	s.mu.Unlock()
	if changed {
		s.o.Changed()
	}
	return n
}

// waiting tells what it waits for, as far as that can be seen now.
func (s *Shell) waiting() Need {
	if s.o.Master == nil || s.isOver() || isClosed(s.o.Exited) {
		return NeedNothing
	}
	state := s.marks.state()
	if state.atPrompt() {
		return NeedPrompt
	}
	look := s.lookNow()
	soon, cancel := context.WithTimeout(context.Background(), lookBudget)
	defer cancel()
	if look.Own && look.Reads && s.noteLost(soon) {
		state = s.marks.state()
	}
	switch {
	case !look.Reads, look.Own && state.lineIsNew(time.Now()):
		return NeedNothing
	case look.Hidden:
		return NeedSecret
	case look.Own && state.phase == phaseReady && state.ahead:
		if time.Since(state.drawn) < aheadSettles {
			return NeedNothing
		}
		s.marks.noLineAhead()
		return NeedPrompt
	case look.Own && state.phase == phaseUnknown && state.notes > 0 && !s.atUnmarkedPrompt(soon, state):
		return NeedInput
	case look.Own && (state.phase == phaseReady || state.phase == phaseUnknown && s.o.Kind != None):
		return NeedPrompt
	}
	return NeedInput
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// awaitNeed waits until two looks in a row agree that it waits for something that
// counts.
func (s *Shell) awaitNeed(ctx context.Context, counts func(Need) bool) (Need, error) {
	tick := time.NewTicker(lookGap)
	defer tick.Stop()
	var last Need
	at := int64(-1)
	for {
		now, end := s.LookAtNeed(), s.t.Log().End()
		agreed := now == NeedPrompt && s.marks.state().atPrompt() || now == last && end == at
		if counts(now) && agreed && s.t.Shown() == end && !pty.HasOutput(s.o.Master) {
			return now, nil
		}
		last, at = now, end
		select {
		case <-tick.C:
		case <-s.o.Over:
			return NeedNothing, nil
		case <-ctx.Done():
			return NeedNothing, ctx.Err()
		}
	}
}

// AwaitPrompt waits until the shell is at its prompt.
func (s *Shell) AwaitPrompt(ctx context.Context) error {
	n, err := s.awaitNeed(ctx, func(n Need) bool { return n == NeedPrompt })
	if err == nil && n != NeedPrompt {
		err = context.Canceled // it has ended
	}
	return err
}

// lookWhenQuiet has somebody look once when the output pauses, so that a program
// which asks for something is seen to.
func (s *Shell) lookWhenQuiet() {
	if s.o.Master != nil && s.quieting.CompareAndSwap(false, true) {
		s.lookLater(quietGap, &s.quieting, s.lookIfQuiet)
	}
}

// lookLater calls look after a while. One that panics is over: due says so.
func (s *Shell) lookLater(wait time.Duration, due *atomic.Bool, look func()) {
	time.AfterFunc(wait, func() {
		if panics.Log(s.o.Log, "look at what a program waits for", look) {
			due.Store(false)
		}
	})
}

func (s *Shell) lookIfQuiet() {
	left := quietGap - time.Since(time.Unix(0, s.printed.Load()))
	switch {
	case isClosed(s.o.Closed) || s.isOver():
	case left > 0:
		s.lookLater(left, &s.quieting, s.lookIfQuiet)
		return
	default:
		s.LookAtNeed()
	}
	s.quieting.Store(false)
}

// lookWhenAnswered has somebody look, after something was typed, until the program
// waits no longer: an answer need not make it print anything.
func (s *Shell) lookWhenAnswered() {
	s.mu.Lock()
	asked := s.need
	s.mu.Unlock()
	if asked != NeedNothing && s.answering.CompareAndSwap(false, true) {
		s.lookLater(quietGap, &s.answering, func() { s.lookIfAnswered(asked) })
	}
}

// lookIfAnswered looks, and again after twice the time if nothing has changed.
func (s *Shell) lookIfAnswered(asked Need) {
	since := time.Since(time.Unix(0, s.typed.Load()))
	again := max(quietGap-since, 0)
	switch {
	case isClosed(s.o.Closed) || s.isOver():
	case again == 0 && (s.LookAtNeed() != asked || since > answerMost):
	default:
		s.lookLater(cmp.Or(again, since), &s.answering, func() { s.lookIfAnswered(asked) })
		return
	}
	s.answering.Store(false)
}

// LookAtNeeds looks what shells wait for that nobody has looked at for a while, those
// first that have waited longest for it. A listing need not be complete: it spends
// little time on that.
func LookAtNeeds(ctx context.Context, all []*Shell) {
	slices.SortFunc(all, func(a, b *Shell) int { return cmp.Compare(a.looked.Load(), b.looked.Load()) })
	for begun, i := time.Now(), 0; i < len(all) && time.Since(begun) < lookBudget; i++ {
		s := all[i]
		if time.Since(time.Unix(0, s.looked.Load())) > needFresh && ctx.Err() == nil {
			s.LookAtNeed()
		}
	}
}
