package engine

import (
	"tandem/engine/api"

	"golang.org/x/sys/unix"
)

// spareForStarts is how many descriptors no start takes: they are for clients,
// for stops and kills, and for another keeper. A new descriptor has the lowest
// free number, so the highest are spare as long as nobody takes one of them.
const spareForStarts = 64

// roomToStart is nil while a start leaves enough descriptors to others.
func roomToStart(name string) error {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return nil
	}
	fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
		if uint64(fd)+spareForStarts < limit.Cur {
			return nil
		}
	}
	return api.Errorf(api.CodeConflict, "start %s: the engine is close to its limit of %d open files", name, limit.Cur).
		WithHint("stop something, or start the engine with a higher limit: ulimit -n")
}
