package engine

import (
	"fmt"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/persist"
)

const (
	healthyRun   = 30 * time.Second // after it, earlier failures count no more
	firstDelay   = 2 * time.Second  // before the first restart that is not immediate
	longestDelay = time.Minute
	jitterShare  = 0.1 // of a delay, at most
)

// A life is one run of a process, as its restart policy sees it.
type life struct {
	exit   keeper.Exit
	lasted time.Duration
	fault  string // why it counts as failed, whatever its exit status; "" if it does not
}

// A verdict is what becomes of a process that has ended by itself.
type verdict struct {
	state    api.State     // starting, backoff, exited or failed
	delay    time.Duration // in backoff
	failures int           // delayed restarts since it last ran for long, the coming one included
	reason   string        // why it failed
}

// judge applies the restart policy of a record. The first restart after a
// healthy run is immediate; the delays before the following ones double.
// random is in [0, 1).
func judge(r persist.Record, l life, random float64) verdict {
	failures := r.Failures
	if l.lasted >= healthyRun {
		failures = 0
	}
	switch {
	case !wantsRestart(r.Restart, l) && l.fault != "":
		return verdict{state: api.StateFailed, reason: l.fault}
	case !wantsRestart(r.Restart, l):
		return verdict{state: api.StateExited}
	case l.lasted >= healthyRun:
		return verdict{state: api.StateStarting}
	case r.Restart.Max > 0 && failures >= r.Restart.Max:
		return verdict{state: api.StateFailed, failures: failures, reason: exhausted(r.Restart.Max, l)}
	}
	return verdict{
		state:    api.StateBackoff,
		delay:    delayOf(r.Restart, failures, random),
		failures: failures + 1,
		reason:   howEnded(l),
	}
}

func wantsRestart(r persist.Restart, l life) bool {
	switch api.Policy(r.Policy) {
	case api.PolicyAlways, api.PolicyUnlessStopped:
		return true
	case api.PolicyOnFailure:
		return l.fault != "" || !succeeded(r, l.exit)
	}
	return false
}

// succeeded reports whether an exit status is known to be a success.
func succeeded(r persist.Restart, e keeper.Exit) bool {
	return e.Code != nil && (*e.Code == 0 || slices.Contains(r.SuccessCodes, *e.Code))
}

// startsAtBoot reports whether a policy starts a process again that a reboot
// has ended.
func startsAtBoot(r persist.Restart) bool {
	p := api.Policy(r.Policy)
	return p == api.PolicyAlways || p == api.PolicyUnlessStopped
}

// delayOf is the time before the restart that follows a number of others. The
// jitter keeps what failed together from starting together; it lengthens a
// delay, but not the longest one.
func delayOf(r persist.Restart, failures int, random float64) time.Duration {
	d := firstDelay
	if r.DelayMS > 0 {
		d = time.Duration(r.DelayMS) * time.Millisecond
	}
	for range failures {
		if d = 2 * d; d >= longestDelay {
			break
		}
	}
	d = min(d, longestDelay)
	jitter := time.Duration(jitterShare * random * float64(d))
	if d+jitter > longestDelay {
		return d - jitter
	}
	return d + jitter
}

func exhausted(most int, l life) string {
	return fmt.Sprintf("%s; given up after %d restarts without a run of %v", howEnded(l), most, healthyRun)
}

// howEnded says in words how a run ended.
func howEnded(l life) string {
	switch {
	case l.fault != "":
		return l.fault
	case l.exit.Code != nil:
		return fmt.Sprintf("it exited with %d", *l.exit.Code)
	case l.exit.Signal != "":
		return "it was ended by " + l.exit.Signal
	}
	return "it ended and nobody saw how"
}
