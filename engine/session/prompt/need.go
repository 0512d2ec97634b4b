package prompt

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tandem/engine/base/panics"
)

// A Need is what the foreground program of a terminal waits for.
type Need string

const (
	NeedNothing Need = ""
	NeedInput   Need = "input"
	NeedSecret  Need = "secret" // input that is not echoed
	NeedPrompt  Need = "prompt" // the next command line
)

const (
	// A listing uses the last poll of a shell if it is not older than needFresh, and spends at most
	// pollBudget on polls.
	needFresh  = time.Second
	pollBudget = 20 * time.Millisecond
	// pollGap is the time between two polls of a program's state. Polling is necessary because no
	// event reports a change.
	pollGap = 50 * time.Millisecond
	// quietGap is how long there must be no output before the program is polled for what it needs.
	quietGap = 200 * time.Millisecond
	// typeAheadGrace is how long a shell may take, after its prompt, to read lines that were typed
	// before the prompt.
	typeAheadGrace = 100 * time.Millisecond
	// maxAnswerWait is how long after input a program may still seem to wait for it.
	maxAnswerWait = 5 * time.Second
)

// Need returns what the shell waited for at the last poll.
func (s *Shell) Need() Need {
	need, _ := s.polled.get()
	// Marks are more recent than the last poll.
	switch state := s.marks.snapshot(); {
	case state.atPrompt():
		return NeedPrompt
	case need == NeedPrompt && state.phase != phaseUnknown:
		return NeedNothing
	}
	return need
}

// UpdateNeed polls what the shell waits for, and stores the result. If the result has changed, it
// calls Changed.
func (s *Shell) UpdateNeed() Need {
	n, front := s.inspectNeed(), ""
	if state := s.marks.snapshot(); s.programs != nil && !state.atPrompt() && (state.phase != phaseRunning || state.line == "") {
		front = frontLine(s.programs, s.o.PID, state.phase == phaseRunning)
	}
	s.polled.store(n, front, s.o.Changed)
	return n
}

// A poll is what the last poll has found out about the program in the foreground.
type poll struct {
	at atomic.Int64 // time in nanoseconds since 1970

	mu    sync.Mutex
	need  Need
	front string // the program in front of the shell; "" for none, and with marks
}

func (p *poll) get() (need Need, front string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.need, p.front
}

// store stores the result of a poll, and calls changed if the result has changed.
func (p *poll) store(need Need, front string, changed func()) {
	p.at.Store(time.Now().UnixNano())
	p.mu.Lock()
	differs := p.need != need || p.front != front
	p.need, p.front = need, front
	p.mu.Unlock()
	if differs {
		changed()
	}
}

// storeNeed stores a need found in between.
func (p *poll) storeNeed(need Need, changed func()) Need {
	_, front := p.get()
	p.store(need, front, changed)
	return need
}

// inspectNeed returns what the shell waits for now.
func (s *Shell) inspectNeed() Need {
	if s.programs == nil || s.isOver() || isClosed(s.o.Exited) {
		return NeedNothing
	}
	state := s.marks.snapshot()
	if state.atPrompt() {
		return NeedPrompt
	}
	look := s.inspectReaderNow()
	soon, cancel := context.WithTimeout(context.Background(), pollBudget)
	defer cancel()
	if look.Own && look.Reads && s.noteLost(soon) {
		state = s.marks.snapshot()
	}
	switch {
	case !look.Reads, look.Own && state.isLineNew(time.Now()):
		return NeedNothing
	case look.Hidden:
		return NeedSecret
	case look.Own && state.phase == phaseReady && state.ahead:
		if time.Since(state.drawn) < typeAheadGrace {
			return NeedNothing
		}
		s.marks.clearAhead()
		return NeedPrompt
	case look.Own && s.asksAfterLine(state):
		return NeedInput
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

// awaitNeed waits until two polls in a row find the same need, and accept returns true for it. If
// the session exits first, it returns NeedNothing.
func (s *Shell) awaitNeed(ctx context.Context, accept func(Need) bool) (Need, error) {
	tick := time.NewTicker(pollGap)
	defer tick.Stop()
	var last Need
	at := int64(-1)
	for {
		now, end := s.UpdateNeed(), s.t.Log().End()
		agreed := now == NeedPrompt && s.marks.snapshot().atPrompt() || now == last && end == at
		// Unread output may contain a mark or a question.
		if accept(now) && agreed && s.t.Shown() == end && !s.programs.hasOutput() {
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

// AwaitPrompt waits until a new shell is at its prompt. A question asked by its startup files does
// not count: a shell that marks its prompts must have marked one, and any other shell must show
// one.
func (s *Shell) AwaitPrompt(ctx context.Context) error {
	n, err := s.awaitNeed(ctx, func(n Need) bool {
		state := s.marks.snapshot()
		if n != NeedPrompt || s.o.Nonce != "" || !s.atUnmarkedPrompt(ctx, state) {
			return n == NeedPrompt && state.atPrompt()
		}
		row, err := s.cursorRow(ctx) // read -t waits like a line editor
		return err == nil && endsLikePrompt(row)
	})
	if err == nil && n != NeedPrompt {
		err = context.Canceled // the shell exited
	}
	return err
}

// pollWhenQuiet schedules one poll for the next pause in the output, to detect a program that asks
// for input.
func (s *Shell) pollWhenQuiet() {
	if s.programs != nil && s.quietPollDue.CompareAndSwap(false, true) {
		s.pollLater(quietGap, &s.quietPollDue, s.pollIfQuiet)
	}
}

// pollLater calls poll after a delay. If poll panics, pollLater resets due.
func (s *Shell) pollLater(wait time.Duration, due *atomic.Bool, poll func()) {
	time.AfterFunc(wait, func() {
		if panics.Log(s.o.Log, "find out what a program waits for", poll) {
			due.Store(false)
		}
	})
}

func (s *Shell) pollIfQuiet() {
	left := quietGap - time.Since(time.Unix(0, s.printed.Load()))
	switch {
	case isClosed(s.o.Closed) || s.isOver():
	case left > 0:
		s.pollLater(left, &s.quietPollDue, s.pollIfQuiet)
		return
	default:
		s.UpdateNeed()
	}
	s.quietPollDue.Store(false)
}

// pollAfterInput polls after input until the program no longer waits. A program need not print
// anything when it gets its answer, so there may be no other occasion.
func (s *Shell) pollAfterInput() {
	asked, _ := s.polled.get()
	if asked != NeedNothing && s.answerPollDue.CompareAndSwap(false, true) {
		s.pollLater(quietGap, &s.answerPollDue, func() { s.pollUntilAnswered(asked) })
	}
}

// pollUntilAnswered polls, and repeats that with twice the delay while the need is still the one
// asked for.
func (s *Shell) pollUntilAnswered(asked Need) {
	since := time.Since(time.Unix(0, s.typed.Load()))
	again := max(quietGap-since, 0)
	switch {
	case isClosed(s.o.Closed) || s.isOver():
	case again == 0 && (s.UpdateNeed() != asked || since > maxAnswerWait):
	default:
		s.pollLater(cmp.Or(again, since), &s.answerPollDue, func() { s.pollUntilAnswered(asked) })
		return
	}
	s.answerPollDue.Store(false)
}

// UpdateNeeds polls the shells that have not been polled lately, starting with the least recent
// poll. It stops after pollBudget: a listing need not be complete.
func UpdateNeeds(ctx context.Context, all []*Shell) {
	slices.SortFunc(all, func(a, b *Shell) int { return cmp.Compare(a.polled.at.Load(), b.polled.at.Load()) })
	for begun, i := time.Now(), 0; i < len(all) && time.Since(begun) < pollBudget; i++ {
		s := all[i]
		if time.Since(time.Unix(0, s.polled.at.Load())) > needFresh && ctx.Err() == nil {
			s.UpdateNeed()
		}
	}
}
