package terminal

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"tandem/engine/pty"
	"tandem/engine/vt"
)

// isLocalFolder reports whether a directory reported by a program is on this machine, as the
// program may run on another one through ssh. A directory without a host counts if it exists here.
func isLocalFolder(e vt.CWDEvent) bool {
	if e.Host == "" {
		info, err := os.Stat(e.Path)
		return err == nil && info.IsDir()
	}
	own, err := os.Hostname()
	return err != nil || sameHost(e.Host, "localhost") || sameHost(e.Host, own)
}

// sameHost compares host names with or without their domain.
func sameHost(a, b string) bool {
	a, domainA, _ := strings.Cut(a, ".")
	b, domainB, _ := strings.Cut(b, ".")
	return strings.EqualFold(a, b) && (domainA == "" || domainB == "" || strings.EqualFold(domainA, domainB))
}

// Folder returns the directory of the foreground program, or else that of child.
func (s *Session) Folder(child int) (string, error) {
	if s.options.Master == nil {
		return "", errors.New("find folder: the session has exited")
	}
	group := child
	if fg, err := pty.Foreground(s.options.Master); err == nil && fg > 0 {
		group = fg
	}
	return os.Readlink("/proc/" + strconv.Itoa(group) + "/cwd")
}
