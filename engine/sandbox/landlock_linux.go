//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// What reading and writing are made of. Making device nodes belongs to
// neither: to root, a node of a disk is the whole disk.
const (
	readFiles   = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE
	readFolders = unix.LANDLOCK_ACCESS_FS_READ_DIR
	makeDevices = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
	write       = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_IOCTL_DEV | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
)

// landlockFor builds the rules of a profile. port is the proxy's. guarded are
// folders whose files could lift the sandbox.
func landlockFor(p Profile, k kernel, port uint16, guarded []string) (*ruleset, error) {
	set, err := newRuleset(handled(p, k))
	if err != nil {
		return nil, err
	}
	if err := addRules(set, p, port, guarded); err != nil {
		set.close()
		return nil, err
	}
	return set, nil
}

// handled are all rights that a kernel can refuse and the profile wants refused.
func handled(p Profile, k kernel) unix.LandlockRulesetAttr {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: readFiles | readFolders | makeDevices | write}
	if k.landlock < landlockIoctl {
		attr.Handled_access_fs &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if !k.resolveUnix {
		attr.Handled_access_fs &^= unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
	}
	if k.landlock >= landlockTCP && p.network() != openNetwork {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if k.landlock >= landlockScopes {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return attr
}

func addRules(set *ruleset, p Profile, port uint16, guarded []string) error {
	table, err := readMounts()
	if err != nil {
		return err
	}
	if err := allowReading(set, p, table); err != nil {
		return err
	}
	if err := allowWriting(set, p, table, guarded); err != nil {
		return err
	}
	if err := allowDevices(set); err != nil {
		return err
	}
	if p.NeedsProxy() {
		if err := set.allowConnect(port); err != nil {
			return fmt.Errorf("allow connections to the proxy: %w", err)
		}
	}
	return nil
}

func allowReading(set *ruleset, p Profile, table mounts) error {
	denied, err := resolveAll("denyRead", p.Filesystem.DenyRead, table)
	if err != nil {
		return err
	}
	var folders []string
	for _, path := range denied {
		if info, err := os.Lstat(path); err != nil || info.IsDir() {
			folders = append(folders, path)
		}
	}
	if len(denied) > 0 {
		// What a disk's node gives to root is everything on it.
		disks, err := blockDevices("/dev")
		if err != nil {
			return fmt.Errorf("deny reading of disks: %w", err)
		}
		denied = append(denied, disks...)
	}
	if err := allowBut(set, "/", readFiles, denied); err != nil {
		return fmt.Errorf("allow reading: %w", err)
	}
	if err := allowBut(set, "/", readFolders, folders); err != nil {
		return fmt.Errorf("allow listing: %w", err)
	}
	return nil
}

func allowWriting(set *ruleset, p Profile, table mounts, guarded []string) error {
	roots, denied, err := writable(p, table, guarded)
	if err != nil {
		return err
	}
	for _, root := range roots {
		if err := allowBut(set, root, write, denied); err != nil {
			return fmt.Errorf("allow writing: %w", err)
		}
	}
	return nil
}

// writable resolves what may be written, and what below it may not.
func writable(p Profile, table mounts, guarded []string) (roots, denied []string, err error) {
	denied, err = resolveAll("denyWrite", p.Filesystem.DenyWrite, table)
	if err != nil {
		return nil, nil, err
	}
	// A folder that could be written around what may not be read would let it
	// be renamed, and the denial miss it at the next start.
	unreadable, err := resolveAll("denyRead", p.Filesystem.DenyRead, table)
	if err != nil {
		return nil, nil, err
	}
	denied = append(denied, unreadable...)
	for _, path := range p.Filesystem.AllowWrite {
		root, err := resolve(path)
		if err == nil {
			err = checkWritable(path, root, p.Filesystem.AllowWrite)
		}
		if err == nil {
			err = checkGuarded(root, denied, guarded)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("allowWrite %s: %w", path, err)
		}
		roots = append(roots, root)
	}
	return roots, denied, nil
}

// checkPaths tells which paths of a profile would prevent a start now.
func checkPaths(p Profile, guarded []string) error {
	table, err := readMounts()
	if err == nil {
		_, _, err = writable(p, table, guarded)
	}
	if err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	return nil
}

// checkWritable refuses a path that is not there, and one that leads out of
// another that it is in: the process could have put the link there to have more
// the next time.
func checkWritable(path, root string, allowed []string) error {
	if _, err := os.Lstat(root); err != nil {
		return fmt.Errorf("%w; create it first", errors.Unwrap(err))
	}
	for _, other := range allowed {
		around, err := resolve(other)
		if err != nil {
			return err
		}
		if within(filepath.Clean(path), filepath.Clean(other)) && !within(root, around) {
			return fmt.Errorf("a symbolic link leads out of %s, to %s", other, root)
		}
	}
	return nil
}

// checkGuarded refuses to make writable what decides how the process, or
// another, is started the next time.
func checkGuarded(path string, denied, guarded []string) error {
	for _, g := range guarded {
		resolved, err := resolve(g)
		if err != nil {
			return fmt.Errorf("guard %s: %w", g, err)
		}
		if (within(resolved, path) || within(path, resolved)) && !withinAny(resolved, denied) && !withinAny(path, denied) {
			return fmt.Errorf("it would make %s writable, from where the sandbox could be lifted; name narrower folders, or add that one to denyWrite", g)
		}
	}
	return nil
}

// allowDevices grants what every program may write: the devices that keep
// nothing, and what standard input, output and error are open on for writing
// already, which some open again by name.
func allowDevices(set *ruleset) error {
	const access = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		if err := set.allowPath("/dev/"+name, access); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("allow writing of /dev/%s: %w", name, err)
		}
	}
	for fd := range 3 {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil || flags&unix.O_ACCMODE == unix.O_RDONLY {
			continue
		}
		// Pipes and what else has no path cannot have a rule, and need none.
		err = set.allowFD(fd, access)
		if err != nil && err != unix.EBADFD {
			return fmt.Errorf("allow writing of descriptor %d: %w", fd, err)
		}
	}
	return nil
}

// allowBut grants access on root and all below it but what is denied. Landlock
// cannot take back below what it grants above, so a folder with something
// denied below it gets no rule, but each of its other entries does.
func allowBut(set *ruleset, root string, access uint64, denied []string) error {
	if withinAny(root, denied) {
		return nil
	}
	below := denied[:0:0]
	for _, path := range denied {
		if within(path, root) {
			below = append(below, path)
		}
	}
	if len(below) == 0 {
		err := set.allowPath(root, access)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil // it has gone since, or is out of reach anyway
		}
		if err != nil {
			return fmt.Errorf("%s: %w", root, err)
		}
		return nil
	}
	for _, entry := range entriesOf(root, below) {
		if err := allowBut(set, filepath.Join(root, entry), access, below); err != nil {
			return err
		}
	}
	return nil
}

// entriesOf are the names in a folder. Of one that cannot be listed, those are
// known that lead to what is denied, and others lie beside it.
func entriesOf(folder string, below []string) []string {
	entries, err := os.ReadDir(folder)
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		if entry.Type()&fs.ModeSymlink == 0 {
			names = append(names, entry.Name())
		}
	}
	if err == nil {
		return names
	}
	for _, path := range below {
		rest, _ := filepath.Rel(folder, path)
		first, _, _ := strings.Cut(rest, "/")
		names = append(names, first)
	}
	return names
}

// blockDevices finds the nodes of disks in a folder and below.
func blockDevices(folder string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
			return nil
		case err != nil:
			return err
		case entry.IsDir() && (path == "/dev/shm" || path == "/dev/pts" || path == "/dev/mqueue" || path == "/dev/hugepages"):
			return fs.SkipDir
		}
		if entry.Type()&fs.ModeDevice != 0 && entry.Type()&fs.ModeCharDevice == 0 {
			found = append(found, path)
		}
		return nil
	})
	return found, err
}
