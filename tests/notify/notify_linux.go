// Package notify stops system calls of a thread or a program, for a test to fail them or to change
// something just before they run. It uses seccomp user notifications (seccomp_unotify(2)).
package notify

import (
	"bytes"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Call is a stopped system call.
type Call struct {
	Thread int // the caller
	Number int32
	Args   [6]uint64
}

// ReadString returns the NUL-terminated string at address in the caller's memory, "" if it cannot be
// read.
func (c Call) ReadString(address uint64) string {
	text := make([]byte, 4096)
	// In two parts, as the next page may not be mapped.
	rest := len(text) - int(address)%len(text)
	n, _ := unix.ProcessVMReadv(c.Thread, []unix.Iovec{{Base: &text[0], Len: uint64(len(text))}}, []unix.RemoteIovec{
		{Base: uintptr(address), Len: rest},
		{Base: uintptr(address) + uintptr(rest), Len: len(text) - rest},
	}, 0)
	text, _, _ = bytes.Cut(text[:max(n, 0)], []byte{0})
	return string(text)
}

// ReadBytes returns n bytes at address in the caller's memory, or fewer if they cannot be read.
func (c Call) ReadBytes(address uint64, n int) []byte {
	if n <= 0 {
		return nil
	}
	text := make([]byte, n)
	n, _ = unix.ProcessVMReadv(c.Thread, []unix.Iovec{{Base: &text[0], Len: uint64(n)}}, []unix.RemoteIovec{{Base: uintptr(address), Len: n}}, 0)
	return text[:max(n, 0)]
}

// Install stops the system calls with these numbers on the calling thread and its descendants.
// Each of them waits until Serve answers it on the returned listener.
func Install(numbers []int32) (listener int, err error) {
	program := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}}
	for _, number := range numbers {
		program = append(program,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(number), Jt: 0, Jf: 1},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF})
	}
	program = append(program, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, err
	}
	p := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	flags := uintptr(unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&p)))
	if errno != 0 {
		return 0, errno
	}
	return int(fd), nil
}

// Structures and ioctl numbers of seccomp_unotify(2).
type notification struct {
	id     uint64
	thread uint32
	_      uint32
	number int32
	_      uint32
	_      uint64
	args   [6]uint64
}

type response struct {
	id    uint64
	val   int64
	errno int32
	flags uint32
}

const (
	ioctlReceive  = 0xc0502100
	ioctlSend     = 0xc0182101
	ioctlSetFlags = 0x40082104
	letThrough    = 1
	syncWakeUp    = 1
)

// Serve calls decide before each stopped call. The call fails with the returned errno; with 0 it runs.
// Serve closes the listener and returns once all threads under the filter have exited.
func Serve(listener int, decide func(Call) unix.Errno) {
	defer unix.Close(listener)
	// On newer kernels, this runs Serve on the caller's processor, which is faster.
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(listener), ioctlSetFlags, syncWakeUp)
	for {
		fds := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err == unix.EINTR {
			continue
		}
		if fds[0].Revents&unix.POLLIN == 0 {
			return
		}
		var n notification
		_, _, err := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), ioctlReceive, uintptr(unsafe.Pointer(&n)))
		switch err {
		case 0:
		case unix.EINTR, unix.ENOENT:
			continue // the caller was killed
		default:
			return
		}
		r := response{id: n.id, flags: letThrough}
		if errno := decide(Call{int(n.thread), n.number, n.args}); errno != 0 {
			r.flags, r.errno = 0, -int32(errno)
		}
		_, _, err = unix.Syscall(unix.SYS_IOCTL, uintptr(listener), ioctlSend, uintptr(unsafe.Pointer(&r)))
		if err != 0 && err != unix.ENOENT {
			return
		}
	}
}
