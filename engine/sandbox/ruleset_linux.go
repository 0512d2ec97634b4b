//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A ruleset is a Landlock ruleset: rights that are refused unless a rule
// grants them.
type ruleset struct {
	fd      int
	handled uint64 // rights over files
}

// ruleFile are the rights that make sense on what is not a folder; Landlock
// refuses rules that grant others on a file.
const ruleFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
	unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX

// ruleNetPort is LANDLOCK_RULE_NET_PORT of linux/landlock.h.
const ruleNetPort = 2

func newRuleset(attr unix.LandlockRulesetAttr) (*ruleset, error) {
	// The kernel takes a longer structure than it knows if the rest is zero.
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return nil, fmt.Errorf("create Landlock ruleset: %w", errno)
	}
	return &ruleset{fd: int(fd), handled: attr.Handled_access_fs}, nil
}

func (r *ruleset) close() {
	unix.Close(r.fd)
}

func closeAll(sets []*ruleset) {
	for _, set := range sets {
		set.close()
	}
}

// allowPath grants rights on a file, or on a folder and all below it. A
// symbolic link is left alone: what it leads to has rules of its own. On the way
// there is none, as the path was resolved: one that was put there since, by
// what another sandbox lets write there, leads nowhere. It tells unix.ENOENT when
// no such file.
func (r *ruleset) allowPath(path string, access uint64) error {
	fd, err := openPath(path)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	err = r.allowFD(fd, access)
	if err == unix.EINVAL { // it is not a folder
		err = r.allowFD(fd, access&ruleFile)
	}
	return err
}

// openPath opens an absolute path for naming it. No symbolic link is followed; the
// last element may be one.
func openPath(path string) (fd int, err error) {
	fd, err = unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	if err == unix.ENOSYS { // this is a sandbox already
		return walkPath(path)
	}
	return fd, err
}

// walkPath does what openPath does, an element at a time.
func walkPath(path string) (fd int, err error) {
	const flags = unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC
	if fd, err = unix.Open("/", flags, 0); err != nil {
		return -1, err
	}
	for name := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if name == "" {
			continue
		}
		next, err := unix.Openat(fd, name, flags, 0)
		if err == unix.ENOTDIR && isLink(fd) {
			err = unix.ELOOP
		}
		unix.Close(fd)
		if err != nil {
			return -1, err
		}
		fd = next
	}
	return fd, nil
}

func isLink(fd int) bool {
	var info unix.Stat_t
	return unix.Fstat(fd, &info) == nil && info.Mode&unix.S_IFMT == unix.S_IFLNK
}

func (r *ruleset) allowFD(fd int, access uint64) error {
	if access &= r.handled; access == 0 {
		return nil
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	return r.add(unix.LANDLOCK_RULE_PATH_BENEATH, unsafe.Pointer(&rule))
}

// allowConnect grants TCP connections to a port.
func (r *ruleset) allowConnect(port uint16) error {
	// struct landlock_net_port_attr { __u64 allowed_access; __u64 port; }
	var rule [16]byte
	binary.NativeEndian.PutUint64(rule[:8], unix.LANDLOCK_ACCESS_NET_CONNECT_TCP)
	binary.NativeEndian.PutUint64(rule[8:], uint64(port))
	return r.add(ruleNetPort, unsafe.Pointer(&rule))
}

func (r *ruleset) add(kind uintptr, rule unsafe.Pointer) error {
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), kind, uintptr(rule), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// restrict confines the calling thread, and what it executes and forks, for good.
func (r *ruleset) restrict(flags uintptr) error {
	_, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), flags, 0)
	if errno != 0 {
		return fmt.Errorf("restrict with Landlock: %w", errno)
	}
	return nil
}
