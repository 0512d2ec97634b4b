//go:build amd64 || arm64

package sandbox

import "golang.org/x/sys/unix"

// keptCapabilities returns root's capabilities over files and users (capabilities(7)) as far as
// Landlock limits their use. It limits neither mode nor owner, so CAP_CHOWN and CAP_FOWNER are
// omitted: with them, a program could give a denied file to another user. So is CAP_FSETID, so that
// a write clears a file's set-user-ID bit, as it does for other users.
func keptCapabilities() uint64 {
	var kept uint64
	for _, capability := range []uint{
		unix.CAP_DAC_OVERRIDE, unix.CAP_KILL, unix.CAP_NET_BIND_SERVICE, unix.CAP_SETGID, unix.CAP_SETUID,
	} {
		kept |= 1 << capability
	}
	return kept
}

// dropCapabilities drops all capabilities except kept, including those a program of root would
// regain when executed.
func dropCapabilities(kept uint64) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var caps [2]unix.CapUserData
	if err := unix.Capget(&header, &caps[0]); err != nil {
		return err
	}
	if caps[0].Permitted|caps[1].Permitted == 0 {
		return nil // nothing to drop
	}
	for capability := range uintptr(64) {
		if kept&(1<<capability) != 0 {
			continue
		}
		err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
		if err == unix.EINVAL {
			break // no further capabilities
		}
		// Without CAP_SETPCAP, no_new_privs suffices: execve regains nothing.
		if err != nil && err != unix.EPERM {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	for i := range caps {
		mask := uint32(kept >> (32 * i))
		caps[i].Permitted &= mask
		caps[i].Effective &= mask
		caps[i].Inheritable = 0
	}
	return unix.Capset(&header, &caps[0])
}
