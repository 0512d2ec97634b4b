package service

import (
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/persist/store"
)

// onStart makes started children print to their logs and exit with code. If code is negative, they
// keep running.
func (r *rig) onStart(stdout, stderr string, code int) {
	r.executor.spawned = func(rec store.Record) {
		writeFile(r.t, filepath.Join(r.store.Dir(rec.ID), store.StdoutName), stdout)
		writeFile(r.t, filepath.Join(r.store.Dir(rec.ID), store.StderrName), stderr)
		if code < 0 {
			return
		}
		go func() {
			if p, err := r.control.AwaitAnnounced(context.Background(), rec.ID); err == nil {
				r.exit(p, code)
			}
		}()
	}
}

func TestExecReturnsTheEndOfTheOutput(t *testing.T) {
	r := newRig(t)
	umlauts := strings.Repeat("ä", 10)
	for name, c := range map[string]struct {
		stdout, stderr string
		in             api.ExecInput
		want           api.ExecOutput
	}{
		"both streams":           {stdout: "out\n", stderr: "err\n", want: api.ExecOutput{Stdout: "out\n", Stderr: "err\n", StdoutCursor: 4, StderrCursor: 4}},
		"nothing":                {},
		"the last bytes":         {stdout: "0123456789", stderr: "abc", in: api.ExecInput{MaxOutput: 4}, want: api.ExecOutput{Stdout: "6789", StdoutDropped: 6, Stderr: "abc", StdoutCursor: 10, StderrCursor: 3}},
		"no half characters":     {stdout: umlauts, in: api.ExecInput{MaxOutput: 5}, want: api.ExecOutput{Stdout: "ää", StdoutDropped: 16, StdoutCursor: 20}},
		"more than the default":  {stdout: strings.Repeat("x", defaultExecOutput+1), want: api.ExecOutput{Stdout: strings.Repeat("x", defaultExecOutput), StdoutDropped: 1, StdoutCursor: defaultExecOutput + 1}},
		"an excessive maximum":   {stdout: "x", in: api.ExecInput{MaxOutput: 1 << 40}, want: api.ExecOutput{Stdout: "x", StdoutCursor: 1}},
		"bytes that are no text": {stdout: "a\xffb", want: api.ExecOutput{Stdout: "a\uFFFDb", StdoutCursor: 3}},
		"exact bytes": {stdout: "a\xffb", stderr: "text", in: api.ExecInput{Exact: true},
			want: api.ExecOutput{StdoutBytes: base64.StdEncoding.EncodeToString([]byte("a\xffb")), Stderr: "text", StdoutCursor: 3, StderrCursor: 4}},
	} {
		r.onStart(c.stdout, c.stderr, 3)
		c.in.Command, c.in.CWD = []string{"program"}, r.work
		out := call(t, r, api.Exec, c.in)
		if p := out.Process; out.TimedOut || !p.State.Ended() || p.ExitCode == nil || *p.ExitCode != 3 {
			t.Errorf("%s: %+v", name, p)
		}
		out.Process, out.DurationMS = api.Process{}, 0
		if !reflect.DeepEqual(out, c.want) {
			t.Errorf("%s: %+v, want %+v", name, out, c.want)
		}
	}
}

func TestTimedOutCommandIsKilledOnlyOnRequest(t *testing.T) {
	for name, c := range map[string]struct {
		in      api.ExecInput
		state   api.State
		signals []string
	}{
		"keeps running":     {api.ExecInput{}, api.StateRunning, nil},
		"becomes a daemon":  {api.ExecInput{Daemon: &api.Daemon{Lines: 7}}, api.StateRunning, nil},
		"is killed":         {api.ExecInput{Kill: true}, api.StateStopped, []string{"SIGTERM"}},
		"is killed at once": {api.ExecInput{Kill: true, Daemon: &api.Daemon{Lines: 7}}, api.StateStopped, []string{"SIGTERM"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.onStart("so far", "", -1)
			c.in.Command, c.in.CWD, c.in.TimeoutMS = []string{"program"}, r.work, 1
			out := call(t, r, api.Exec, c.in)
			if !out.TimedOut || out.Process.State != c.state || out.Stdout != "so far" || !slices.Equal(r.executor.signals, c.signals) {
				t.Errorf("%+v, signals %q", out, r.executor.signals)
			}
			daemon := c.in.Daemon != nil && !c.in.Kill
			if s := out.Process.Supervision; daemon != (s.Daemon != nil) || daemon == s.Transient {
				t.Errorf("supervised as %+v", s)
			}
			// A program that keeps running without a sandbox gets a sandbox file that says so.
			if _, err := os.Stat(r.store.SandboxPath(out.Process.ID)); (err == nil) != (c.state == api.StateRunning) {
				t.Errorf("sandbox file: %v", err)
			}
		})
	}
}

func TestExecRejectsInvalidInput(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		in   api.ExecInput
		want string
	}{
		{api.ExecInput{}, "no command given"},
		{api.ExecInput{Command: []string{"x"}, TimeoutMS: -1}, "cannot be negative"},
		{api.ExecInput{Command: []string{"x"}, MaxOutput: -1}, "cannot be negative"},
		{api.ExecInput{Command: []string{"x"}, CWD: "x"}, "not absolute"},
		{api.ExecInput{Command: []string{"x"}, Env: map[string]string{"A\x00": "x"}}, "invalid name or value"},
	} {
		wantError(t, r, api.Exec, c.in, api.CodeInvalid, c.want)
	}
}

// Programs print without colour and never wait for a pager, unless the caller or a shared variable
// says otherwise.
func TestCommandGetsVariablesForPlainOutput(t *testing.T) {
	r := newRig(t)
	call(t, r, api.EnvSet, api.EnvSetInput{Name: "PAGER", Value: "less"})
	var env map[string]string
	r.executor.spawned = func(rec store.Record) { env = rec.Env }
	call(t, r, api.Exec, api.ExecInput{Command: []string{"x"}, CWD: r.work, TimeoutMS: 1, Env: map[string]string{"TERM": "xterm", "X": "1"}})
	if want := map[string]string{"NO_COLOR": "1", "GIT_PAGER": "cat", "TERM": "xterm", "X": "1"}; !maps.Equal(env, want) {
		t.Errorf("variables are %v, want %v", env, want)
	}
}

func TestExecEndsWithItsCaller(t *testing.T) {
	for name, before := range map[string]bool{"before the start": true, "during the start": false} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			ctx, cancel := context.WithCancel(t.Context())
			if before {
				cancel()
			}
			r.executor.spawned = func(store.Record) { cancel() }
			s := &Commands{Control: r.control, Starter: r.starter, Store: r.store, Usage: r.procs.Usage}
			if out, err := s.runCommand(ctx, api.ExecInput{Command: []string{"x"}, CWD: r.work, Kill: true}); !errors.Is(err, context.Canceled) {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
}

// If the caller disconnects, the engine still enforces the time limit.
func TestCommandOutlivesItsCallerOnlyUpToItsLimit(t *testing.T) {
	for name, c := range map[string]struct {
		in      api.ExecInput
		returns bool // the caller repeats its call before the limit
		state   api.State
	}{
		"stopped after its timeout":          {in: api.ExecInput{TimeoutMS: 300_000, Kill: true}, state: api.StateStopped},
		"stopped after its caller's grace":   {in: api.ExecInput{CallerGraceMS: 1000}, state: api.StateStopped},
		"kept for a caller that returns":     {in: api.ExecInput{TimeoutMS: 7_200_000, Kill: true, CallerGraceMS: 1000}, returns: true, state: api.StateRunning},
		"kept without a limit":               {in: api.ExecInput{TimeoutMS: 300_000}, state: api.StateRunning},
		"kept as a daemon":                   {in: api.ExecInput{TimeoutMS: 1, CallerGraceMS: 1000, Daemon: &api.Daemon{Lines: 7}}, state: api.StateRunning},
		"kept if its caller saw it continue": {in: api.ExecInput{TimeoutMS: 1, CallerGraceMS: 1000}, state: api.StateRunning},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				s := &Commands{Control: r.control, Starter: r.starter, Store: r.store, Usage: r.procs.Usage}
				c.in.Command, c.in.CWD, c.in.ID = []string{"make"}, r.work, "0123456789ab"
				ctx, cancel := context.WithCancel(t.Context())
				called := make(chan error, 2)
				run := func(ctx context.Context) { _, err := s.runCommand(ctx, c.in); called <- err }
				go run(ctx)
				time.Sleep(100 * time.Millisecond)
				again, stop := context.WithCancel(t.Context())
				defer stop()
				if c.returns { // on a new connection, before the loss of the old one is noticed
					go run(again)
					time.Sleep(100 * time.Millisecond)
				}
				cancel()
				if err := <-called; c.in.TimeoutMS != 1 && !errors.Is(err, context.Canceled) {
					t.Errorf("answered %v", err)
				}
				time.Sleep(time.Hour)
				if p, err := r.control.AwaitAnnounced(t.Context(), c.in.ID); err != nil || p.State != c.state {
					t.Errorf("%s, %v", p.State, err)
				}
				if c.returns {
					stop()
					<-called
					time.Sleep(time.Minute)
					if p, err := r.control.AwaitAnnounced(t.Context(), c.in.ID); err != nil || !p.State.Ended() {
						t.Errorf("%s after its second caller left too, %v", p.State, err)
					}
				}
			})
		})
	}
}
