package ui

import (
	"os"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
)

// A fakePTY is the terminal of a fakeSession, for input that the dashboard writes there itself.
type fakePTY struct {
	program, master *os.File
	direct          int // bytes of direct input
}

// lendMaster lends the master to a viewer. The engine is locked.
func (s *fakeSession) lendMaster(v *fakeViewer) {
	if s.pty.master == nil {
		var fds [2]int
		if err := unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
			panic(err)
		}
		s.pty.program, s.pty.master = os.NewFile(uintptr(fds[0]), "program"), os.NewFile(uintptr(fds[1]), "master")
	}
	fd, err := unix.FcntlInt(s.pty.master.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		panic(err)
	}
	// File.Fd has put the file into blocking mode.
	if err := unix.SetNonblock(fd, true); err != nil {
		panic(err)
	}
	v.pushOutput(api.Output{Master: &api.Master{Lent: true, File: os.NewFile(uintptr(fd), "lent")}})
}

// readPTY makes the program read what was written to its terminal. The engine is locked.
func (s *fakeSession) readPTY() {
	if s.pty.program == nil {
		return
	}
	buffer := make([]byte, 4096)
	for {
		conn, err := s.pty.program.SyscallConn()
		if err != nil {
			return
		}
		n := 0
		if conn.Read(func(fd uintptr) bool {
			n, _ = unix.Read(int(fd), buffer)
			return true
		}) != nil || n <= 0 {
			return
		}
		s.typed = append(s.typed, buffer[:n]...)
		s.pty.direct += n
	}
}

// readDirect returns how many bytes of input came past the engine.
func (s *fakeSession) readDirect() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readPTY()
	return s.pty.direct
}
