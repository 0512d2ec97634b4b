package server

import (
	"bufio"
	"net"
	"net/http"
	"os"

	"tandem/engine/api"
	"tandem/engine/api/wire"
)

// A passingWriter wraps its hijacked connection to pass descriptors.
type passingWriter struct {
	http.ResponseWriter
	v *Viewer
}

func (w passingWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	own, ok := conn.(*net.UnixConn)
	if err != nil || !ok {
		return conn, buffered, err
	}
	w.v.descriptors = wire.NewPassing(own)
	if w.v.direct { // before the first read, which may begin before the offer
		w.v.descriptors.Expect()
	}
	return w.v.descriptors, bufio.NewReadWriter(buffered.Reader, bufio.NewWriter(w.v.descriptors)), nil
}

// CanPass reports whether the connection is open and can pass descriptors.
func (v *Viewer) CanPass() bool { return v.ensureOpen() == nil && v.descriptors != nil }

// Offer offers to take over the viewer's terminal, and passes the PTY's master unless it is
// nil. The caller keeps master. ok is false if the connection cannot pass descriptors.
func (v *Viewer) Offer(master *os.File) (ok bool, err error) {
	if err := v.ensureOpen(); err != nil {
		return false, err
	}
	if !v.CanPass() {
		return false, nil
	}
	if master != nil && !v.giveMaster(master) {
		return false, nil
	}
	return true, v.Send(api.Output{Direct: &api.Direct{Offer: true}})
}

// giveMaster passes a duplicate of master with the next message.
func (v *Viewer) giveMaster(master *os.File) (ok bool) {
	dup, err := wire.Duplicate(master)
	if err == nil {
		v.descriptors.Give(dup)
	}
	return err == nil
}

// Passed returns the last descriptor received, once; nil if there is none. The caller owns it.
func (v *Viewer) Passed() *os.File {
	if v.descriptors == nil {
		return nil
	}
	return v.descriptors.TakeFile()
}
