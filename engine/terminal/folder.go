package terminal

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"tandem/engine/pty"
	"tandem/engine/vt"
)

// isHere reports whether a folder that a program tells is one of this machine:
// the program may run on another one, behind ssh. A folder that comes without a
// host is, if it is found here.
func isHere(e vt.CWDEvent) bool {
	if e.Host == "" {
		info, err := os.Stat(e.Path)
		return err == nil && info.IsDir()
	}
	own, err := os.Hostname()
	return err != nil || sameHost(e.Host, "localhost") || sameHost(e.Host, own)
}

// sameHost compares names of hosts, with or without their domain.
func sameHost(a, b string) bool {
	a, domainA, _ := strings.Cut(a, ".")
	b, domainB, _ := strings.Cut(b, ".")
	return strings.EqualFold(a, b) && (domainA == "" || domainB == "" || strings.EqualFold(domainA, domainB))
}

// Folder is the folder in which the program that has the terminal is now, or
// else that of the child.
func (s *Session) Folder(child int) (string, error) {
	if s.options.Master == nil {
		return "", errors.New("find folder: the session has ended")
	}
	group := child
	if fg, err := pty.Foreground(s.options.Master); err == nil && fg > 0 {
		group = fg
	}
	return os.Readlink("/proc/" + strconv.Itoa(group) + "/cwd")
}
