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
	"slices"
	"strconv"
	"syscall"
	"time"

	"tandem/engine/access"
	"tandem/engine/api"
	"tandem/engine/logs"
	"tandem/engine/names"
	"tandem/engine/sandbox"
	"tandem/persist/store"
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

// Probe waits until all conditions of a record have held; it gives why not when
// that has taken too long. Only the time counts in which this engine has looked:
// a process that became ready while there was none is ready.
func (h *host) Probe(ctx context.Context, r store.Record) error {
	timeout := defaultReadyTimeout
	if r.Ready.TimeoutMS > 0 {
		timeout = time.Duration(r.Ready.TimeoutMS) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
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
		var last error
		for gap := probeGap; ; gap = min(2*gap, probeGapMost) {
			once, cancel := context.WithTimeout(ctx, probeTime)
			err := try(once)
			cancel()
			if err == nil {
				return nil
			}
			if last == nil || ctx.Err() == nil { // else it was cut off, which says less
				last = err
			}
			select {
			case <-time.After(gap):
			case <-ctx.Done():
				return last
			}
		}
	}
}

// checks gives the conditions of a record.
func (h *host) checks(r store.Record) (all []check) {
	ready, probe := r.Ready, h.proberFor(r)
	if ready.Port != 0 {
		all = append(all, check{fmt.Sprintf("port %d", ready.Port),
			repeat(func(ctx context.Context) error { return probe.port(ctx, ready.Port) })})
	}
	if ready.HTTP != "" {
		all = append(all, check{ready.HTTP, repeat(func(ctx context.Context) error { return probe.http(ctx, ready.HTTP) })})
	}
	if len(ready.Command) > 0 {
		all = append(all, check{names.Quote(ready.Command), repeat(func(ctx context.Context) error { return h.runCheck(ctx, r) })})
	}
	if ready.Log != "" {
		all = append(all, check{"log line " + ready.Log, func(ctx context.Context) error { return h.awaitLine(ctx, r) }})
	}
	return all
}

// awaitLine waits for the line that tells that a process is ready.
func (h *host) awaitLine(ctx context.Context, r store.Record) error {
	pattern, err := logs.Pattern(r.Name, r.Ready.Log)
	if err != nil {
		return err
	}
	e, err := h.control.EntryByID(ctx, r.ID) // it may not be announced yet
	if err != nil {
		return errors.New("it was removed")
	}
	source := e.Source()
	_, _, err = h.logs.WaitLine(ctx, source, pattern, source.Places(r.LogStart, r.ErrorLogStart))
	if err != nil && ctx.Err() != nil {
		return errors.New("there was no such line")
	}
	return err
}

// A prober looks over the network whether something is ready.
type prober struct {
	dial     dialer
	loopback []string // hosts at which ports are looked for
}

// anywhere probes without bounds.
func anywhere() prober {
	return prober{new(net.Dialer).DialContext, []string{"127.0.0.1", "::1"}}
}

// proberFor reaches what a record's child may reach.
func (h *host) proberFor(r store.Record) prober {
	if !r.Sandboxed {
		return anywhere()
	}
	layers, err := sandbox.LoadLayers(h.store.SandboxPath(r.ID))
	if err == nil && !layers.Restricted() {
		return anywhere()
	}
	return prober{h.gate.dialer(r.ID), slices.DeleteFunc([]string{"127.0.0.1", "::1", "localhost"}, func(host string) bool {
		return layers.CheckHost(host) != nil
	})}
}

// checkProbes refuses readiness checks over a network that a sandbox does not
// allow: the engine makes them for the process, and no more than that may.
func checkProbes(ready *store.Readiness, layers sandbox.Layers) error {
	if ready == nil {
		return nil
	}
	if ready.Port != 0 {
		if err := access.MayProbe(layers); err != nil {
			return fmt.Errorf("readiness: port %d: %w", ready.Port, err)
		}
	}
	if u, err := url.Parse(ready.HTTP); ready.HTTP != "" && err == nil {
		if err := layers.CheckHost(u.Hostname()); err != nil {
			return fmt.Errorf("readiness: http %s: %w", names.Shown(ready.HTTP), err)
		}
	}
	return nil
}

// port reports whether something listens on a port of the loopback interface.
func (p prober) port(ctx context.Context, port int) error {
	failed := errors.New("its sandbox does not let it reach the loopback interface")
	for i, host := range p.loopback {
		conn, err := p.dial(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err == nil {
			return conn.Close()
		}
		if i == 0 {
			failed = err
		}
	}
	return failed
}

// http reports whether a URL answers with success.
func (p prober) http(ctx context.Context, address string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: p.dial}}
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
// run it, within the same sandbox. It ends with its whole group.
func (h *host) runCheck(ctx context.Context, r store.Record) error {
	argv, env := r.Ready.Command, h.childEnv(r)
	if r.Sandboxed {
		var err error
		if argv, env, err = h.launchConfined(r, argv); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = r.CWD, env
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
	if err := names.CheckPattern("readiness: log", r.Log); err != nil {
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
		return wrong("http %s: it is no http or https URL", names.Shown(r.HTTP))
	}
	return nil
}
