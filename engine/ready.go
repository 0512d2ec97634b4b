package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"tandem/engine/api"
	"tandem/persist"
)

const (
	defaultReadyTimeout = time.Minute
	probeGap            = 20 * time.Millisecond // between two tries, at first
	probeGapMost        = 500 * time.Millisecond
	probeTime           = 5 * time.Second // for one try
)

// A check is one condition of readiness. wait gives nil once it holds, or when
// ctx ends why it does not.
type check struct {
	name string
	wait func(ctx context.Context) error
}

// probe waits until all conditions of a record have held; it gives why not when
// that has taken too long.
func (h *host) probe(ctx context.Context, r persist.Record) error {
	timeout := defaultReadyTimeout
	if r.Ready.TimeoutMS > 0 {
		timeout = time.Duration(r.Ready.TimeoutMS) * time.Millisecond
	}
	ctx, cancel := context.WithDeadline(ctx, r.StartedAt.Add(timeout))
	defer cancel()
	for _, c := range h.checks(r) {
		if err := c.wait(ctx); err != nil {
			return fmt.Errorf("not ready after %v: %s: %v", timeout, c.name, err)
		}
	}
	return nil
}

// repeat tries until the condition holds or ctx ends.
func repeat(try func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		last := errors.New("it was not tried")
		for gap := probeGap; ctx.Err() == nil; gap = min(2*gap, probeGapMost) {
			once, cancel := context.WithTimeout(ctx, probeTime)
			err := try(once)
			cancel()
			if err == nil {
				return nil
			}
			if ctx.Err() == nil {
				last = err
			}
			select {
			case <-time.After(gap):
			case <-ctx.Done():
			}
		}
		return last
	}
}

// checks gives the conditions of a record.
func (h *host) checks(r persist.Record) (all []check) {
	ready := r.Ready
	if ready.Port != 0 {
		all = append(all, check{fmt.Sprintf("port %d", ready.Port),
			repeat(func(ctx context.Context) error { return dialPort(ctx, ready.Port) })})
	}
	if ready.HTTP != "" {
		all = append(all, check{ready.HTTP, repeat(func(ctx context.Context) error { return getOK(ctx, ready.HTTP) })})
	}
	if len(ready.Command) > 0 {
		all = append(all, check{shellQuote(ready.Command), repeat(func(ctx context.Context) error { return h.runCheck(ctx, r) })})
	}
	if ready.Log != "" {
		all = append(all, check{"log line " + ready.Log, func(ctx context.Context) error { return h.awaitLine(ctx, r) }})
	}
	return all
}

// awaitLine waits for the line that tells that a process is ready.
func (h *host) awaitLine(ctx context.Context, r persist.Record) error {
	search, err := newLogSearch(r.Name, r.Ready.Log)
	if err != nil {
		return err
	}
	source, err := ask(ctx, h.control, func() *logSource {
		p := h.control.procs[r.ID] // not announced yet, so nobody else can find it
		if p == nil {
			return nil
		}
		s := h.source(p)
		return &s
	})
	if err != nil || source == nil {
		return errors.New("it was removed")
	}
	_, _, err = h.logs.waitLine(ctx, *source, search, source.places(r.LogStart, r.ErrorLogStart))
	if err != nil && ctx.Err() != nil {
		return errors.New("there was no such line")
	}
	return err
}

// dialPort reports whether something listens on a port of the loopback
// interface.
func dialPort(ctx context.Context, port int) error {
	var failed error
	for _, host := range []string{"127.0.0.1", "::1"} {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err == nil {
			return conn.Close()
		}
		if failed == nil {
			failed = err
		}
	}
	return failed
}

func getOK(ctx context.Context, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, Proxy: nil}}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<20))
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return fmt.Errorf("it answered with %s", answer.Status)
	}
	return nil
}

// runCheck runs the command of a readiness check as the process itself would
// run it. It ends with its whole group.
func (h *host) runCheck(ctx context.Context, r persist.Record) error {
	cmd := exec.CommandContext(ctx, r.Ready.Command[0], r.Ready.Command[1:]...)
	cmd.Dir, cmd.Env = r.CWD, h.childEnv(r)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd.Run()
}

// checkReadiness refuses what could never hold.
func checkReadiness(r *api.Readiness) error {
	if r == nil {
		return nil
	}
	wrong := func(format string, args ...any) error {
		return api.Errorf(api.CodeInvalid, "readiness: "+format, args...)
	}
	if r.Log == "" && r.Port == 0 && r.HTTP == "" && len(r.Command) == 0 {
		return wrong("no condition is given").(*api.Error).WithHint("give a log line, a port, a URL or a command")
	}
	if err := checkPattern("readiness: log", r.Log); err != nil {
		return err
	}
	if r.Port < 0 || r.Port > 65535 {
		return wrong("port %d: it must be 1 to 65535", r.Port)
	}
	if len(r.Command) > 0 && r.Command[0] == "" {
		return wrong("command: the program's name is empty")
	}
	if r.TimeoutMS < 0 {
		return wrong("timeout_ms %d: it is negative", r.TimeoutMS)
	}
	u, err := url.Parse(r.HTTP)
	if r.HTTP != "" && (err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https")) {
		return wrong("http %s: it is no http or https URL", shown(r.HTTP))
	}
	return nil
}
