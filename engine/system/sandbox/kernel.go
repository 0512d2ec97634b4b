package sandbox

import (
	"errors"
	"fmt"
)

// A kernel describes the confinement available on the running kernel.
type kernel struct {
	landlock    int   // version of Landlock's ABI; 0 without it
	landlockErr error // why there is none
	seccomp     error // why system calls cannot be filtered; nil if they can
	resolveUnix bool  // Landlock confines Unix sockets in the file system
}

// Versions of Landlock's ABI, and the features they introduced.
const (
	landlockTruncate = 3 // without it, truncate(2) is unrestricted
	landlockTCP      = 4
	landlockIoctl    = 5
	landlockScopes   = 6 // abstract Unix sockets and signals
	landlockLog      = 7
)

func (k kernel) check(l Layers) error {
	if k.landlock == 0 {
		return fmt.Errorf("sandbox: this kernel has no Landlock (%v): it needs Linux 6.2 or later with \"landlock\" in the boot parameter lsm=", k.landlockErr)
	}
	if k.landlock < landlockTruncate {
		return k.errTooOld("files", landlockTruncate, "6.2")
	}
	if l.NeedsProxy() && k.landlock < landlockTCP {
		return k.errTooOld("allowedDomains", landlockTCP, "6.7")
	}
	if k.seccomp != nil {
		return fmt.Errorf("sandbox: system calls cannot be filtered: %w", k.seccomp)
	}
	return nil
}

func (k kernel) errTooOld(what string, need int, linux string) error {
	return fmt.Errorf("sandbox: to confine %s, Landlock must have version %d (Linux %s); this kernel has version %d", what, need, linux, k.landlock)
}

// errPlatform is returned on systems without support.
var errPlatform = errors.New("only Linux on amd64 and arm64 is supported")
