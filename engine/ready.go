package engine

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"tandem/engine/logs"
	"tandem/engine/readiness"
	"tandem/engine/sandbox"
	"tandem/engine/shell"
	"tandem/persist/store"
)

const defaultReadyTimeout = time.Minute

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
	defer h.openChecks.Delete(r.ID)
	for _, c := range h.checks(r) {
		h.openChecks.Store(r.ID, c.name)
		if err := c.wait(ctx); err != nil {
			return fmt.Errorf("not ready after %v: %s: %v", timeout, c.name, err)
		}
	}
	return nil
}

// openCheck returns the name of the readiness check that the process id has not passed yet;
// "" for none.
func (h *host) openCheck(id string) string {
	name, _ := h.openChecks.Load(id)
	text, _ := name.(string)
	return text
}

// checks gives the conditions of a record.
func (h *host) checks(r store.Record) (all []check) {
	ready, probe := r.Ready, h.proberFor(r)
	if ready.Port != 0 {
		all = append(all, check{fmt.Sprintf("port %d", ready.Port),
			readiness.Until(func(ctx context.Context) error { return probe.Port(ctx, ready.Port) })})
	}
	if ready.HTTP != "" {
		all = append(all, check{ready.HTTP, readiness.Until(func(ctx context.Context) error { return probe.HTTP(ctx, ready) })})
	}
	if len(ready.Command) > 0 {
		all = append(all, check{shell.Quote(ready.Command...), readiness.Until(func(ctx context.Context) error { return h.runCheck(ctx, r) })})
	}
	if ready.Log != "" {
		all = append(all, check{"log line " + ready.Log, func(ctx context.Context) error { return h.awaitLine(ctx, r) }})
	}
	return all
}

// awaitLine waits for the line that tells that a process is ready.
func (h *host) awaitLine(ctx context.Context, r store.Record) error {
	pattern, err := logs.CompilePattern(r.Name, r.Ready.Log)
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
		return errors.New("no such line appeared")
	}
	return err
}

// proberFor reaches what a record's child may reach.
func (h *host) proberFor(r store.Record) readiness.Prober {
	if !r.Sandboxed {
		return readiness.Anywhere()
	}
	layers, err := sandbox.LoadLayers(h.store.SandboxPath(r.ID))
	if err == nil && !layers.Restricted() {
		return readiness.Anywhere()
	}
	return readiness.Prober{Dial: h.proxies.dialer(r.ID), Loopback: slices.DeleteFunc([]string{"127.0.0.1", "::1", "localhost"}, func(host string) bool {
		return layers.CheckHost(host) != nil
	})}
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
