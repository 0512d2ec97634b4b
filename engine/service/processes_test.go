package service

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/persist/store"
)

func TestInvalidChangesOfAProcessAreRejected(t *testing.T) {
	r := newRig(t)
	p := r.start(api.ProcessStartInput{Name: "web"})
	ended := r.start(api.ProcessStartInput{Name: "job"})
	call(t, r, api.ProcessStop, api.ProcessStopInput{ID: "job"})
	negative, bad, taken := int64(-1), "a\nb", "job"
	for _, signal := range []string{"0", "65", "-9", "SIGNOTHING", "\x1b", strings.Repeat("9", 30)} {
		wantError(t, r, api.ProcessSignal, api.ProcessSignalInput{ID: "web", Signal: signal}, api.CodeInvalid, "signal")
		wantError(t, r, api.ProcessStop, api.ProcessStopInput{ID: "web", Signal: signal}, api.CodeInvalid, "signal")
		wantError(t, r, api.ProcessStopAll, api.ProcessStopAllInput{Signal: signal}, api.CodeInvalid, "signal")
	}
	wantError(t, r, api.ProcessSignal, api.ProcessSignalInput{ID: "web"}, api.CodeInvalid, "signal")
	wantError(t, r, api.ProcessSignal, api.ProcessSignalInput{ID: "job", Signal: "TERM"}, api.CodeEnded, "it is not running")
	wantError(t, r, api.ProcessStop, api.ProcessStopInput{ID: "web", TimeoutMS: -1}, api.CodeInvalid, "cannot be negative")
	wantError(t, r, api.ProcessStop, api.ProcessStopInput{ID: "job"}, api.CodeEnded, "")
	wantError(t, r, api.ProcessUpdate, api.ProcessUpdateInput{ID: "web", Name: &bad}, api.CodeInvalid, "must consist of visible characters")
	wantError(t, r, api.ProcessUpdate, api.ProcessUpdateInput{ID: "job", LogLimit: &negative}, api.CodeInvalid, "cannot be negative")
	wantError(t, r, api.ProcessUpdate, api.ProcessUpdateInput{ID: "web", Restart: &api.Restart{Policy: "x"}}, api.CodeInvalid, "x")
	wantError(t, r, api.ProcessUpdate, api.ProcessUpdateInput{ID: "web", Name: new(string)}, api.CodeInvalid, "must not be empty")
	wantError(t, r, api.ProcessRestart, api.ProcessRestartInput{ID: "web", After: []api.Dependency{{ID: "job", Condition: "x"}}}, api.CodeInvalid, "x")
	wantError(t, r, api.ProcessRestart, api.ProcessRestartInput{ID: "web", After: []api.Dependency{{ID: "none"}}}, api.CodeNotFound, "none")
	wantError(t, r, api.SessionRename, api.SessionRenameInput{ID: "web", Name: "other"}, api.CodeNotFound, "web")
	wantError(t, r, api.SessionKill, api.IDInput{ID: "web"}, api.CodeNotFound, "web")
	// An update with an old revision is a conflict only if it would change something.
	name := "renamed"
	changed := call(t, r, api.ProcessUpdate, api.ProcessUpdateInput{ID: "web", Name: &name})
	wantError(t, r, api.ProcessUpdate, api.ProcessUpdateInput{ID: p.ID, Name: &taken, Revision: p.Revision}, api.CodeConflict, "Call process.get")
	if again := call(t, r, api.ProcessUpdate, api.ProcessUpdateInput{ID: p.ID, Name: &name, Revision: p.Revision}); again.Revision != changed.Revision || again.Name != name {
		t.Errorf("repeated: %+v", again)
	}
	for _, id := range []string{"none", "", "../x", "\x1b[31m", strings.Repeat("x", 1<<16)} {
		wantError(t, r, api.ProcessGet, api.IDInput{ID: id}, api.CodeNotFound, "")
		wantError(t, r, api.ProcessRemove, api.IDInput{ID: id}, api.CodeNotFound, "")
		wantError(t, r, api.ProcessLog, api.ProcessLogInput{ID: id}, api.CodeNotFound, "")
	}
	if now := call(t, r, api.ProcessGet, api.IDInput{ID: ended.ID}); now.Name != "job" || now.State != api.StateStopped {
		t.Errorf("%+v", now)
	}
}

// Background jobs may outlive the process that started them.
func TestStopOfAnEndedProcessStopsItsRemains(t *testing.T) {
	r := newRig(t)
	p := r.start(api.ProcessStartInput{StopTimeoutMS: 1000})
	call(t, r, api.ProcessStop, api.ProcessStopInput{ID: p.ID})
	var asked []int
	left, failure := 2, error(nil)
	r.procs.StopRemains = func(_ context.Context, records []store.Record, signal string) (int, error) {
		asked = append(asked, records[0].StopTimeoutMS)
		return left, failure
	}
	if got := call(t, r, api.ProcessStop, api.ProcessStopInput{ID: p.ID, TimeoutMS: 5}); got.ID != p.ID {
		t.Errorf("%+v", got)
	}
	left = 0
	wantError(t, r, api.ProcessStop, api.ProcessStopInput{ID: p.ID}, api.CodeEnded, "")
	failure = api.Errorf(api.CodeConflict, "it does not stop")
	wantError(t, r, api.ProcessStop, api.ProcessStopInput{ID: p.ID}, api.CodeConflict, "it does not stop")
	if want := []int{5, 1000, 1000}; !slices.Equal(asked, want) {
		t.Errorf("stop timeouts are %v, want %v", asked, want)
	}
}

func TestStopAllSkipsSessionsAndLockedOnes(t *testing.T) {
	for name, c := range map[string]struct {
		agent    bool
		sessions bool
		fails    error
		code     api.Code
		left     []string // names of those still running
	}{
		"processes":                     {left: []string{"free", "locked"}},
		"everything":                    {sessions: true},
		"processes, by an agent":        {agent: true, left: []string{"free", "locked"}},
		"everything, by an agent":       {agent: true, sessions: true, code: api.CodeLocked, left: []string{"locked"}},
		"everything, one does not stop": {sessions: true, fails: errors.New("it broke"), code: api.CodeConflict, left: []string{"free", "job", "locked", "web"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			for _, name := range []string{"web", "job"} {
				r.start(api.ProcessStartInput{Name: name})
			}
			for _, name := range []string{"free", "locked"} {
				r.start(api.ProcessStartInput{Name: name, TTY: true})
			}
			call(t, r, api.SessionKeyboard, api.SessionKeyboardInput{ID: "locked", Take: true})
			r.executor.stopErr = c.fails
			by := r.client
			if c.agent {
				by = r.agent()
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.fails != nil {
				r.executor.stopping = cancel // the stop is tried again and again
			}
			out, err := api.ProcessStopAll.Call(ctx, by, api.ProcessStopAllInput{Sessions: c.sessions})
			if (err == nil) != (c.code == "") && c.fails == nil || err != nil && c.code == api.CodeLocked && (!errors.Is(err, c.code) || api.AsError(err).Hint != "all others were stopped") {
				t.Errorf("%+v, %v", out, err)
			}
			var left []string
			for _, p := range call(t, r, api.ProcessList, api.ProcessListInput{}).Processes {
				if !p.State.Ended() {
					left = append(left, p.Name)
				}
			}
			if slices.Sort(left); !slices.Equal(left, c.left) {
				t.Errorf("still running are %q, want %q", left, c.left)
			}
		})
	}
}

func TestProcessWaitIsMetByOneCondition(t *testing.T) {
	r := newRig(t)
	exits := func(p api.Process) { r.exit(p, 7) }
	zero := int64(0)
	for name, c := range map[string]struct {
		start     api.ProcessStartInput
		log       string
		in        api.ProcessWaitInput
		then      func(api.Process)
		met, line string
		ended     bool
		crashLoop bool
	}{
		"exit":                 {in: api.ProcessWaitInput{Exit: true}, then: exits, met: "exit", ended: true},
		"idle":                 {in: api.ProcessWaitInput{IdleMS: 1, Log: "never"}, met: "idle"},
		"a line in the log":    {log: "one\ntwo words\n", in: api.ProcessWaitInput{Log: "^two", Since: &zero, Exit: true}, met: "log", line: "two words"},
		"the end, not a line":  {log: "one\n", in: api.ProcessWaitInput{Log: "never"}, then: exits, ended: true},
		"the end, not idle":    {in: api.ProcessWaitInput{IdleMS: 3_600_000}, then: exits, ended: true},
		"nothing in time":      {in: api.ProcessWaitInput{Log: "never", TimeoutMS: 1}},
		"no port in time":      {in: api.ProcessWaitInput{Port: 1, TimeoutMS: 1}},
		"a crash loop":         {start: api.ProcessStartInput{Restart: &api.Restart{Policy: api.PolicyAlways, DelayMS: 1}}, in: api.ProcessWaitInput{Port: 1, IdleMS: 3_600_000}, then: exits, crashLoop: true},
		"exit into a restart":  {start: api.ProcessStartInput{Restart: &api.Restart{Policy: api.PolicyAlways, DelayMS: 60_000}}, in: api.ProcessWaitInput{Exit: true}, then: exits, met: "exit"},
		"not ready in time":    {start: api.ProcessStartInput{Ready: &api.Readiness{Log: "never"}}, in: api.ProcessWaitInput{Ready: true, TimeoutMS: 1}},
		"the end before ready": {start: api.ProcessStartInput{Ready: &api.Readiness{Log: "never"}}, in: api.ProcessWaitInput{Ready: true}, then: exits, ended: true},
		"no input in time":     {start: api.ProcessStartInput{Stdin: true}, in: api.ProcessWaitInput{Input: true, TimeoutMS: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			p := r.start(c.start)
			writeFile(t, p.LogPath, c.log)
			c.in.ID = p.ID
			if c.then != nil {
				last := 0
				then := func(now api.Process) { // each child exits once it is announced
					if now.ID == p.ID && now.PID != 0 && now.PID != last {
						last = now.PID
						c.then(now)
					}
				}
				go r.control.Watch(t.Context(), "", true, func(snapshot api.Event) []api.Event { return []api.Event{snapshot} }, func(e api.Event) error {
					for _, now := range e.Processes {
						then(now)
					}
					if e.Process != nil {
						then(*e.Process)
					}
					return nil
				})
			}
			out := call(t, r, api.ProcessWait, c.in)
			if out.Met != c.met || out.Line != c.line || out.Process.State.Ended() != c.ended || out.CrashLoop != c.crashLoop {
				t.Errorf("%+v", out)
			}
		})
	}
}

func TestWaitOnAnEndedProcessReturnsAtOnce(t *testing.T) {
	r := newRig(t)
	p := r.start(api.ProcessStartInput{Stdin: true})
	writeFile(t, p.LogPath, "one\n")
	call(t, r, api.ProcessStop, api.ProcessStopInput{ID: p.ID})
	zero := int64(0)
	for _, c := range []struct {
		in  api.ProcessWaitInput
		met string
	}{
		{api.ProcessWaitInput{Exit: true}, "exit"},
		{api.ProcessWaitInput{Log: "one", Since: &zero}, "log"},
		{api.ProcessWaitInput{Log: "never"}, ""},
		{api.ProcessWaitInput{IdleMS: 3_600_000, Port: 1, Input: true}, ""},
	} {
		c.in.ID = p.ID
		if out := call(t, r, api.ProcessWait, c.in); out.Met != c.met || !out.Process.State.Ended() {
			t.Errorf("%+v: %+v", c.in, out)
		}
	}
}

func TestWaitForExitOrReadinessIsNotMetByANewRunThatIsNotReady(t *testing.T) {
	r := newRig(t)
	p := r.start(api.ProcessStartInput{Ready: &api.Readiness{Log: "never"}})
	const runs = 1 // when the wait began
	call(t, r, api.ProcessRestart, api.ProcessRestartInput{ID: p.ID})
	processes := Processes{Control: r.control}
	met := processes.awaitState(t.Context(), api.ProcessWaitInput{ID: p.ID, Exit: true, Ready: true}, runs, make(chan struct{}))
	if met.met != "exit" {
		t.Errorf("met %+v", met)
	}
}

func TestInvalidWaitsAreRejected(t *testing.T) {
	r := newRig(t)
	p := r.start(api.ProcessStartInput{Name: "web"})
	s := r.start(api.ProcessStartInput{Name: "shell", TTY: true})
	for _, c := range []struct {
		in   api.ProcessWaitInput
		code api.Code
		want string
	}{
		{api.ProcessWaitInput{}, api.CodeInvalid, "give exit, ready, log, port, idle_ms or input"},
		{api.ProcessWaitInput{Port: -1}, api.CodeInvalid, "must be 1 to 65535"},
		{api.ProcessWaitInput{Port: 65536}, api.CodeInvalid, "must be 1 to 65535"},
		{api.ProcessWaitInput{Exit: true, IdleMS: -1}, api.CodeInvalid, "cannot be negative"},
		{api.ProcessWaitInput{Exit: true, TimeoutMS: -1}, api.CodeInvalid, "cannot be negative"},
		{api.ProcessWaitInput{Ready: true}, api.CodeInvalid, "it has no readiness check; wait for log or port"},
		{api.ProcessWaitInput{Input: true}, api.CodeConflict, "it was started without stdin"},
		{api.ProcessWaitInput{Log: "("}, api.CodeInvalid, "missing closing )"},
		{api.ProcessWaitInput{Log: strings.Repeat("(a{1,1000}){1,1000}", 50)}, api.CodeInvalid, "log"},
	} {
		c.in.ID = p.ID
		wantError(t, r, api.ProcessWait, c.in, c.code, c.want)
	}
	wantError(t, r, api.ProcessWait, api.ProcessWaitInput{ID: "none", Exit: true}, api.CodeNotFound, "none")
	for _, c := range []struct {
		in   api.SessionWaitInput
		want string
	}{
		{api.SessionWaitInput{}, "no condition given"},
		{api.SessionWaitInput{Port: 65536}, "must be between 1 and 65535"},
		{api.SessionWaitInput{Exit: true, TimeoutMS: -1}, "cannot be negative"},
		{api.SessionWaitInput{Output: "("}, "wait for output"},
		{api.SessionWaitInput{Screen: "("}, "wait for screen"},
	} {
		c.in.ID = s.ID
		wantError(t, r, api.SessionWait, c.in, api.CodeInvalid, c.want)
	}
	wantError(t, r, api.SessionWait, api.SessionWaitInput{ID: "web", Exit: true}, api.CodeNotFound, "web")
}

func TestWaitEndsWithItsCaller(t *testing.T) {
	r := newRig(t)
	p := r.start(api.ProcessStartInput{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.procs.waitForProcess(ctx, api.ProcessWaitInput{ID: p.ID, Exit: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestUpdateAppliesToTheCurrentRun(t *testing.T) {
	r := newRig(t)
	p := r.start(api.ProcessStartInput{})
	on, off, name, limit := true, false, "other", int64(math.MaxInt64)
	now := call(t, r, api.ProcessUpdate, api.ProcessUpdateInput{ID: p.ID[:8], KeepAlive: &on, Name: &name, LogLimit: &limit})
	if !now.KeepAlive || now.Name != name || now.Revision == p.Revision {
		t.Errorf("became %+v", now)
	}
	e, err := r.control.EntryByID(t.Context(), p.ID)
	if err != nil || e.Rec.LogLimit != maxLogLimit {
		t.Errorf("the log limit is %d, %v", e.Rec.LogLimit, err)
	}
	wantError(t, r, api.ProcessRemove, api.IDInput{ID: name}, api.CodeConflict, "still running")
	// The process waits for a restart, which the update cancels.
	r.exit(now, 7)
	call(t, r, api.ProcessWait, api.ProcessWaitInput{ID: name, Exit: true})
	if now := call(t, r, api.ProcessUpdate, api.ProcessUpdateInput{ID: name, KeepAlive: &off}); now.State != api.StateExited || now.ExitCode == nil || *now.ExitCode != 7 {
		t.Errorf("became %+v", now)
	}
	call(t, r, api.ProcessRemove, api.IDInput{ID: name})
	wantError(t, r, api.ProcessGet, api.IDInput{ID: p.ID}, api.CodeNotFound, "")
}

func TestRestartStartsAnotherChild(t *testing.T) {
	r := newRig(t)
	p := r.start(api.ProcessStartInput{Name: "web"})
	in := api.ProcessRestartInput{ID: "web", RestartID: api.NewID()}
	first := call(t, r, api.ProcessRestart, in)
	if first.PID == p.PID || first.State != api.StateRunning || first.ID != p.ID {
		t.Errorf("became %+v", first)
	}
	// A client repeats the call if the engine exited before it answered.
	if again := call(t, r, api.ProcessRestart, in); again.PID != first.PID {
		t.Errorf("restarted twice: %d and %d", first.PID, again.PID)
	}
	call(t, r, api.ProcessStop, api.ProcessStopInput{ID: "web"})
	if again := call(t, r, api.ProcessRestart, api.ProcessRestartInput{ID: "web"}); again.State != api.StateRunning || again.PID == first.PID {
		t.Errorf("became %+v", again)
	}
	// It waits for its dependencies.
	r.start(api.ProcessStartInput{Name: "db", Ready: &api.Readiness{Log: "never"}})
	call(t, r, api.ProcessStop, api.ProcessStopInput{ID: "web"})
	if again := call(t, r, api.ProcessRestart, api.ProcessRestartInput{ID: "web", After: []api.Dependency{{ID: "db", Condition: "ready"}}}); again.State != api.StateWaiting {
		t.Errorf("became %+v", again)
	}
}

func TestStopAllOfAConfinedAgentIsLimitedToItsSandbox(t *testing.T) {
	r := newRig(t)
	r.start(api.ProcessStartInput{Name: "mine"})
	agent := r.agent()
	agent.bounds = &api.Bounds{Sandbox: &api.Sandbox{}}
	call(t, agent, api.ProcessStart, api.ProcessStartInput{Command: []string{"true"}, Name: "its", CWD: r.work})
	out := call(t, agent, api.ProcessStopAll, api.ProcessStopAllInput{Sessions: true})
	if len(out.Stopped) != 1 || out.Stopped[0].Name != "its" || len(out.Others) != 1 || out.Others[0].Name != "mine" {
		t.Errorf("stopped %+v, others %+v", out.Stopped, out.Others)
	}
}
