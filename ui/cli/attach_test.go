package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

func TestAttachTellsHowTheSessionEnded(t *testing.T) {
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

func TestAttachRefusesWhatIsNoTerminal(t *testing.T) {
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

func TestAttachRefusesTheSessionThatItRunsIn(t *testing.T) {
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
