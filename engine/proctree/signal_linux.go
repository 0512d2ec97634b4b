package proctree

import (
	"errors"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/persist/store"
)

// pidfdProcessGroup makes pidfd_send_signal(2) signal the group that a process
// leads (Linux 6.9).
const pidfdProcessGroup = 4

// SignalGroup sends a signal to a child of ours and its process group, and never
// to another process that has got its pid meanwhile.
func SignalGroup(who store.Identity, signal unix.Signal) error {
	fd, err := unix.PidfdOpen(who.PID, 0)
	if err == unix.ESRCH {
		return errNotThere()
	}
	if err != nil {
		return api.Errorf(api.CodeUnavailable, "signal process %d: %v", who.PID, err)
	}
	defer unix.Close(fd)
	if !who.Alive() { // checked behind the descriptor, which cannot change any more
		return errNotThere()
	}
	err = unix.PidfdSendSignal(fd, signal, nil, pidfdProcessGroup)
	if errors.Is(err, unix.EINVAL) {
		err = unix.Kill(-who.PID, signal)
	}
	switch err {
	case nil:
		return nil
	case unix.ESRCH:
		return errNotThere()
	}
	return api.Errorf(api.CodeUnavailable, "signal process %d: %v", who.PID, err)
}

// HasGroup reports whether a process of a group may run.
func HasGroup(group int) bool { return unix.Kill(-group, 0) != unix.ESRCH }

func errNotThere() error {
	return api.Errorf(api.CodeEnded, "send signal: the process has ended")
}
