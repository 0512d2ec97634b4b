// Package trust checks whether another user may have written a file that the user's programs obey.
// It does not read the file, and leaves the decision to the caller.
package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// ErrEverybody is returned for a file or directory writable by every user.
var ErrEverybody = errors.New("anyone can write to it")

// File returns an error if the file at path must not be trusted: it belongs to a user other than
// this one and root, or everyone can write to it. The same applies to the target of a symbolic
// link, and to the directories of both. A missing file is trusted.
func File(path string) error { return check(path, os.Geteuid()) }

func check(path string, me int) error {
	paths := []string{path, filepath.Dir(path)}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		paths = append(paths, real, filepath.Dir(real))
	}
	for _, p := range paths {
		for _, look := range [...]func(string) (fs.FileInfo, error){os.Lstat, os.Stat} {
			// Both a link and its target matter, because the owner of either decides which file is
			// read.
			info, err := look(p)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				continue
			case err == nil:
				err = Owner(info, me)
			}
			if err != nil && p != path {
				return fmt.Errorf("%s: %w; %s", p, err, advice(p, err))
			}
			if err != nil {
				return fmt.Errorf("%w; %s", err, advice(p, err))
			}
		}
	}
	return nil
}

func advice(path string, err error) string {
	if errors.Is(err, ErrEverybody) {
		return "run chmod o-w " + path
	}
	return "look at it, then make it yours with chown"
}

// Owner returns an error if a user other than me and root may have made the file that info
// describes. A sticky directory may be writable by everyone, because users cannot replace each
// other's files there.
func Owner(info fs.FileInfo, me int) error {
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != me && owner.Uid != 0 {
		return errors.New("owned by " + ownerName(owner))
	}
	if mode := info.Mode(); mode&fs.ModeSymlink == 0 && mode.Perm()&0o002 != 0 && mode&fs.ModeSticky == 0 {
		return ErrEverybody
	}
	return nil
}

func ownerName(owner *syscall.Stat_t) string {
	if owner == nil {
		return "somebody unknown"
	}
	id := strconv.FormatUint(uint64(owner.Uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return "user " + u.Username
	}
	return "user " + id
}
