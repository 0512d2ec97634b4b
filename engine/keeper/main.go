package keeper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Main runs the keeper until nothing needs it. If another keeper has the data
// folder already, it asks that one to start its engine instead and returns.
// Once the engine says it is ready, "ready\n" is written to ready; whatever
// prevents that is written there as one line of error and returned. It closes
// ready in every case.
//
// Main takes the process over: it closes the descriptors that were inherited
// besides ready, sends standard output and error to engine.log, changes to / and
// reaps every child. SIGHUP and SIGINT are ignored; SIGTERM or the end of ctx
// ends it, which closes its terminals.
func Main(ctx context.Context, o Options, ready io.WriteCloser) error {
	r := &readiness{out: ready}
	err := run(ctx, o, r)
	if err == nil {
		r.tell(nil)
		return nil
	}
	r.tell(err)
	return err
}

// run becomes the keeper, or a client of the one there is.
func run(ctx context.Context, o Options, r *readiness) error {
	o, err := o.prepared()
	if err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	for {
		lock, err := takeLock(filepath.Join(o.DataDir, "keeper.lock"))
		if err != nil {
			return err
		}
		if lock != nil {
			folder, err := takeFolder(o.DataDir)
			if err == nil {
				return keep(ctx, o, &folderLock{file: lock, folder: folder}, r)
			}
			lock.Close()
			if !errors.Is(err, errOccupied) {
				return err
			}
		}
		if err := askKeeper(waiting, o); !errors.Is(err, errNoKeeper) {
			return err
		}
		// The other keeper is about to listen, or to end.
		select {
		case <-waiting.Done():
			return fmt.Errorf("wake the keeper that has %s locked: %w", o.DataDir, errNoKeeper)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// maxWait bounds how long a process waits for another one's engine: whoever
// wanted it has gone by then.
const maxWait = time.Minute

// askKeeper gets from the running keeper what this one was started for.
func askKeeper(ctx context.Context, o Options) error {
	if o.EnginePID != 0 {
		return reachKeeper(ctx, o)
	}
	return wakeKeeper(ctx, o)
}

// prepared makes paths absolute and the folders they need.
func (o Options) prepared() (Options, error) {
	for _, path := range []*string{&o.DataDir, &o.Socket} {
		abs, err := filepath.Abs(*path)
		if err != nil {
			return o, fmt.Errorf("find folder %s: %w", *path, err)
		}
		*path = abs
	}
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		return o, fmt.Errorf("make folder: %w", err)
	}
	return o, nil
}

// takeLock gives nil when another process has the lock. The kernel drops it when
// the process ends, however that happens.
func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	switch err := flock(f); err {
	case nil:
		return f, nil
	case unix.EWOULDBLOCK:
		f.Close()
		return nil, nil
	default:
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
}

// A folderLock is a keeper's lock on its data directory. It holds the lock file and the
// directory itself, so that no second keeper starts if the file is deleted.
type folderLock struct {
	file   *os.File
	folder *os.File // compared with what the path leads to now
}

func (l *folderLock) close() {
	l.file.Close()
	l.folder.Close()
}

// renew recreates a deleted lock file: keepers of older releases check nothing else.
func (l *folderLock) renew() error {
	path := l.file.Name()
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	file, err := takeLock(path)
	if file == nil {
		return err
	}
	l.file.Close()
	l.file = file
	return nil
}

// displaced reports whether the data directory was moved or deleted: its path leads to another
// directory, which another keeper may use, or to none.
func (l *folderLock) displaced() bool {
	ours, err := l.folder.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(l.folder.Name())
	return errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(ours, there)
}

// errOccupied means that another process has locked the data directory.
var errOccupied = errors.New("the data folder is locked")

// takeFolder opens and locks the data directory. On a file system that cannot lock
// directories, only the lock file protects it.
func takeFolder(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("open data folder: %w", err)
	}
	if flock(f) == unix.EWOULDBLOCK {
		f.Close()
		return nil, errOccupied
	}
	return f, nil
}

func flock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err != unix.EINTR {
			return err
		}
	}
}

// errNoKeeper: whoever has the lock does not answer (yet, or any more).
var errNoKeeper = errors.New("keeper does not answer")

// dialKeeper connects to the keeper that has the lock.
func dialKeeper(ctx context.Context, o Options) (*net.UnixConn, error) {
	conn, err := connect(ctx, o.Socket)
	if err != nil && o.DataDir != "" {
		if spare, spareErr := connect(ctx, o.spareSocket()); spareErr == nil {
			return spare, nil
		}
	}
	var netErr net.Error
	late := errors.As(err, &netErr) && netErr.Timeout()
	if late || errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return nil, errNoKeeper
	}
	return conn, err
}

// reach succeeds when an engine can dial the running keeper.
func reach(ctx context.Context, socket string) error {
	return reachKeeper(ctx, Options{Socket: socket})
}

func reachKeeper(ctx context.Context, o Options) error {
	conn, err := dialKeeper(ctx, o)
	if err != nil {
		return err
	}
	return conn.Close()
}

// wake asks a running keeper for a running engine and waits until there is one.
func wake(ctx context.Context, socket string) error { return wakeKeeper(ctx, Options{Socket: socket}) }

func wakeKeeper(ctx context.Context, o Options) error {
	conn, err := dialKeeper(ctx, o)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	l := newLink(conn)
	p, err := encode(message{Op: opWake})
	if err != nil {
		return err
	}
	if err := l.send(p); err != nil {
		return errNoKeeper
	}
	m, fds, err := l.receive()
	closeFDs(fds)
	var bad *badMessage
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("wait for the engine: %w", ctx.Err())
	case errors.As(err, &bad):
		return bad.ofReply(l)
	case err != nil:
		return errNoKeeper
	case m.Error != "":
		return errors.New(m.Error)
	}
	return nil
}

// A readiness is the pipe on which whoever started the keeper waits. It is
// told once.
type readiness struct {
	out io.WriteCloser // nil once told
}

func (r *readiness) tell(err error) {
	if r.out == nil {
		return
	}
	line := "ready\n"
	if err != nil {
		line = oneLine(err.Error()) + "\n"
	}
	// Nobody may be there to read it any more.
	_, _ = io.WriteString(r.out, line)
	_ = r.out.Close()
	r.out = nil
}
