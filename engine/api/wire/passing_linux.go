package wire

import (
	"net"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A Passing is a connection over a unix socket on which a descriptor can travel beside
// what is written (SCM_RIGHTS, unix(7)): one that comes is kept for Taken, if anybody
// has said that it may come. Nobody who reads or writes otherwise sees a difference.
type Passing struct {
	*net.UnixConn
	takes atomic.Bool
	oob   [32]byte // Read's: room for one descriptor

	mu    sync.Mutex
	given *os.File // goes with what is written next
	taken *os.File // has come
}

// NewPassing has c pass descriptors.
func NewPassing(c *net.UnixConn) *Passing { return &Passing{UnixConn: c} }

// Expect says that a descriptor may come. Before that the kernel closes any.
func (p *Passing) Expect() { p.takes.Store(true) }

// Give sends f, which is closed then, with what is written next.
func (p *Passing) Give(f *os.File) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.given != nil {
		p.given.Close()
	}
	p.given = f
}

// Taken is the descriptor that came last and was not taken yet; nil if none has.
func (p *Passing) Taken() *os.File {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.taken
	p.taken = nil
	return f
}

func (p *Passing) Read(b []byte) (int, error) {
	if !p.takes.Load() {
		return p.UnixConn.Read(b)
	}
	n, oobn, _, _, err := p.ReadMsgUnix(b, p.oob[:])
	if oobn > 0 {
		p.take(p.oob[:oobn])
	}
	return max(n, 0), err
}

// take keeps the descriptor in a control message.
func (p *Passing) take(oob []byte) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return
	}
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			continue
		}
		for _, fd := range fds {
			if old := p.Taken(); old != nil {
				old.Close()
			}
			p.mu.Lock()
			p.taken = os.NewFile(uintptr(fd), "passed")
			p.mu.Unlock()
		}
	}
}

func (p *Passing) Write(b []byte) (n int, err error) {
	p.mu.Lock()
	f := p.given
	p.given = nil
	p.mu.Unlock()
	if f != nil && len(b) > 0 {
		defer f.Close()
		if n, err = p.writeWith(b, f); err != nil {
			return n, err
		}
	}
	m, err := p.UnixConn.Write(b[n:])
	return n + m, err
}

func (p *Passing) writeWith(b []byte, f *os.File) (n int, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	controlErr := raw.Control(func(fd uintptr) { n, _, err = p.WriteMsgUnix(b, unix.UnixRights(int(fd)), nil) })
	if err == nil {
		err = controlErr
	}
	return max(n, 0), err
}

// Close closes what was not given or taken, too.
func (p *Passing) Close() error {
	p.Give(nil)
	if f := p.Taken(); f != nil {
		f.Close()
	}
	return p.UnixConn.Close()
}

// Duplicate is a descriptor of its own for f, which stays as blocking or not as it is.
func Duplicate(f *os.File) (*os.File, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	dup := -1
	controlErr := raw.Control(func(fd uintptr) { dup, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 3) })
	if err == nil {
		err = controlErr
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(dup), f.Name()), nil
}
