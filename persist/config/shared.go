package config

import (
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// updateShared changes a small file in the data directory dir that several dashboards write. While
// it holds a lock, change turns the old text into the new one; the text of a new file is empty. If
// change returns false, the file stays as it is.
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
	if err := lockFile(f); err != nil {
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

func lockFile(f *os.File) error {
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != unix.EINTR {
			return err
		}
	}
}
