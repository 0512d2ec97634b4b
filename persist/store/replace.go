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
	// A temporary file this old was left by a crash, whoever has its writer's
	// number now: nobody takes that long to write and rename one.
	tempAge = 10 * time.Minute
)

// createTemp makes a temporary file (0600) in dir for writing name. It is called
// after this process, so that it goes at the next start if this one is killed.
func createTemp(dir, name string) (*os.File, error) {
	return os.CreateTemp(dir, fmt.Sprintf("%s%s-%d-*%s", datadir.TempPrefix, name, os.Getpid(), datadir.TempSuffix))
}

func isTemp(name string) bool {
	return strings.HasPrefix(name, datadir.TempPrefix) && strings.HasSuffix(name, datadir.TempSuffix)
}

// writerGone reports whether nobody writes the temporary file of a name any
// more.
func writerGone(name string) bool {
	parts := strings.Split(name, "-")
	if len(parts) < 3 {
		return false
	}
	pid, err := strconv.Atoi(parts[len(parts)-2])
	return err == nil && pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// replaceFile gives the file at path new content: afterwards it holds either
// the old content or the new one, whatever happens. With durable set that
// includes a loss of power, and the new content is on disk on return.
func replaceFile(path string, durable bool, parts ...[]byte) error {
	temp, err := writeTemp(path, durable, parts...)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if durable {
		return syncDir(filepath.Dir(path))
	}
	return nil
}

// overwrite gives the file at path new content of the same length, if that is
// short enough to be one page: the death of a process cannot come between its
// parts, and the disk has the old page or the new one. It reports whether it
// could.
func overwrite(path string, content []byte) bool {
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

// writeTemp writes what is to become the file at path into a temporary file
// beside it.
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

// syncDir makes names in dir that were added, removed or renamed durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// removeStaleTemps deletes temporary files that a crash has left in dir. It
// spares young ones that may be somebody's at this moment.
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
