package wire

import (
	"net"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A Passing is a connection over a unix socket that can pass descriptors along with its data
// (SCM_RIGHTS, unix(7)). After Expect, a received descriptor is kept for TakeFile. Data is read and
// written as usual.
type Passing struct {
	*net.UnixConn
	takes atomic.Bool
	oob   [32]byte // Read's: room for one descriptor

	mu     sync.Mutex
	given  *os.File // to be sent with the next write
	taken  *os.File // received
	closed bool
}

// NewPassing returns a Passing for c.
func NewPassing(c *net.UnixConn) *Passing { return &Passing{UnixConn: c} }

// Expect allows descriptors to be received. Before that the kernel closes them.
func (p *Passing) Expect() { p.takes.Store(true) }

// Give sends f with the next write, and then closes f.
func (p *Passing) Give(f *os.File) { p.replaceFile(&p.given, f) }

// replaceFile puts f in place of the previous file, which it closes. If the connection is closed,
// it closes f.
func (p *Passing) replaceFile(kept **os.File, f *os.File) {
	p.mu.Lock()
	old, closed := *kept, p.closed
	if *kept = f; closed {
		*kept = nil
	}
	p.mu.Unlock()
	old.Close() // no effect on nil
	if closed {
		f.Close()
	}
}

// TakeFile returns the last descriptor received, and nil if there is none or it was already
// returned. The caller must close it.
func (p *Passing) TakeFile() *os.File {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.taken
	p.taken = nil
	return f
}

func (p *Passing) Read(b []byte) (int, error) {
	// Fast path: most connections never pass a descriptor.
	if !p.takes.Load() {
		return p.UnixConn.Read(b)
	}
	n, oobn, _, _, err := p.ReadMsgUnix(b, p.oob[:])
	if oobn > 0 {
		p.keepDescriptor(p.oob[:oobn])
	}
	return max(n, 0), err
}

// keepDescriptor keeps the last descriptor in a control message and closes the others.
func (p *Passing) keepDescriptor(oob []byte) {
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
			p.replaceFile(&p.taken, os.NewFile(uintptr(fd), "passed"))
		}
	}
}

func (p *Passing) Write(b []byte) (n int, err error) {
	p.mu.Lock()
	f := p.given
	p.given = nil
	p.mu.Unlock()
	// A descriptor can only be sent with at least one byte of data.
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

// Close also closes descriptors not yet sent or taken.
func (p *Passing) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.replaceFile(&p.given, nil)
	p.replaceFile(&p.taken, nil)
	return p.UnixConn.Close()
}

// Duplicate duplicates the descriptor of f. Unlike f.Fd, it does not make f blocking.
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
