// Package trust tells whether somebody else may have written a file that the user's programs
// obey. What the file says, and what follows, is not its business.
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

// ErrEverybody is the fault of what everybody can write.
var ErrEverybody = errors.New("anyone can write to it")

// File returns why a file should not be followed: it, the file that a link there names, or the
// folder of either belongs to somebody else who is not root, or can be written by everybody.
// A file that is not there is nobody's.
func File(path string) error { return file(path, os.Geteuid()) }

func file(path string, me int) error {
	paths := []string{path, filepath.Dir(path)}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		paths = append(paths, real, filepath.Dir(real))
	}
	for _, p := range paths {
		for _, look := range [...]func(string) (fs.FileInfo, error){os.Lstat, os.Stat} { // a link may be somebody's, too
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

// Owner returns why something may be the work of others than the user me and root. In a sticky
// folder nobody replaces the files of others.
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
