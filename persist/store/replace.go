package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"tandem/persist/datadir"
)

const (
	// tempAge is the age at which a temporary file counts as left by a crash, even if a process has
	// the PID of its writer. Writing and renaming a file never takes so long.
	tempAge = 10 * time.Minute
)

// createTemp creates a temporary file (0600) in dir, for writing the file called name. Its own name
// contains our PID, so the next start can remove it if this process is killed.
func createTemp(dir, name string) (*os.File, error) {
	return os.CreateTemp(dir, fmt.Sprintf("%s%s-%d-*%s", datadir.TempPrefix, name, os.Getpid(), datadir.TempSuffix))
}

func isTemp(name string) bool {
	return strings.HasPrefix(name, datadir.TempPrefix) && strings.HasSuffix(name, datadir.TempSuffix)
}

// writerGone reports whether the process that created a temporary file has exited.
func writerGone(name string) bool {
	parts := strings.Split(name, "-")
	if len(parts) < 3 {
		return false
	}
	pid, err := strconv.Atoi(parts[len(parts)-2])
	return err == nil && pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// replaceFile replaces the content of the file at path atomically. If durable is set, even a power
// failure cannot interrupt it, and the new content is on disk when it returns.
func replaceFile(path string, durable bool, parts ...[]byte) error {
	temp, err := writeTemp(path, durable, parts...)
	if err != nil {
		return err
	}
	// The rename is atomic: readers see either the old file or the new one.
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if durable {
		// Without this, a power failure may undo the rename.
		return syncDir(filepath.Dir(path))
	}
	return nil
}

// overwriteInPlace replaces the content of the file at path with content of the same length, if it
// fits in one page. Killing the process cannot interrupt a write within a page, and the disk has
// either the old page or the new one. It returns false if it could not.
func overwriteInPlace(path string, content []byte) bool {
	const page = 4096
	if len(content) > page {
		return false
	}
	f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() && info.Size() == int64(len(content)) {
		_, err = f.Write(content)
	} else {
		err = errors.ErrUnsupported
	}
	return errors.Join(err, f.Close()) == nil
}

// Replace replaces the content of the file at path as a whole, and waits until it is on disk.
func Replace(path string, content []byte) error { return replaceFile(path, true, content) }

// writeTemp writes the new content of the file at path to a temporary file beside it. It returns
// the path of the temporary file.
func writeTemp(path string, durable bool, parts ...[]byte) (string, error) {
	dir, name := filepath.Split(path)
	f, err := createTemp(dir, name)
	if err != nil {
		return "", err
	}
	if err := writeAndClose(f, durable, parts); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

func writeAndClose(f *os.File, durable bool, parts [][]byte) error {
	for _, p := range parts {
		if _, err := f.Write(p); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	if durable {
		if err := f.Sync(); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return f.Close()
}

// syncDir makes changes of the entries of dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// removeStaleTemps deletes the temporary files in dir that a crash has left. It skips recent ones
// of running processes.
func removeStaleTemps(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("clean folder %s: %w", dir, err)
	}
	var errs []error
	for _, e := range entries {
		if !isTemp(e.Name()) {
			continue
		}
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < tempAge && !writerGone(e.Name()) {
			continue
		}
		errs = append(errs, os.Remove(filepath.Join(dir, e.Name())))
	}
	return errors.Join(errs...)
}
