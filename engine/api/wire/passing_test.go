package wire

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// passingPair returns the two ends of a connection over a unix socket.
func passingPair(t *testing.T) (a, b *Passing) {
	t.Helper()
	address := &net.UnixAddr{Name: filepath.Join(t.TempDir(), "socket")}
	listener, err := net.ListenUnix("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	out, err := net.DialUnix("unix", nil, address)
	if err != nil {
		t.Fatal(err)
	}
	in, err := listener.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); out.Close() })
	return NewPassing(out), NewPassing(in)
}

// newFile returns a file, and a function that reports whether no other descriptor of it is open.
func newFile(t *testing.T) (f *os.File, isClosed func() bool) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return w, func() bool {
		poll := []unix.PollFd{{Fd: int32(r.Fd())}}
		_, err := unix.Poll(poll, 0)
		return err == nil && poll[0].Revents&unix.POLLHUP != 0
	}
}

func TestClosedConnectionKeepsNoDescriptor(t *testing.T) {
	receive := func(p *Passing) {
		if _, err := p.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	for name, use := range map[string]func(from, to *Passing, f *os.File){
		"given": func(from, _ *Passing, f *os.File) {
			from.Give(f)
			from.Close()
		},
		"given after the end": func(from, _ *Passing, f *os.File) {
			from.Close()
			from.Give(f)
		},
		"given twice": func(from, _ *Passing, f *os.File) {
			from.Give(f)
			other, _ := newFile(t)
			from.Give(other)
		},
		"not taken": func(from, to *Passing, f *os.File) {
			from.Give(f)
			from.Write([]byte("x"))
			receive(to)
			to.Close()
		},
		"received during the end": func(from, to *Passing, f *os.File) {
			from.Give(f)
			from.Write([]byte("x"))
			receive(to)
			kept := to.TakeFile()
			to.Close()
			dup, err := unix.FcntlInt(kept.Fd(), unix.F_DUPFD_CLOEXEC, 3)
			if err != nil {
				t.Error(err)
			}
			kept.Close()
			to.keepDescriptor(unix.UnixRights(dup))
		},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := passingPair(t)
			to.Expect()
			f, isClosed := newFile(t)
			use(from, to, f)
			if !isClosed() {
				t.Error("the descriptor is still open")
			}
			if f := to.TakeFile(); f != nil {
				t.Error("a descriptor is left:", f.Name())
			}
		})
	}
}

func TestDescriptorTakenStaysOpen(t *testing.T) {
	from, to := passingPair(t)
	to.Expect()
	f, isClosed := newFile(t)
	from.Give(f)
	if _, err := from.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := to.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	taken := to.TakeFile()
	to.Close()
	if _, err := taken.Write([]byte("y")); err != nil || isClosed() {
		t.Errorf("the descriptor was closed: %v", err)
	}
	if taken.Close(); !isClosed() {
		t.Error("the sender still has it open")
	}
	if err := taken.Close(); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}
