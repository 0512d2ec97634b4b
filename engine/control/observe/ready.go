package observe

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"tandem/engine/base/shell"
	"tandem/engine/control/readiness"
	"tandem/engine/record/logs"
	"tandem/engine/system/sandbox"
	"tandem/persist/store"
)

const defaultReadyTimeout = time.Minute

// A check is one condition of readiness. wait returns nil once it is met. If ctx ends first, it
// returns the reason why the condition is not met.
type check struct {
	name string
	wait func(ctx context.Context) error
}

// Probe implements supervise.Observer. The timeout counts only from when this engine began to
// check: a process that became ready while no engine ran is ready.
func (o *Observer) Probe(ctx context.Context, r store.Record) error {
	timeout := defaultReadyTimeout
	if r.Ready.TimeoutMS > 0 {
		timeout = time.Duration(r.Ready.TimeoutMS) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	defer o.openChecks.Delete(r.ID)
	for _, c := range o.readinessChecks(r) {
		o.openChecks.Store(r.ID, c.name)
		if err := c.wait(ctx); err != nil {
			return fmt.Errorf("not ready after %v: %s: %v", timeout, c.name, err)
		}
	}
	return nil
}

// OpenCheck returns the name of a readiness check still failing, or "".
func (o *Observer) OpenCheck(id string) string {
	name, _ := o.openChecks.Load(id)
	text, _ := name.(string)
	return text
}

// readinessChecks returns the readiness conditions in a record.
func (o *Observer) readinessChecks(r store.Record) (all []check) {
	ready, probe := r.Ready, o.proberFor(r)
	if ready.Port != 0 {
		all = append(all, check{fmt.Sprintf("port %d", ready.Port),
			readiness.Until(func(ctx context.Context) error { return probe.Port(ctx, ready.Port) })})
	}
	if ready.HTTP != "" {
		all = append(all, check{ready.HTTP, readiness.Until(func(ctx context.Context) error { return probe.HTTP(ctx, ready) })})
	}
	if len(ready.Command) > 0 {
		all = append(all, check{shell.Quote(ready.Command...), readiness.Until(func(ctx context.Context) error { return o.runCheck(ctx, r) })})
	}
	if ready.Log != "" {
		all = append(all, check{"log line " + ready.Log, func(ctx context.Context) error { return o.awaitLine(ctx, r) }})
	}
	return all
}

// awaitLine waits for the log line by which a process reports that it is ready.
func (o *Observer) awaitLine(ctx context.Context, r store.Record) error {
	pattern, err := logs.CompilePattern(r.Name, r.Ready.Log)
	if err != nil {
		return err
	}
	e, err := o.Control.EntryByID(ctx, r.ID) // may not be announced yet
	if err != nil {
		return errors.New("it was removed")
	}
	source := e.Source()
	_, _, err = o.Logs.WaitLine(ctx, source, pattern, source.Places(r.LogStart, r.ErrorLogStart))
	if err != nil && ctx.Err() != nil {
		return errors.New("no such line appeared")
	}
	return err
}

// proberFor returns a prober limited to the network access of a record's child.
func (o *Observer) proberFor(r store.Record) readiness.Prober {
	if !r.Sandboxed {
		return readiness.Anywhere()
	}
	layers, err := sandbox.LoadLayers(o.Store.SandboxPath(r.ID))
	if err == nil && !layers.Restricted() {
		return readiness.Anywhere()
	}
	return readiness.Prober{Dial: o.DialerFor(r.ID), Loopback: slices.DeleteFunc([]string{"127.0.0.1", "::1", "localhost"}, func(host string) bool {
		return layers.CheckHost(host) != nil
	})}
}

// runCheck runs the command of a readiness check with the variables and in the sandbox of the
// process. At the timeout, the command's process group is killed.
func (o *Observer) runCheck(ctx context.Context, r store.Record) error {
	argv, env, err := o.Command(r, r.Ready.Command)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = r.CWD, env
	// A process group, because children of the command must be killed too.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd.Run()
}
