//go:build amd64 || arm64

package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// keptCapabilities are those of root over files and users (capabilities(7)).
// Each stays within what Landlock grants.
func keptCapabilities() uint64 {
	var kept uint64
	for _, capability := range []uint{
		unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_KILL,
		unix.CAP_NET_BIND_SERVICE, unix.CAP_SETGID, unix.CAP_SETUID,
	} {
		kept |= 1 << capability
	}
	return kept
}

// dropCapabilities takes the others from the calling thread, also those that a
// program of root's would get back when executed. Most processes have none.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	if data[0].Permitted|data[1].Permitted == 0 {
		return nil
	}
	kept := keptCapabilities()
	for capability := uintptr(0); capability < 64; capability++ {
		if kept&(1<<capability) != 0 {
			continue
		}
		err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
		if err == unix.EINVAL {
			break // the kernel has no more
		}
		// Without CAP_SETPCAP no_new_privs has to do: nothing is gained then
		// that is not held already.
		if err != nil && err != unix.EPERM {
			return fmt.Errorf("drop capability %d: %w", capability, err)
		}
	}
	for i := range data {
		mask := uint32(kept >> (32 * i))
		data[i].Permitted &= mask
		data[i].Effective &= mask
		data[i].Inheritable = 0
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop ambient capabilities: %w", err)
	}
	if err := unix.Capset(&header, &data[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}
