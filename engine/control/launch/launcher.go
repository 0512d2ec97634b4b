package launch

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"syscall"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/sleep"
	"tandem/engine/control/supervise"
	"tandem/engine/control/tampering"
	"tandem/engine/session/prompt"
	"tandem/engine/system/keeper"
	"tandem/engine/system/proctree"
	"tandem/engine/system/sandbox"
	"tandem/persist/store"
)

// lateExitWait is how long to wait until the keeper has forgotten an exited child.
const lateExitWait = 2 * time.Second

// A Launcher starts the children of records.
type Launcher struct {
	DataDir, Version, BootID string

	Log     *slog.Logger
	Store   *store.Store
	Control *supervise.Control
	Link    *Link
	Table   *proctree.Table
	Exits   Exits
	Cgroups proctree.Cgroups
	Proxies sandbox.Proxies
	Tampers tampering.Watch          // on files in folders that children can write
	Closed  []string                 // directories closed to agents
	Env     func() map[string]string // variables shared by all children
	Keys    func() prompt.Keys       // marks the prompts of shells

	// StopTree stops a child and all its descendants.
	StopTree func(ctx context.Context, r store.Record, aliveUntil uint64, signal string) error
}

// Exits is what a Launcher uses of the observer.
type Exits interface {
	Read(id string) (store.Exit, bool)
	Report(child keeper.Child)
	LogsOf(r store.Record) keeper.Logs
	LogLimit(r store.Record) int64
}

// Release frees what an exited child no longer needs: its network access and its cgroup.
func (l *Launcher) Release(id string) {
	l.Tampers.End(id)
	l.Proxies.Revoke(id)
	l.Cgroups.Drop(id)
}

// Close closes all proxies, and removes the cgroups that still had processes at Release.
func (l *Launcher) Close() {
	l.Cgroups.Close()
	l.Proxies.Close()
}

// ErrCancelled returns why a start was cancelled.
func (l *Launcher) ErrCancelled(r store.Record) error {
	if l.Control.Context().Err() != nil {
		return api.ErrEnding()
	}
	return api.Errorf(api.CodeConflict, "start %s: it was asked to stop before it started", r.Name)
}

// Start asks the keeper to start a record's child, and returns its terminal's master. Once the
// keeper has been asked, ctx no longer cancels the start. former is the previous child. Start calls
// onWait before it waits for long.
func (l *Launcher) Start(ctx context.Context, r store.Record, former store.Identity, onWait func()) (_ supervise.Launch, _ *os.File, err error) {
	defer func() {
		if err != nil {
			l.Tampers.End(r.ID)
		}
	}()
	if l.Link.PID() == 0 {
		onWait()
	}
	client, err := l.Link.Await(ctx)
	if ctx.Err() != nil {
		return supervise.Launch{}, nil, l.ErrCancelled(r)
	}
	if err != nil {
		return supervise.Launch{}, nil, err
	}
	// From here on the child may exist, so only the exit of the engine may interrupt the start.
	running := l.Control.Context()
	spec, w, err := l.makeSpec(r, client.PID())
	if err != nil {
		return supervise.Launch{}, nil, api.Errorf(api.CodeInvalid, "%v", err)
	}
	began, since := time.Now(), proctree.BootTicks()
	child, master, err := startChild(running, client, r, spec)
	if err != nil && running.Err() == nil && !errors.Is(err, keeper.ErrLost) {
		onWait()
		child, master, err = l.retryOccupied(running, client, spec, err)
	}
	if errors.Is(err, keeper.ErrLost) && running.Err() == nil {
		onWait()
		child, master, err = l.recoverStart(running, r, former, since)
	}
	switch {
	case err == nil:
		return supervise.Launch{Child: child, Began: began, ProxyURL: w.proxyURL}, master, nil
	case running.Err() != nil:
		return supervise.Launch{}, nil, api.ErrEnding()
	case errors.Is(err, api.CodeUnavailable), errors.Is(err, api.CodeUnsure):
		return supervise.Launch{}, nil, err
	}
	return supervise.Launch{}, nil, api.Errorf(api.CodeInvalid, "%v", err).WithReason(startReason(spec, err))
}

// makeSpec returns the request for the keeper.
func (l *Launcher) makeSpec(r store.Record, keeperPID int) (spec keeper.Spec, w launchCommand, err error) {
	spec = keeper.Spec{ID: r.ID, Dir: l.Store.Dir(r.ID), CWD: r.CWD, TTY: r.TTY, Transient: r.Transient}
	if w, err = l.commandFor(r, keeperPID); err != nil {
		return spec, w, err
	}
	spec.Argv, spec.Env = w.argv, w.env
	if l.Cgroups.Create(r.Cgroup) {
		spec.Cgroup = r.Cgroup
	}
	if r.TTY {
		spec.Cols, spec.Rows = uint16(r.Cols), uint16(r.Rows)
	} else {
		spec.Stdout, spec.Stderr, spec.LogLimit = l.Store.LogPath(r), l.Store.ErrorLogPath(r), l.Exits.LogLimit(r)
		spec.Stdin, err = l.makeInput(r)
	}
	return spec, w, err
}

// makeInput creates a FIFO for the standard input of a child and returns its path, or "" for
// /dev/null. The child keeps both ends open, so the FIFO outlives engine and keeper and never
// reaches its end. Many programs that watch files would exit at the end of their input.
func (l *Launcher) makeInput(r store.Record) (string, error) {
	if r.NoStdin {
		return "", nil
	}
	path := l.Store.InputPath(r.ID)
	if err := syscall.Mkfifo(path, 0o600); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return path, nil
}

// retryOccupied handles a start that the keeper refused because it already has a child with this
// id. If that child has exited, the keeper is about to forget it, and the start is repeated. If it
// is running, an earlier engine started it, and it is returned.
func (l *Launcher) retryOccupied(ctx context.Context, client Children, spec keeper.Spec, refused error) (keeper.Child, *os.File, error) {
	for end := time.Now().Add(lateExitWait); ; {
		all, err := client.List(ctx)
		if err != nil {
			return keeper.Child{}, nil, err
		}
		i := slices.IndexFunc(all, func(c keeper.Child) bool { return c.ID == spec.ID && c.Exit == nil })
		switch {
		case i < 0:
			return client.Start(ctx, spec)
		case supervise.IdentityOf(all[i]).Alive() && spec.TTY:
			master, err := client.Master(ctx, spec.ID)
			return all[i], master, err
		case supervise.IdentityOf(all[i]).Alive():
			return all[i], nil, nil
		case time.Now().After(end):
			return keeper.Child{}, nil, refused
		}
		if err := sleep.For(ctx, 2*time.Millisecond); err != nil {
			return keeper.Child{}, nil, err
		}
	}
}
