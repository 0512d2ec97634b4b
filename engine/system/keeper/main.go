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

// Main runs the keeper until it is no longer needed. If another keeper owns the data directory,
// Main asks that one to start its engine, and returns. Once the engine is ready, Main writes
// "ready\n" to ready; if it fails before, it writes one line with the error and returns the error.
// It always closes ready.
//
// Main takes over the process: it closes inherited descriptors other than ready, redirects
// standard output and error to engine.log, changes to / and reaps all children. It ignores SIGHUP
// and SIGINT. SIGTERM or the end of ctx stops it, which closes its terminals.
func Main(ctx context.Context, o Options, ready io.WriteCloser) error {
	r := &readiness{out: ready}
	err := run(ctx, o, r)
	if err == nil {
		r.report(nil)
		return nil
	}
	r.report(err)
	return err
}

// run becomes the keeper, or a client of the running one.
func run(ctx context.Context, o Options, r *readiness) error {
	o, err := o.makeAbsolute()
	if err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	for {
		// Try both locks: a deleted lock file must not allow a second keeper.
		lock, err := takeLock(filepath.Join(o.DataDir, "keeper.lock"))
		if err != nil {
			return err
		}
		if lock != nil {
			folder, err := takeFolder(o.DataDir)
			if err == nil {
				return runKeeper(ctx, o, &folderLock{file: lock, folder: folder}, r)
			}
			lock.Close()
			if !errors.Is(err, errOccupied) {
				return err
			}
		}
		if err := askKeeper(waiting, o); !errors.Is(err, errNoKeeper) {
			return err
		}
		// The other keeper is about to listen, or to exit.
		select {
		case <-waiting.Done():
			return fmt.Errorf("wake the keeper that has %s locked: %w", o.DataDir, errNoKeeper)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// maxWait bounds the wait for another keeper's engine; clients give up earlier.
const maxWait = time.Minute

// askKeeper asks the running keeper to do what this process was started for.
func askKeeper(ctx context.Context, o Options) error {
	if o.EnginePID != 0 {
		return reachKeeper(ctx, o)
	}
	return wakeKeeper(ctx, o)
}

// makeAbsolute returns o with absolute paths, and creates the data directory.
func (o Options) makeAbsolute() (Options, error) {
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

// takeLock locks the file at path. It returns nil if another process holds the lock. The kernel
// releases the lock when the process exits.
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

// A folderLock is a keeper's lock on its data directory. It holds the lock file and the directory
// itself, so that no second keeper starts if the file is deleted.
type folderLock struct {
	file   *os.File
	folder *os.File // compared with the directory at its path
}

func (l *folderLock) close() {
	l.file.Close()
	l.folder.Close()
}

// renew recreates a deleted lock file. Keepers of older releases check nothing else.
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

// IsDisplaced reports whether an open data directory was moved or deleted: its path leads to no
// directory, or to another one that another keeper or engine may use.
func IsDisplaced(folder *os.File) bool {
	ours, err := folder.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(folder.Name())
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || err == nil && !os.SameFile(ours, there)
}

// errOccupied means that another process has locked the data directory.
var errOccupied = errors.New("the data folder is locked")

// takeFolder opens and locks the data directory. If its file system cannot lock directories, only
// the lock file protects it.
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

// errNoKeeper means that the process holding the lock does not answer.
var errNoKeeper = errors.New("keeper does not answer")

// dialKeeper connects to the keeper holding the lock.
func dialKeeper(ctx context.Context, o Options) (*net.UnixConn, error) {
	conn, err := dialSocket(ctx, o.Socket)
	if err != nil && o.DataDir != "" {
		if spare, spareErr := dialSocket(ctx, o.spareSocket()); spareErr == nil {
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

// dialOnce returns nil if it could connect to the running keeper as an engine does.
func dialOnce(ctx context.Context, socket string) error {
	return reachKeeper(ctx, Options{Socket: socket})
}

func reachKeeper(ctx context.Context, o Options) error {
	conn, err := dialKeeper(ctx, o)
	if err != nil {
		return err
	}
	return conn.Close()
}

// wakeAt asks a running keeper for an engine and waits until it is ready.
func wakeAt(ctx context.Context, socket string) error {
	return wakeKeeper(ctx, Options{Socket: socket})
}

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
		return bad.replyError(l)
	case err != nil:
		return errNoKeeper
	case m.Error != "":
		return errors.New(m.Error)
	}
	return nil
}

// A readiness is the pipe on which the keeper's starter waits. It is written once.
type readiness struct {
	out io.WriteCloser // nil once written
}

func (r *readiness) report(err error) {
	if r.out == nil {
		return
	}
	line := "ready\n"
	if err != nil {
		line = oneLine(err.Error()) + "\n"
	}
	// The reader may have exited.
	_, _ = io.WriteString(r.out, line)
	_ = r.out.Close()
	r.out = nil
}
