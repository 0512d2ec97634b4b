package supervise

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
	"tandem/tests/seed"
)

func exitWith(code int) keeper.Exit { return keeper.Exit{Code: &code} }

func TestPolicyDecidesTheStateAfterAnExit(t *testing.T) {
	killed, unknown := keeper.Exit{Signal: "SIGKILL"}, keeper.Exit{Unknown: true}
	cases := []struct {
		policy api.Policy
		life   runResult
		want   api.State
	}{
		{"", runResult{exit: exitWith(1)}, api.StateExited},
		{api.PolicyNo, runResult{exit: exitWith(1)}, api.StateExited},
		{api.PolicyNo, runResult{exit: exitWith(0), fault: "not ready"}, api.StateFailed},
		{api.PolicyOnFailure, runResult{exit: exitWith(0)}, api.StateExited},
		{api.PolicyOnFailure, runResult{exit: exitWith(3)}, api.StateExited},
		{api.PolicyOnFailure, runResult{exit: exitWith(1)}, api.StateBackoff},
		{api.PolicyOnFailure, runResult{exit: exitWith(1), lasted: healthyRun}, api.StateStarting},
		{api.PolicyOnFailure, runResult{exit: killed}, api.StateBackoff},
		{api.PolicyOnFailure, runResult{exit: unknown}, api.StateBackoff},
		{api.PolicyOnFailure, runResult{exit: exitWith(0), fault: "not ready"}, api.StateBackoff},
		{api.PolicyAlways, runResult{exit: exitWith(0)}, api.StateBackoff},
		{api.PolicyAlways, runResult{exit: exitWith(0), lasted: healthyRun}, api.StateStarting},
		{api.PolicyAlways, runResult{exit: killed, lasted: time.Hour}, api.StateStarting},
	}
	for _, c := range cases {
		r := recordWithRestart(store.Restart{Policy: string(c.policy), SuccessCodes: []int{3}})
		if got := applyPolicy(r, c.life, 0); got.state != c.want {
			t.Errorf("%q after %+v: %+v, want %s", c.policy, c.life, got, c.want)
		}
	}
}

func TestDelayDoublesUpToAMinuteUntilAHealthyRun(t *testing.T) {
	r := recordWithRestart(store.Restart{Policy: string(api.PolicyAlways)})
	for _, want := range []time.Duration{2, 4, 8, 16, 32, 60, 60} {
		v := applyPolicy(r, runResult{exit: exitWith(1)}, 0)
		if v.delay != want*time.Second {
			t.Errorf("after %d failures: %v, want %v s", r.Failures, v.delay, int(want))
		}
		r.Failures = v.failures
	}
	if v := applyPolicy(r, runResult{exit: exitWith(1), lasted: healthyRun}, 0); v.state != api.StateStarting || v.failures != 0 {
		t.Errorf("after a healthy run: %+v", v)
	}
}

func TestRestartLimitCountsFromTheLastHealthyRun(t *testing.T) {
	r := recordWithRestart(store.Restart{Policy: string(api.PolicyAlways), Max: 2})
	r.Failures = 2
	v := applyPolicy(r, runResult{exit: exitWith(7)}, 0)
	if v.state != api.StateFailed || v.reason != "exited with 7; gave up after 2 restarts (none lasted 30s)" {
		t.Errorf("%+v", v)
	}
	once := recordWithRestart(store.Restart{Policy: string(api.PolicyAlways), Max: 1})
	once.Failures = 1
	if v := applyPolicy(once, runResult{exit: exitWith(7)}, 0); v.reason != "exited with 7; gave up after 1 restart (it did not last 30s)" {
		t.Errorf("%+v", v)
	}
	if v := applyPolicy(r, runResult{exit: exitWith(7), lasted: healthyRun}, 0); v.state != api.StateStarting {
		t.Errorf("after a healthy run: %+v", v)
	}
}

func TestDelayNeverExceedsItsLimitAndJitterATenth(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		r := store.Restart{DelayMS: rapid.IntRange(0, 100_000).Draw(t, "delay"), FixedDelay: rapid.Bool().Draw(t, "fixed")}
		failures := rapid.IntRange(0, 1000).Draw(t, "failures")
		plain := restartDelay(r, failures, 0)
		d := restartDelay(r, failures, rapid.Float64Range(0, 0.999).Draw(t, "random"))
		if off := (d - plain).Abs(); d > longestDelay(r) || d <= 0 || off > plain/10 {
			t.Errorf("%v, without jitter %v", d, plain)
		}
	})
}

// The restart policy comes from a project file or from start --restart; keep_alive may also be set.
func TestFirstDelayIsShorterForAPolicyThanForKeepAlive(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		keepAlive bool
		in        *api.Restart
		want      []time.Duration
		healthy   time.Duration
		after     verdict // of a healthy run
	}{
		"a policy": {
			in: &api.Restart{Policy: api.PolicyOnFailure}, want: []time.Duration{100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 60_000, 60_000},
			healthy: 10 * time.Second, after: verdict{state: api.StateBackoff, delay: 100 * ms, failures: 1, reason: "exited with 1"},
		},
		"a policy with a delay": {
			in: &api.Restart{Policy: api.PolicyAlways, DelayMS: 5000}, want: []time.Duration{5000, 10_000, 20_000, 40_000, 60_000},
			healthy: 10 * time.Second, after: verdict{state: api.StateBackoff, delay: 5000 * ms, failures: 1, reason: "exited with 1"},
		},
		"a fixed delay": {
			in: &api.Restart{Policy: api.PolicyAlways, DelayMS: 5000, FixedDelay: true}, want: []time.Duration{5000, 5000, 5000},
			healthy: 10 * time.Second, after: verdict{state: api.StateBackoff, delay: 5000 * ms, failures: 1, reason: "exited with 1"},
		},
		"a long fixed delay": {
			in: &api.Restart{Policy: api.PolicyAlways, DelayMS: 300_000, FixedDelay: true}, want: []time.Duration{300_000, 300_000},
			healthy: 10 * time.Second, after: verdict{state: api.StateBackoff, delay: 300_000 * ms, failures: 1, reason: "exited with 1"},
		},
		"kept alive": {
			keepAlive: true, want: []time.Duration{2000, 4000, 8000, 16_000, 32_000, 60_000},
			healthy: 30 * time.Second, after: verdict{state: api.StateStarting},
		},
		"kept alive, with a limit": {
			keepAlive: true, in: &api.Restart{Max: 9}, want: []time.Duration{2000, 4000},
			healthy: 30 * time.Second, after: verdict{state: api.StateStarting},
		},
	} {
		restart, err := RestartOf(c.keepAlive, c.in)
		if err != nil {
			t.Fatal(err)
		}
		r := recordWithRestart(restart)
		for _, want := range c.want {
			v := applyPolicy(r, runResult{exit: exitWith(1), lasted: c.healthy - 1}, 0)
			if v.state != api.StateBackoff || v.delay != want*ms {
				t.Errorf("%s, after %d failures: %+v, want %v", name, r.Failures, v, want*ms)
			}
			r.Failures = v.failures
		}
		if v := applyPolicy(r, runResult{exit: exitWith(1), lasted: c.healthy}, 0); v != c.after {
			t.Errorf("%s, after a healthy run: %+v, want %+v", name, v, c.after)
		}
	}
}

func TestUnlessStoppedMeansAlwaysAsRestartPolicy(t *testing.T) {
	for _, keepAlive := range []bool{false, true} {
		if r, err := RestartOf(keepAlive, &api.Restart{Policy: "unless-stopped"}); err != nil || r.Policy != "always" {
			t.Errorf("keep alive %v: %+v, %v", keepAlive, r, err)
		}
	}
}

func recordWithRestart(restart store.Restart) store.Record {
	return store.Record{Supervision: store.Supervision{Restart: restart}}
}
