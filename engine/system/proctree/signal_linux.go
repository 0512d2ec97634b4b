package proctree

import (
	"errors"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/persist/store"
)

// pidfdProcessGroup makes pidfd_send_signal(2) signal the group the process leads (Linux 6.9).
const pidfdProcessGroup = 4

// SignalGroup sends a signal to a child and its process group, never to a process that has reused
// the pid.
func SignalGroup(who store.Identity, signal unix.Signal) error {
	fd, err := unix.PidfdOpen(who.PID, 0)
	if err == unix.ESRCH {
		return errNotThere()
	}
	if err != nil {
		return api.Errorf(api.CodeUnavailable, "signal process %d: %v", who.PID, err)
	}
	defer unix.Close(fd)
	// Check after opening: the descriptor stays on its process.
	if !who.Alive() {
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

func errNotThere() error {
	return api.Errorf(api.CodeEnded, "send signal: the process has exited")
}
