// Package direct writes typed keys directly to the PTY's master while the engine lends it. The
// engine lends it to the user's own programs on its machine (api.Master), so neither side has to
// wake the other for a key.
//
// The engine still needs to know the typed text, so a Path reports it shortly afterwards. A key
// must not overtake earlier input. After input through the engine, keys go through the engine too,
// until it lends the master again. It does so once the PTY has accepted that input. If the PTY does
// not take all bytes, the rest goes through the engine, which queues it.
package direct

import (
	"bytes"
	"os"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
)

// reportDelay is the time between writing a key to the PTY and reporting it to the engine. The echo
// should arrive first.
const reportDelay = 5 * time.Millisecond

// A Path sends the input of one viewer to a session, in the order of the calls. It is safe for
// concurrent use.
type Path struct {
	send func(api.Input) error // queues input for the engine; must not block

	mu    sync.Mutex
	lends bool // the engine lends the master on request

	// master is the descriptor of the lent master, or notLent if input goes through the engine. It is
	// no os.File, because the runtime would wake this process for all that the program prints.
	master int

	asked      bool   // the engine has not answered a request for the master yet
	more       bool   // more input was sent through the engine since the request
	unreported []byte // written to the master but not yet reported to the engine
}

const notLent = -1

// NewPath returns a Path that sends input with send, until the engine lends the master.
func NewPath(send func(api.Input) error) *Path { return &Path{send: send, master: notLent} }

// lineKeys are keys that send or discard a line, or interrupt the program. The engine must know of
// them before the shell runs the line. Otherwise it would take them for keys typed before the
// prompt.
const lineKeys = "\r\n\x03\x04\x1c"

// Type sends typed input. If the master is lent and p contains none of lineKeys, it writes p to the
// PTY; otherwise it sends in through the engine. If the PTY takes only part of p, the rest goes
// through the engine. If there is an error, only the first n bytes of p were sent.
func (d *Path) Type(p []byte, in api.Input) (n int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.master != notLent && !bytes.ContainsAny(p, lineKeys) {
		n = d.writeMaster(p)
		d.noteWritten(p[:n])
		if n == len(p) {
			return n, nil
		}
	}
	if n > 0 {
		in = api.Input{Bytes: p[n:]}
	}
	if err := d.sendThrough(in); err != nil {
		return n, err
	}
	d.askMaster()
	return len(p), nil
}

// Send sends other input, such as a paste or the mouse, through the engine. Typed input after it
// goes through the engine too.
func (d *Path) Send(in api.Input) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sendThrough(in)
}

// sendThrough sends input through the engine. d is locked.
func (d *Path) sendThrough(in api.Input) error {
	d.reportTyped()
	d.closeMaster()
	d.more = d.asked
	return d.send(in)
}

// askMaster asks for the master, unless an earlier request is still to be answered. d is locked.
func (d *Path) askMaster() {
	if d.lends && !d.asked {
		d.asked = d.send(api.Input{Master: true}) == nil
	}
}

// Receive handles a message of the engine about the master.
func (d *Path) Receive(m *api.Master) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lends = true
	d.closeMaster()
	if !m.Lent && !m.Refused {
		return
	}
	stale := d.more
	d.asked, d.more = false, false
	if m.Lent {
		d.useMaster(m.File)
	}
	if stale {
		// The engine may not have passed on input sent after the request yet.
		d.closeMaster()
		d.askMaster()
	}
}

// Report tells the engine at once what was typed.
func (d *Path) Report() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reportTyped()
}

// Close reports the typed input and closes the master, because the attachment has ended: while the
// master is open, the program does not get a hangup. Input then goes through the engine, until the
// next engine lends the master.
func (d *Path) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reportTyped()
	d.closeMaster()
	d.lends, d.asked, d.more = false, false, false
}

// useMaster makes typed input go to the PTY from now on. d is locked.
func (d *Path) useMaster(master *os.File) {
	defer master.Close()
	conn, err := master.SyscallConn()
	if err != nil {
		return
	}
	// If it fails, keys still go through the engine.
	_ = conn.Control(func(fd uintptr) {
		if dup, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0); err == nil {
			d.master = dup
		}
	})
}

// closeMaster makes typed input go through the engine from now on. d is locked.
func (d *Path) closeMaster() {
	if d.master != notLent {
		unix.Close(d.master)
	}
	d.master = notLent
}

// noteWritten records that p must be reported to the engine. d is locked.
func (d *Path) noteWritten(p []byte) {
	if len(p) > 0 && len(d.unreported) == 0 {
		time.AfterFunc(reportDelay, d.Report)
	}
	d.unreported = append(d.unreported, p...)
}

// reportTyped reports the input written to the PTY to the engine. d is locked.
func (d *Path) reportTyped() {
	if len(d.unreported) > 0 {
		// A lost engine need not know.
		_ = d.send(api.Input{Typed: d.unreported})
		d.unreported = nil
	}
}

// writeMaster writes as much as the PTY takes now. A nonblocking write never waits, so a raw system
// call without the scheduler's bookkeeping suffices. d is locked.
func (d *Path) writeMaster(p []byte) (n int) {
	if len(p) == 0 {
		return 0
	}
	got, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(d.master), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
	if errno != 0 {
		return 0
	}
	return int(got)
}
