package engine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tandem/persist/datadir"
)

const lockName = datadir.EngineLock

// lockTimeout is how long an engine that was killed may still hold the lock:
// its parent knows of its end before the last of its threads is gone.
const lockTimeout = time.Second

// A folderLock keeps other engines off a data folder. The kernel drops it when this process
// ends, however that happens.
type folderLock struct {
	file    *os.File // names the holder
	records *os.File // the processes folder, which holds if somebody deletes the file
	folder  *os.File // the data folder; not locked, the keeper does that
}

func (l *folderLock) Close() {
	for _, f := range []*os.File{l.file, l.records, l.folder} {
		if f != nil {
			f.Close()
		}
	}
}

// lockFolder makes sure that no other engine works on the data folder. An engine that replaces
// another inherits its locks.
func lockFolder(dataDir string, inherited *folderLock) (l *folderLock, err error) {
	if inherited != nil {
		if inherited.folder, err = os.Open(dataDir); err != nil {
			inherited.Close()
			return nil, fmt.Errorf("lock data folder: %v", err)
		}
		_ = writePID(inherited.file)
		return inherited, nil
	}
	path := filepath.Join(dataDir, lockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, unix.EROFS) || errors.Is(err, unix.ENOSPC) {
		f, err = os.Open(path) // it can be locked all the same
	}
	if err != nil {
		return nil, fmt.Errorf("lock data folder: %v", err)
	}
	l = &folderLock{file: f}
	if err := l.take(dataDir); err != nil {
		l.Close()
		return nil, err
	}
	_ = writePID(f) // for people: a full disk must not keep an engine from its sessions
	return l, nil
}

func (l *folderLock) take(dataDir string) (err error) {
	if l.folder, err = os.Open(dataDir); err == nil {
		l.records, err = os.Open(filepath.Join(dataDir, datadir.Processes))
	}
	if err != nil {
		return fmt.Errorf("lock data folder: %v", err)
	}
	end := time.Now().Add(lockTimeout)
	err = flockUntil(l.file, end)
	if err == nil {
		// A file system that cannot lock folders leaves that to the file.
		if err = flockUntil(l.records, end); !errors.Is(err, unix.EWOULDBLOCK) {
			return nil
		}
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		pid, _ := io.ReadAll(io.LimitReader(l.file, 32))
		return fmt.Errorf("lock data folder %s: another engine (pid %s) works on it", dataDir, strings.TrimSpace(string(pid)))
	}
	return fmt.Errorf("lock data folder %s: %v", dataDir, err)
}

// flockUntil locks a file, with EWOULDBLOCK if somebody else still has it locked at end.
func flockUntil(f *os.File, end time.Time) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) || time.Now().After(end) {
			return err
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// displaced reports whether the path of the data folder leads to another folder or to none: it
// was moved or deleted, and what is there may be another engine's.
func (l *folderLock) displaced() bool {
	ours, err := l.folder.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(l.folder.Name())
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || err == nil && !os.SameFile(ours, there)
}

// writePID says who holds the lock, for people.
func writePID(f *os.File) error {
	text := strconv.Itoa(os.Getpid()) + "\n"
	if _, err := f.WriteAt([]byte(text), 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(text)))
}
