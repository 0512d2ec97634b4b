package logs

import (
	"errors"
	"time"
)

// pollOnly is a growth without watches.
type pollOnly struct{ woken chan struct{} }

func newPollOnly() growth { return pollOnly{make(chan struct{}, 1)} }

func (pollOnly) add(string) (int, error) { return 0, errors.ErrUnsupported }
func (pollOnly) remove(int)              {}
func (w pollOnly) wake()                 { notify(w.woken) }
func (pollOnly) close()                  {}

func (w pollOnly) wait(until time.Time) (ids, gone []int, all bool) {
	var due <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-due:
	case <-w.woken:
	}
	return nil, nil, false
}
