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
	"regexp"
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

// A check is one condition of readiness. It gives nil once it holds.
type check struct {
	name string
	try  func(ctx context.Context) error
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
	checks, done, err := h.checks(r)
	if err != nil {
		return err
	}
	defer done()
	for _, c := range checks {
		if err := c.wait(ctx); err != nil {
			return fmt.Errorf("not ready after %v: %s: %v", timeout, c.name, err)
		}
	}
	return nil
}

// wait tries until the condition holds or ctx ends.
func (c check) wait(ctx context.Context) error {
	last := errors.New("it was not tried")
	for gap := probeGap; ctx.Err() == nil; gap = min(2*gap, probeGapMost) {
		try, cancel := context.WithTimeout(ctx, probeTime)
		err := c.try(try)
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

// checks gives the conditions of a record and what closes what they use.
func (h *host) checks(r persist.Record) (all []check, done func(), err error) {
	ready := r.Ready
	done = func() {}
	if ready.Port != 0 {
		all = append(all, check{fmt.Sprintf("port %d", ready.Port), func(ctx context.Context) error { return dialPort(ctx, ready.Port) }})
	}
	if ready.HTTP != "" {
		all = append(all, check{ready.HTTP, func(ctx context.Context) error { return getOK(ctx, ready.HTTP) }})
	}
	if len(ready.Command) > 0 {
		all = append(all, check{shellQuote(ready.Command), func(ctx context.Context) error { return h.runCheck(ctx, r) }})
	}
	if ready.Log != "" {
		w, err := h.watchLog(r, ready.Log, r.LogStart)
		if err != nil {
			return nil, done, err
		}
		done = w.close
		all = append(all, check{"log line " + ready.Log, func(ctx context.Context) error {
			_, err := w.next(ctx)
			return err
		}})
	}
	return all, done, nil
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
	if _, err := regexp.Compile(r.Log); err != nil {
		return wrong("log: %v", err)
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
