package launch

import (
	"tandem/engine/api"

	"golang.org/x/sys/unix"
)

// reservedDescriptors is how many file descriptors starts leave free for clients, stops and another
// keeper. The highest numbers are reserved, because the kernel assigns the lowest free one.
const reservedDescriptors = 64

// CheckDescriptors returns an error if too few file descriptors are left for a start. name is the
// process in the error.
func CheckDescriptors(name string) error {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return nil
	}
	fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
		if uint64(fd)+reservedDescriptors < limit.Cur {
			return nil
		}
	}
	return api.Errorf(api.CodeConflict, "start %s: the engine is close to its limit of %d open files", name, limit.Cur).
		WithHint("stop something, or start the engine with a higher limit: ulimit -n")
}
