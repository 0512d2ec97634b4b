package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
)

func TestAttachReportsHowTheSessionExited(t *testing.T) {
	r := newRig(t)
	master, slave := openTerminal(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(io.Discard, master)
	}()
	var stderr bytes.Buffer
	o := r.options
	o.Stdin, o.Stdout, o.Stderr = slave, slave, &stderr
	if status := Main(t.Context(), o, []string{"attach", "work"}); status != 0 {
		t.Errorf("status %d", status)
	}
	if stderr.String() != "work: exited 3\n" {
		t.Errorf("attach says %q", &stderr)
	}
	slave.Close()
	<-done
}

func TestAttachRequiresATerminal(t *testing.T) {
	r := newRig(t)
	_, stderr, status := r.run("attach", "work")
	if status != 1 || !strings.Contains(stderr, "must be a terminal\nhint: ") {
		t.Errorf("status %d, %q", status, stderr)
	}
	_, slave := openTerminal(t)
	o := r.options
	var errs bytes.Buffer
	o.Stdin, o.Stdout, o.Stderr, o.Environ = slave, slave, &errs, []string{"TERM=dumb"}
	if status := Main(t.Context(), o, []string{"attach", "work"}); status != 1 || !strings.Contains(errs.String(), "TERM") {
		t.Errorf("status %d, %q", status, &errs)
	}
}

func TestAttachRefusesItsOwnSession(t *testing.T) {
	r := newRig(t)
	_, slave := openTerminal(t)
	o := r.options
	var errs bytes.Buffer
	o.Stdin, o.Stdout, o.Stderr = slave, slave, &errs
	o.Environ = append(o.Environ, "TANDEM_SESSION_ID=0123456789ab")
	status := Main(t.Context(), o, []string{"attach", "work"})
	if status != 1 || !strings.HasPrefix(errs.String(), "tandem: attach to work: this terminal is that session\nhint: ") {
		t.Errorf("status %d, %q", status, &errs)
	}
}

func TestAttachWithoutNamePicksTheLastActiveSession(t *testing.T) {
	session := func(id, name string, state api.State, started, active int64) api.Process {
		p := api.Process{ID: id, Name: name, Kind: api.KindSession, State: state, StartedAt: time.Unix(started, 0), Terminal: &api.Terminal{}}
		if active > 0 {
			p.Terminal.ActiveAt = time.Unix(active, 0)
		}
		return p
	}
	r := newRig(t)
	r.sessions = []api.Process{
		session("a", "started-last", api.StateRunning, 50, 0),
		session("b", "used-last", api.StateRunning, 1, 60),
		session("c", "used-before", api.StateRunning, 1, 10),
		session("d", "over", api.StateExited, 1, 90),
		session("e", "own", api.StateRunning, 1, 99),
	}
	attach := func() (stderr string, status int) {
		_, slave := openTerminal(t)
		o := r.options
		var errs bytes.Buffer
		o.Stdin, o.Stdout, o.Stderr, o.Environ = slave, slave, &errs, []string{"TERM=xterm", "TANDEM_SESSION_ID=e"}
		status = Main(t.Context(), o, []string{"attach", "--predict", "sometimes"})
		return errs.String(), status
	}
	if stderr, status := attach(); status != 1 || !strings.HasPrefix(stderr, "tandem: attach to used-last: unknown --predict") {
		t.Errorf("status %d, %q", status, stderr)
	}
	r.sessions = r.sessions[3:]
	if stderr, status := attach(); status == 0 || !strings.Contains(stderr, "attach: no other session is running\nhint: `tandem new` starts one") {
		t.Errorf("without a session: status %d, %q", status, stderr)
	}
}
