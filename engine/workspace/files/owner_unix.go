//go:build unix

package files

import (
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// keepOwner gives f the owner and group of old, as far as permitted.
func keepOwner(f *os.File, old fs.FileInfo) {
	stat, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	if f.Chown(int(stat.Uid), int(stat.Gid)) != nil {
		// Without the right to change the owner, the group may still be allowed.
		_ = f.Chown(-1, int(stat.Gid))
	}
}

// ownerNames returns the names of a file's owner and group, or their numbers if they have none.
func ownerNames(info fs.FileInfo) (owner, group string) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", ""
	}
	owner, group = strconv.Itoa(int(stat.Uid)), strconv.Itoa(int(stat.Gid))
	if u, err := user.LookupId(owner); err == nil {
		owner = u.Username
	}
	if g, err := user.LookupGroupId(group); err == nil {
		group = g.Name
	}
	return owner, group
}
