package pty

import "golang.org/x/sys/unix"

func isPoll(call int) bool { return call == unix.SYS_POLL || call == unix.SYS_PPOLL }

func isSelect(call int) bool { return call == unix.SYS_SELECT || call == unix.SYS_PSELECT6 }

func isEpoll(call int) bool {
	return call == unix.SYS_EPOLL_WAIT || call == unix.SYS_EPOLL_PWAIT || call == unix.SYS_EPOLL_PWAIT2
}
