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

// closedDevices finds the device files that a confined process can open only
// where allowWrite names them: terminals and what else somebody types into or
// looks at, the kernel's messages, memory, and disks, whose nodes are everything on
// them to whoever may read these.
func closedDevices(table mounts) ([]string, error) {
	closed, err := findClosed("/dev")
	if err != nil {
		return nil, fmt.Errorf("list devices: %w", err)
	}
	table = table.sharing("/dev", "/dev/pts")
	for _, path := range slices.Clone(closed) {
		closed = append(closed, table.aliases(path)...)
	}
	slices.Sort(closed)
	return slices.Compact(closed), nil
}

func findClosed(dev string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(dev, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
			return nil
		case err != nil:
			return err
		}
		name, _ := filepath.Rel(dev, path)
		switch {
		case closes(name), entry.Type()&fs.ModeDevice != 0 && entry.Type()&fs.ModeCharDevice == 0:
			found = append(found, path)
		case !entry.IsDir() || !slices.Contains([]string{"shm", "mqueue", "hugepages", "cpu"}, name):
			return nil
		}
		if entry.IsDir() { // closed as a whole, or many files and none of them a device of ours
			return fs.SkipDir
		}
		return nil
	})
	return found, err
}

// closes tells by its name below /dev, which the kernel gives, whether a device
// is closed. Only /dev/tty begins with "tty" and is the process's own.
func closes(name string) bool {
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

// writing are the rights on a file that is written and not replaced.
const writing = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV

// allowDevices grants what every program may write: the devices that keep
// nothing.
func allowDevices(set *ruleset) error {
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		if err := set.allowPath("/dev/"+name, writing); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("allow writing of /dev/%s: %w", name, err)
		}
	}
	return nil
}
