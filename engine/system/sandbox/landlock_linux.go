//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// The rights forming read and write access. Creating device nodes belongs to neither: for root, a
// node of a disk is the whole disk.
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

// rulesFor builds a ruleset for each layer, to be applied in turn. port is the proxy's. guarded are
// directories whose files could lift the sandbox.
func rulesFor(l Layers, k kernel, port uint16, guarded []string) (sets []*ruleset, err error) {
	table, err := readMounts()
	if err != nil {
		return nil, err
	}
	all, err := resolveLayers(l, table, guarded)
	if err != nil {
		return nil, err
	}
	// Common rules go into the first layer only, because all layers apply anyway.
	if all[0].closed, err = findClosedDevices(table); err != nil {
		return nil, err
	}
	own, err := resolveAll("close", guarded, table) // logs, pipes and locks of other processes
	if err != nil {
		return nil, err
	}
	all[0].closed = append(all[0].closed, own...)
	defer func() {
		if err != nil {
			closeAll(sets)
		}
	}()
	for i, named := range all {
		set, err := newRuleset(rightsFor(i, l.network(), k))
		if err != nil {
			return sets, err
		}
		sets = append(sets, set)
		if err := addRules(set, named); err != nil {
			return sets, l.wrapLayer(i, err)
		}
	}
	if l.NeedsProxy() {
		if err := sets[0].allowConnect(port); err != nil {
			return sets, fmt.Errorf("allow connections to the proxy: %w", err)
		}
	}
	return sets, nil
}

// rightsFor returns all rights the kernel can restrict, for one layer. Rights without differences
// between layers are left to the first one.
func rightsFor(layer int, network access, k kernel) unix.LandlockRulesetAttr {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: readFiles | readFolders | makeDevices | write}
	if k.landlock < landlockIoctl {
		attr.Handled_access_fs &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if !k.resolveUnix {
		attr.Handled_access_fs &^= unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
	}
	if layer > 0 {
		return attr
	}
	if k.landlock >= landlockTCP && network != openNetwork {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if k.landlock >= landlockScopes {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return attr
}

func addRules(set *ruleset, named paths) error {
	if err := allowReading(set, named); err != nil {
		return err
	}
	for _, root := range named.writable {
		writing := part{write, slices.Concat(named.unwritable, named.closed)}
		if isWithinAny(root, named.closed) { // the root is itself a closed device
			writing = part{write | unix.LANDLOCK_ACCESS_FS_READ_FILE, named.unwritable}
		}
		if err := allowExcept(set, root, writing); err != nil {
			return fmt.Errorf("allow writing: %w", err)
		}
	}
	return allowDevices(set)
}

func allowReading(set *ruleset, named paths) error {
	var folders []string
	for _, path := range named.unreadable {
		if info, err := os.Lstat(path); err != nil || info.IsDir() {
			folders = append(folders, path)
		}
	}
	err := allowExcept(set, "/", part{readFiles, slices.Concat(named.unreadable, named.closed)}, part{readFolders, folders})
	if err != nil {
		return fmt.Errorf("allow reading: %w", err)
	}
	return nil
}

// paths are the resolved paths of a layer.
type paths struct {
	unreadable []string
	writable   []string
	unwritable []string
	original   []string // writable as written in the profile
	closed     []string // devices and guarded directories, in the first layer only: they cannot even be written through a directory
}

// resolveLayers resolves the paths of all layers.
func resolveLayers(l Layers, table mounts, guarded []string) ([]paths, error) {
	var all []paths
	for i, p := range l {
		named, err := resolveProfile(p.Filesystem, table)
		if err != nil {
			return nil, l.wrapLayer(i, err)
		}
		all = append(all, named)
	}
	for _, g := range guarded {
		if err := checkGuarded(g, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func resolveProfile(f Filesystem, table mounts) (paths, error) {
	unreadable, err := resolveAll("denyRead", f.DenyRead, table)
	if err != nil {
		return paths{}, err
	}
	unwritable, err := resolveAll("denyWrite", f.DenyWrite, table)
	if err != nil {
		return paths{}, err
	}
	// If a directory around a denied path were writable, renaming it would make the denial miss the
	// path at the next start.
	named := paths{unreadable: unreadable, unwritable: append(unwritable, unreadable...), original: f.AllowWrite}
	for _, path := range f.AllowWrite {
		root, err := resolvePath(path)
		if err == nil {
			err = checkWritable(path, root, f.AllowWrite)
		}
		if err != nil {
			return paths{}, fmt.Errorf("allowWrite %s: %w", path, err)
		}
		named.writable = append(named.writable, root)
	}
	return named, nil
}

// checkPaths returns an error if a path would prevent a start now.
func checkPaths(l Layers, guarded []string) error {
	table, err := readMounts()
	if err == nil {
		_, err = resolveLayers(l, table, guarded)
	}
	if err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	return nil
}

// checkWritable rejects a missing path. It also rejects a path inside another allowed path if it
// leads out of that through a link: the process could have created that link to get more access at
// its next start.
func checkWritable(path, root string, allowed []string) error {
	if _, err := os.Lstat(root); err != nil {
		return fmt.Errorf("%w; create it first", errors.Unwrap(err))
	}
	for _, other := range allowed {
		around, err := resolvePath(other)
		if err != nil {
			return err
		}
		if isWithin(filepath.Clean(path), filepath.Clean(other)) && !isWithin(root, around) {
			return fmt.Errorf("a symbolic link leads out of %s, to %s", other, root)
		}
	}
	return nil
}

// checkGuarded rejects layers that make a guarded directory writable, because its files decide how
// this or another process is started the next time. One layer denying it suffices.
func checkGuarded(guarded string, all []paths) error {
	resolved, err := resolvePath(guarded)
	if err != nil {
		return fmt.Errorf("guard %s: %w", guarded, err)
	}
	opened := ""
	for _, named := range all {
		if opened = named.findOpening(resolved); opened == "" {
			return nil
		}
	}
	return fmt.Errorf("allowWrite %s: it would make %s writable, which a program could use to lift the sandbox; name narrower folders, or add that one to denyWrite", opened, guarded)
}

// findOpening returns the path in allowWrite that makes part of a directory writable; "" if none
// does.
func (named paths) findOpening(folder string) string {
	if isWithinAny(folder, named.unwritable) {
		return ""
	}
	for i, root := range named.writable {
		if (isWithin(folder, root) || isWithin(root, folder)) && !isWithinAny(root, named.unwritable) {
			return named.original[i]
		}
	}
	return ""
}

// A part is access to a directory and everything below it, except denied paths.
type part struct {
	access uint64
	denied []string
}

// allowExcept grants parts of the access to root. Landlock cannot revoke below a grant, so a
// directory with a denied path below it gets no rule; each of its other entries does.
func allowExcept(set *ruleset, root string, parts ...part) error {
	var whole uint64
	var divided []part
	for _, p := range parts {
		if isWithinAny(root, p.denied) {
			continue
		}
		below := part{access: p.access}
		for _, path := range p.denied {
			if isWithin(path, root) {
				below.denied = append(below.denied, path)
			}
		}
		if len(below.denied) == 0 {
			whole |= p.access
		} else {
			divided = append(divided, below)
		}
	}
	if whole != 0 {
		err := set.allowPath(root, whole)
		gone := errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) // removed meanwhile, or unreachable anyway
		if err != nil && !gone {
			return fmt.Errorf("%s: %w", root, err)
		}
	}
	if len(divided) == 0 {
		return nil
	}
	for _, entry := range listEntries(root, divided) {
		if err := allowExcept(set, filepath.Join(root, entry), divided...); err != nil {
			return err
		}
	}
	return nil
}

// listEntries returns the names in a directory. If it cannot be listed, the names on the way to
// denied paths are known, and their siblings are unreachable anyway.
func listEntries(folder string, divided []part) []string {
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
	for _, p := range divided {
		for _, path := range p.denied {
			rest, _ := filepath.Rel(folder, path)
			first, _, _ := strings.Cut(rest, "/")
			names = append(names, first)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
