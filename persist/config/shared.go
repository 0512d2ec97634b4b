package config

import (
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// updateShared changes a small file of the data directory dir that several dashboards write. It
// holds a lock while change turns the old text, empty for a new file, into the new one. If change
// returns false, the file stays as it is.
func updateShared(dir, name string, change func(text []byte) ([]byte, bool)) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close() // which unlocks it
	// Lock before reading: another dashboard may be between its read and write.
	if err := lockFile(f, unix.LOCK_EX); err != nil {
		return err
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	text, changed := change(text)
	if !changed {
		return nil
	}
	if _, err := f.WriteAt(text, 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(text)))
}

// readShared reads a file of updateShared under a shared lock.
func readShared(dir, name string) ([]byte, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := lockFile(f, unix.LOCK_SH); err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}

func lockFile(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}
