//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// findClosedDevices returns the device files open to a confined process only if allowWrite names
// them: terminals and other input or output of the user, the kernel's messages, memory, and disks,
// because reading a disk's node means reading every file on it.
func findClosedDevices(table mounts) ([]string, error) {
	closed, err := listClosed("/dev")
	if err != nil {
		return nil, fmt.Errorf("list devices: %w", err)
	}
	table = table.onFileSystemsOf("/dev", "/dev/pts")
	for _, path := range slices.Clone(closed) {
		closed = append(closed, table.aliases(path)...)
	}
	slices.Sort(closed)
	return slices.Compact(closed), nil
}

func listClosed(dev string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(dev, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
			return nil
		case err != nil:
			return err
		}
		name, _ := filepath.Rel(dev, path)
		isBlock := entry.Type()&fs.ModeDevice != 0 && entry.Type()&fs.ModeCharDevice == 0
		closed := isBlock || isClosed(name)
		if closed {
			found = append(found, path)
		}
		// A closed directory is covered as a whole. The others contain many files, but no device that
		// would be closed.
		if entry.IsDir() && (closed || slices.Contains([]string{"shm", "mqueue", "hugepages", "cpu"}, name)) {
			return fs.SkipDir
		}
		return nil
	})
	return found, err
}

// isClosed reports whether a device is closed, by its name below /dev, chosen by the kernel. The
// process's own /dev/tty does not match "tty?*".
func isClosed(name string) bool {
	return slices.ContainsFunc([]string{
		"pts", "console", "tty?*", "pty*", "vc", "vcs*", "hvc*", "hvsi*", "xvc*", "ircomm*", "rfcomm*",
		"fb[0-9]*", "input", "uinput", "uhid", "hidraw*", "usbmon*",
		"kmsg", "mem", "kmem", "port",
		"sg[0-9]*", "bsg", "nvme*", "ng[0-9]*",
	}, func(pattern string) bool {
		ok, _ := filepath.Match(pattern, name)
		return ok
	})
}

// deviceWrite are the rights for writing to a file without replacing it.
const deviceWrite = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV

// allowDevices grants writing to the devices every program may use, none of which store anything.
func allowDevices(set *ruleset) error {
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		if err := set.allowPath("/dev/"+name, deviceWrite); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("allow writes to /dev/%s: %w", name, err)
		}
	}
	return nil
}
