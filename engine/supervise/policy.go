package supervise

import (
	"fmt"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/engine/names"
	"tandem/persist/store"
)

const (
	// What is kept alive: after a healthy run earlier failures count no more, and
	// the first restart is immediate; firstDelay is the delay before the next.
	healthyRun = 30 * time.Second
	firstDelay = 2 * time.Second

	// The same of what has a restart policy of its own, where no restart is
	// immediate.
	healthyPolicy = 10 * time.Second
	firstPolicy   = 100 * time.Millisecond

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

// judge applies the restart policy of a record. Each delay is twice the one
// before, until a healthy run begins that anew. random is in [0, 1).
func judge(r store.Record, l life, random float64) verdict {
	failures, healthy := r.Failures, l.lasted >= healthyAfter(r.Restart)
	if healthy {
		failures = 0
	}
	switch {
	case !wantsRestart(r.Restart, l) && l.fault != "":
		return verdict{state: api.StateFailed, reason: l.fault}
	case !wantsRestart(r.Restart, l):
		return verdict{state: api.StateExited}
	case healthy && !r.Restart.Prompt:
		return verdict{state: api.StateStarting}
	case r.Restart.Max > 0 && failures >= r.Restart.Max:
		return verdict{state: api.StateFailed, failures: failures, reason: exhausted(r.Restart, l)}
	}
	return verdict{
		state:    api.StateBackoff,
		delay:    delayOf(r.Restart, failures, random),
		failures: failures + 1,
		reason:   howEnded(l),
	}
}

// healthyAfter is how long a run lasts that counts as healthy.
func healthyAfter(r store.Restart) time.Duration {
	if r.Prompt {
		return healthyPolicy
	}
	return healthyRun
}

func wantsRestart(r store.Restart, l life) bool {
	switch api.Policy(r.Policy) {
	case api.PolicyAlways, api.PolicyUnlessStopped:
		return true
	case api.PolicyOnFailure:
		return l.fault != "" || !succeeded(r, l.exit)
	}
	return false
}

// succeeded reports whether an exit status is known to be a success.
func succeeded(r store.Restart, e keeper.Exit) bool {
	return e.Code != nil && (*e.Code == 0 || slices.Contains(r.SuccessCodes, *e.Code))
}

// StartsAtBoot reports whether a policy starts a process again that a reboot
// has ended.
func StartsAtBoot(r store.Restart) bool {
	p := api.Policy(r.Policy)
	return p == api.PolicyAlways || p == api.PolicyUnlessStopped
}

// delayOf is the time before the restart that follows a number of others. The
// jitter keeps what failed together from starting together; it lengthens a
// delay, but not the longest one.
func delayOf(r store.Restart, failures int, random float64) time.Duration {
	d := firstDelay
	switch {
	case r.DelayMS > 0:
		d = time.Duration(r.DelayMS) * time.Millisecond
	case r.Prompt:
		d = firstPolicy
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

func exhausted(r store.Restart, l life) string {
	if r.Max == 1 {
		return fmt.Sprintf("%s; gave up after 1 restart (it did not last %v)", howEnded(l), healthyAfter(r))
	}
	return fmt.Sprintf("%s; gave up after %d restarts (none lasted %v)", howEnded(l), r.Max, healthyAfter(r))
}

// howEnded says in words how a run ended.
func howEnded(l life) string {
	switch {
	case l.fault != "":
		return l.fault
	case l.exit.Code != nil:
		return fmt.Sprintf("exited with %d", *l.exit.Code)
	case l.exit.Signal != "":
		return "killed by " + l.exit.Signal
	}
	return "exited, exit status unknown"
}

// RestartOf checks a restart policy and brings it into the form of a record.
func RestartOf(keepAlive bool, in *api.Restart) (store.Restart, error) {
	r := store.Restart{}
	if in != nil {
		r = store.Restart{Policy: string(in.Policy), Max: in.Max, DelayMS: in.DelayMS, SuccessCodes: in.SuccessCodes, Prompt: !keepAlive}
	}
	if keepAlive {
		if r.Policy != "" && r.Policy != string(api.PolicyAlways) {
			return r, api.Errorf(api.CodeInvalid, "restart policy %s: keep_alive is short for always", names.Shown(r.Policy)).
				WithHint("give one of both")
		}
		r.Policy = string(api.PolicyAlways)
	}
	switch api.Policy(r.Policy) {
	case "", api.PolicyNo, api.PolicyOnFailure, api.PolicyAlways, api.PolicyUnlessStopped:
	default:
		return r, api.Errorf(api.CodeInvalid, "restart policy %s: not a policy", names.Shown(r.Policy)).
			WithHint("it is no, on-failure, always or unless-stopped")
	}
	if r.Max < 0 || r.DelayMS < 0 {
		return r, api.Errorf(api.CodeInvalid, "restart policy: max and delay_ms cannot be negative")
	}
	return r, nil
}
