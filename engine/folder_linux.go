package engine

import (
	"context"
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// folderOf is the folder in which the program that has a session's terminal
// is now.
func (h *host) folderOf(ctx context.Context, id string) (string, error) {
	s, view, err := h.sessionOf(ctx, id)
	if err != nil {
		return "", err
	}
	if s.o.master == nil || view.State.Ended() {
		return "", errors.New("find folder: the session has ended")
	}
	var group int
	err = onDescriptor(s.o.master, func(fd int) (err error) {
		group, err = unix.IoctlGetInt(fd, unix.TIOCGPGRP)
		return err
	})
	if err != nil || group <= 0 {
		group = view.PID
	}
	return os.Readlink("/proc/" + strconv.Itoa(group) + "/cwd")
}
