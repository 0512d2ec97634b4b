package keeper

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// spareDescriptors is how many no child takes: they are for exit files, for the
// engine and for starting another one.
const spareDescriptors = 48

// room says whether there are descriptors for another child, here and in a keeper
// that would have to adopt all of them: that needs a pidfd of each, and the master
// of each terminal.
func (k *keeper) room(spec *Spec) error {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return nil
	}
	need := spareDescriptors + descriptorsOf(spec.TTY)
	for _, c := range k.byPID {
		need += descriptorsOf(c.TTY)
	}
	if fd, err := dupFD(0); err == nil && uint64(fd)+spareDescriptors/2 < limit.Cur && uint64(need) <= limit.Cur {
		closeFD(fd)
		return nil
	} else if err == nil {
		closeFD(fd)
	}
	return fmt.Errorf("the keeper may have %d open files, which %d sessions and processes need", limit.Cur, len(k.byPID))
}

func descriptorsOf(tty bool) int {
	if tty {
		return 2
	}
	return 1
}

// retryDescriptor opens a file with a function, and tries again while there is no
// descriptor for it: starts need some only for a moment.
func retryDescriptor(open func() error) error {
	const pause, most = 10 * time.Millisecond, 500
	for try := 0; ; try++ {
		err := open()
		scarce := errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE)
		if !scarce || try == most {
			return err
		}
		time.Sleep(pause)
	}
}
