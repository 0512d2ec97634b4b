package server

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"

	"tandem/engine/api"
	"tandem/engine/api/wire"
)

// A passingWriter upgrades its connection, and wraps it so that it can pass descriptors. It hijacks
// the connection before it answers the viewer. Until then net/http reads from the connection, and
// drops descriptors.
type passingWriter struct {
	http.ResponseWriter
	v        *Viewer
	conn     net.Conn
	buffered *bufio.ReadWriter
	err      error
}

func (w *passingWriter) WriteHeader(code int) {
	if code != http.StatusSwitchingProtocols {
		w.ResponseWriter.WriteHeader(code)
		return
	}
	if w.conn, w.buffered, w.err = http.NewResponseController(w.ResponseWriter).Hijack(); w.err != nil {
		return
	}
	if own, ok := w.conn.(*net.UnixConn); ok {
		w.v.descriptors = wire.NewPassing(own)
		if w.v.direct {
			w.v.descriptors.Expect()
		}
		w.conn, w.buffered.Writer = w.v.descriptors, bufio.NewWriter(w.v.descriptors)
	}
	var head bytes.Buffer
	fmt.Fprintf(&head, "HTTP/1.1 %d %s\r\n", code, http.StatusText(code))
	_ = w.Header().Write(&head) // a buffer returns no error
	head.WriteString("\r\n")
	if _, w.err = w.conn.Write(head.Bytes()); w.err != nil {
		w.conn.Close()
	}
}

// Hijack returns the connection after WriteHeader has upgraded it.
func (w *passingWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return w.conn, w.buffered, w.err
}

// CanPass reports whether the connection is open and can pass descriptors.
func (v *Viewer) CanPass() bool { return v.ensureOpen() == nil && v.descriptors != nil }

// Offer offers to take over the viewer's terminal. If master is not nil, it passes the PTY's master
// as well; the caller keeps its own. ok is false if the connection cannot pass descriptors.
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

// giveMaster passes a duplicate of master along with the next message.
func (v *Viewer) giveMaster(master *os.File) (ok bool) {
	dup, err := wire.Duplicate(master)
	if err == nil {
		v.descriptors.Give(dup)
	}
	return err == nil
}

// Passed returns the last descriptor received, or nil if there is none. Later calls return nil. The
// caller owns it.
func (v *Viewer) Passed() *os.File {
	if v.descriptors == nil {
		return nil
	}
	return v.descriptors.TakeFile()
}
