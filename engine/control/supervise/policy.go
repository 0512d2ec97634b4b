package supervise

import (
	"fmt"
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
)

const (
	// A run of at least healthyRun clears earlier failures. After it, a process that is kept alive
	// restarts at once. firstDelay is the delay after the first shorter run. Both apply to
	// processes without their own restart policy.
	healthyRun = 30 * time.Second
	firstDelay = 2 * time.Second

	// These apply to processes with their own restart policy. Every restart of them is delayed.
	healthyPolicyRun = 10 * time.Second
	firstPolicyDelay = 100 * time.Millisecond

	maxDelay    = time.Minute // of delays that grow
	jitterShare = 0.1         // of a delay, at most
)

// A runResult is what the restart policy needs to know about a run.
type runResult struct {
	exit   keeper.Exit
	lasted time.Duration
	fault  string // why it counts as failed, whatever the exit status; "" if it does not
}

// A verdict says what happens to a process that has exited by itself.
type verdict struct {
	state    api.State     // starting, backoff, exited or failed
	delay    time.Duration // in StateBackoff
	failures int           // delayed restarts since the last healthy run, including the next one
	reason   string        // why it failed
}

// applyPolicy applies the restart policy of a record after a run. Each delay is twice the previous
// one, until a healthy run resets it. random, in [0, 1), determines the jitter.
func applyPolicy(r store.Record, l runResult, random float64) verdict {
	failures, healthy := r.Failures, l.lasted >= healthyAfter(r.Restart)
	if healthy {
		failures = 0
	}
	switch {
	case !wantsRestart(r.Restart, l) && l.fault != "":
		return verdict{state: api.StateFailed, reason: l.fault}
	case !wantsRestart(r.Restart, l):
		return verdict{state: api.StateExited}
	case healthy && !r.Restart.ShortDelays:
		return verdict{state: api.StateStarting}
	case r.Restart.Max > 0 && failures >= r.Restart.Max:
		return verdict{state: api.StateFailed, failures: failures, reason: giveUpReason(r.Restart, l)}
	}
	return verdict{
		state:    api.StateBackoff,
		delay:    restartDelay(r.Restart, failures, random),
		failures: failures + 1,
		reason:   exitReason(l),
	}
}

// healthyAfter returns the minimum duration of a healthy run.
func healthyAfter(r store.Restart) time.Duration {
	if r.ShortDelays {
		return healthyPolicyRun
	}
	return healthyRun
}

func wantsRestart(r store.Restart, l runResult) bool {
	switch api.Policy(r.Policy) {
	case api.PolicyAlways:
		return true
	case api.PolicyOnFailure:
		return l.fault != "" || !isSuccess(r, l.exit)
	}
	return false
}

// isSuccess reports whether an exit status is known to mean success.
func isSuccess(r store.Restart, e keeper.Exit) bool {
	return e.Code != nil && (*e.Code == 0 || slices.Contains(r.SuccessCodes, *e.Code))
}

// StartsAtBoot reports whether a restart policy starts the process again after a reboot.
func StartsAtBoot(r store.Restart) bool {
	return r.Policy == string(api.PolicyAlways)
}

// WillStartAtBoot reports whether a reboot starts the process of a record.
func WillStartAtBoot(r store.Record) bool {
	return r.Desired == desiredRunning && StartsAtBoot(r.Restart)
}

// restartDelay returns the delay before the next restart. It grows with the number of failures. The
// jitter keeps processes that failed together from restarting together. It lengthens a delay, but
// never beyond longestDelay.
func restartDelay(r store.Restart, failures int, random float64) time.Duration {
	d := firstDelay
	switch {
	case r.DelayMS > 0:
		d = time.Duration(r.DelayMS) * time.Millisecond
	case r.ShortDelays:
		d = firstPolicyDelay
	}
	longest := longestDelay(r)
	for range failures {
		// Stop early: doubling on would overflow.
		if r.FixedDelay || d >= longest {
			break
		}
		d *= 2
	}
	d = min(d, longest)
	jitter := time.Duration(jitterShare * random * float64(d))
	// The delay cannot become longer, so shorten it: restarts are still spread out.
	if d+jitter > longest {
		return d - jitter
	}
	return d + jitter
}

// longestDelay returns the maximum delay before a restart.
func longestDelay(r store.Restart) time.Duration {
	if r.FixedDelay {
		return max(maxDelay, time.Duration(r.DelayMS)*time.Millisecond)
	}
	return maxDelay
}

func giveUpReason(r store.Restart, l runResult) string {
	if r.Max == 1 {
		return fmt.Sprintf("%s; gave up after 1 restart (it did not last %v)", exitReason(l), healthyAfter(r))
	}
	return fmt.Sprintf("%s; gave up after %d restarts (none lasted %v)", exitReason(l), r.Max, healthyAfter(r))
}

// exitReason describes how a run ended. It is part of an error message.
func exitReason(l runResult) string {
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

// RestartOf checks a restart policy from a client and converts it to the form in records.
func RestartOf(keepAlive bool, in *api.Restart) (store.Restart, error) {
	r := store.Restart{}
	if in != nil {
		r = store.Restart{Policy: string(in.Policy), Max: in.Max, DelayMS: in.DelayMS, FixedDelay: in.FixedDelay, SuccessCodes: in.SuccessCodes, ShortDelays: !keepAlive}
	}
	policy, ok := api.ParsePolicy(r.Policy)
	switch {
	case !ok && r.Policy != "":
		return r, api.Errorf(api.CodeInvalid, "unknown restart policy %s", names.Shown(r.Policy)).
			WithHint("must be no, on-failure or always")
	case keepAlive && ok && policy != api.PolicyAlways:
		return r, api.Errorf(api.CodeInvalid, "restart policy %s: contradicts keep_alive, which means always", names.Shown(r.Policy)).
			WithHint("give only one of them")
	case keepAlive:
		policy = api.PolicyAlways
	}
	r.Policy = string(policy)
	if r.Max < 0 || r.DelayMS < 0 {
		return r, api.Errorf(api.CodeInvalid, "restart policy: max and delay_ms cannot be negative")
	}
	return r, nil
}
