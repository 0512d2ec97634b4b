//go:build amd64 || arm64

package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// setLimits sets all limits except memory.
func setLimits(l Limits) error {
	for _, limit := range []struct {
		name     string
		resource int
		value    uint64
	}{
		{"open_files", unix.RLIMIT_NOFILE, l.OpenFiles},
		{"processes", unix.RLIMIT_NPROC, l.Processes},
		{"cpu_seconds", unix.RLIMIT_CPU, l.CPUSeconds},
	} {
		if err := setLimit(limit.name, limit.resource, limit.value); err != nil {
			return err
		}
	}
	return nil
}

// limitMemory comes last, because this process itself may need more.
func limitMemory(l Limits) error {
	return setLimit("memory_bytes", unix.RLIMIT_AS, l.MemoryBytes)
}

// setLimit sets a limit permanently. A stricter one already in effect stays.
func setLimit(name string, resource int, value uint64) error {
	if value == 0 {
		return nil
	}
	var now unix.Rlimit
	if err := unix.Getrlimit(resource, &now); err != nil {
		return fmt.Errorf("limit %s: %w", name, err)
	}
	hard := min(value, now.Max)
	soft := hard
	if resource == unix.RLIMIT_CPU && hard < now.Max {
		hard++ // SIGXCPU at the limit, SIGKILL a second later (getrlimit(2))
	}
	if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: soft, Max: hard}); err != nil {
		return fmt.Errorf("limit %s to %d: %w", name, value, err)
	}
	return nil
}
