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

// lockFolder makes sure that no other engine works on the data folder. The
// kernel drops the lock when this process ends, however that happens.
func lockFolder(dataDir string) (*os.File, error) {
	path := filepath.Join(dataDir, lockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, unix.EROFS) || errors.Is(err, unix.ENOSPC) {
		f, err = os.Open(path) // it can be locked all the same
	}
	if err != nil {
		return nil, fmt.Errorf("lock data folder: %v", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	for end := time.Now().Add(lockTimeout); errors.Is(err, unix.EWOULDBLOCK) && time.Now().Before(end); {
		time.Sleep(2 * time.Millisecond)
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		pid, _ := io.ReadAll(io.LimitReader(f, 32))
		f.Close()
		return nil, fmt.Errorf("lock data folder %s: another engine (pid %s) works on it",
			dataDir, strings.TrimSpace(string(pid)))
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock data folder %s: %v", dataDir, err)
	}
	_ = writePID(f) // for people: a full disk must not keep an engine from its sessions
	return f, nil
}

// holdsFolder reports whether the data folder is still the one that was locked:
// somebody may have deleted it, and perhaps made another one in its place.
func holdsFolder(lock *os.File, dataDir string) bool {
	ours, err := lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(filepath.Join(dataDir, lockName))
	return err == nil && os.SameFile(ours, there)
}

// writePID says who holds the lock, for people.
func writePID(f *os.File) error {
	text := strconv.Itoa(os.Getpid()) + "\n"
	if _, err := f.WriteAt([]byte(text), 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(text)))
}
