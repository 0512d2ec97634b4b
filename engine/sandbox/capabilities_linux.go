//go:build amd64 || arm64

package sandbox

import "golang.org/x/sys/unix"

// keptCapabilities are those of root over files and users (capabilities(7)).
// Each stays within what Landlock grants. CAP_FSETID is not among them: without it a
// write clears the set-user-ID bit of a file, as it does for other users.
func keptCapabilities() uint64 {
	var kept uint64
	for _, capability := range []uint{
		unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_KILL,
		unix.CAP_NET_BIND_SERVICE, unix.CAP_SETGID, unix.CAP_SETUID,
	} {
		kept |= 1 << capability
	}
	return kept
}
