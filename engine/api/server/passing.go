package server

import (
	"bufio"
	"net"
	"net/http"
	"os"

	"tandem/engine/api"
	"tandem/engine/api/wire"
)

// A passingWriter gives out its connection as one that passes descriptors.
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
	return w.v.descriptors, bufio.NewReadWriter(buffered.Reader, bufio.NewWriter(w.v.descriptors)), nil
}

// Offer offers to take over the viewer's terminal, with the PTY's master, which stays open
// for the caller and may be nil. ok is false for a viewer that cannot hand over any.
func (v *Viewer) Offer(master *os.File) (ok bool, err error) {
	if err := v.open(); err != nil {
		return false, err
	}
	if v.descriptors == nil {
		return false, nil
	}
	v.descriptors.Expect() // the viewer sends nothing before the offer has come
	if master != nil {
		dup, err := wire.Duplicate(master)
		if err != nil {
			return false, nil
		}
		v.descriptors.Give(dup)
	}
	return true, v.Send(api.Output{Direct: &api.Direct{Offer: true}})
}

// Passed is the descriptor that came with what was received last; nil if none did.
func (v *Viewer) Passed() *os.File {
	if v.descriptors == nil {
		return nil
	}
	return v.descriptors.Taken()
}
