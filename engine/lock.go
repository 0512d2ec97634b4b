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

// lockTimeout is how long to wait for the lock of a killed engine. The kernel releases it only with
// the last thread, but the parent learns of the exit before.
const lockTimeout = time.Second

// A folderLock keeps other engines out of a data directory. The kernel releases it when this
// process exits for any reason.
type folderLock struct {
	file    *os.File // contains the holder's PID
	records *os.File // the processes directory, still locked if the file is deleted
	folder  *os.File // the data directory; the keeper locks it, not the engine
}

func (l *folderLock) Close() {
	for _, f := range []*os.File{l.file, l.records, l.folder} {
		if f != nil {
			f.Close()
		}
	}
}

// lockFolder locks the data directory against other engines. After an upgrade in this process, it
// uses the inherited locks instead.
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
		f, err = os.Open(path) // a read-only descriptor can be locked too
	}
	if err != nil {
		return nil, fmt.Errorf("lock data folder: %v", err)
	}
	l = &folderLock{file: f}
	if err := l.acquire(dataDir); err != nil {
		l.Close()
		return nil, err
	}
	_ = writePID(f) // shown in errors only: a full disk must not stop the engine
	return l, nil
}

func (l *folderLock) acquire(dataDir string) (err error) {
	if l.folder, err = os.Open(dataDir); err == nil {
		l.records, err = os.Open(filepath.Join(dataDir, datadir.Processes))
	}
	if err != nil {
		return fmt.Errorf("lock data folder: %v", err)
	}
	end := time.Now().Add(lockTimeout)
	err = flockUntil(l.file, end)
	if err == nil {
		// On a file system that cannot lock directories, the file lock suffices.
		if err = flockUntil(l.records, end); !errors.Is(err, unix.EWOULDBLOCK) {
			return nil
		}
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		pid, _ := io.ReadAll(io.LimitReader(l.file, 32))
		return fmt.Errorf("lock data folder %s: in use by another engine (pid %s)", dataDir, strings.TrimSpace(string(pid)))
	}
	return fmt.Errorf("lock data folder %s: %v", dataDir, err)
}

// flockUntil locks f. It returns EWOULDBLOCK if another process still holds the lock at end.
func flockUntil(f *os.File, end time.Time) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) || time.Now().After(end) {
			return err
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// writePID writes the holder's PID, for error messages.
func writePID(f *os.File) error {
	text := strconv.Itoa(os.Getpid()) + "\n"
	if _, err := f.WriteAt([]byte(text), 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(text)))
}
