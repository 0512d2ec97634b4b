//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A ruleset is a Landlock ruleset: rights that are refused unless a rule grants them.
type ruleset struct {
	fd      int
	handled uint64 // rights over files
}

// ruleFile are the rights applicable to a file other than a directory; Landlock rejects rules
// granting others on a file.
const ruleFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
	unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX

// ruleNetPort is LANDLOCK_RULE_NET_PORT in linux/landlock.h.
const ruleNetPort = 2

func newRuleset(attr unix.LandlockRulesetAttr) (*ruleset, error) {
	// The kernel accepts a longer structure than it knows if the rest is zero.
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

// allowPath grants rights on a file, or on a directory and everything below it. A symbolic link
// gets no rule, because its target has rules of its own. No link is followed on the way: the path
// was resolved earlier, so a link there now was created by another sandbox. A missing file is
// unix.ENOENT.
func (r *ruleset) allowPath(path string, access uint64) error {
	fd, err := openPath(path)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	err = r.allowFD(fd, access)
	if err == unix.EINVAL { // not a directory
		err = r.allowFD(fd, access&ruleFile)
	}
	return err
}

// openPath opens an absolute path as a reference. It follows no symbolic link; the last element may
// be one.
func openPath(path string) (fd int, err error) {
	fd, err = unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	if err == unix.ENOSYS { // inside another sandbox
		return walkPath(path)
	}
	return fd, err
}

// walkPath is openPath without openat2(2), one element at a time.
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
	return r.addRule(unix.LANDLOCK_RULE_PATH_BENEATH, unsafe.Pointer(&rule))
}

// allowConnect grants TCP connections to a port.
func (r *ruleset) allowConnect(port uint16) error {
	// struct landlock_net_port_attr { __u64 allowed_access; __u64 port; }
	var rule [16]byte
	binary.NativeEndian.PutUint64(rule[:8], unix.LANDLOCK_ACCESS_NET_CONNECT_TCP)
	binary.NativeEndian.PutUint64(rule[8:], uint64(port))
	return r.addRule(ruleNetPort, unsafe.Pointer(&rule))
}

func (r *ruleset) addRule(kind uintptr, rule unsafe.Pointer) error {
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), kind, uintptr(rule), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// restrict confines the calling thread, and everything it executes or forks, permanently.
func (r *ruleset) restrict(flags uintptr) error {
	_, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), flags, 0)
	if errno != 0 {
		return fmt.Errorf("restrict with Landlock: %w", errno)
	}
	return nil
}
