package wire

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/coder/websocket"
)

// A MessageConn transports the messages of an attachment. One goroutine may read, and any number
// may write.
type MessageConn interface {
	// Read reads a message into buf, which grows as bytes arrive.
	Read(buf []byte) ([]byte, error)
	Write(msg []byte) error
	CloseNow() error // also makes a blocked Read or Write return
}

// NewWebSocket returns a MessageConn that sends binary messages over conn. Received messages may
// have up to limit bytes.
func NewWebSocket(conn *websocket.Conn, limit int) MessageConn {
	conn.SetReadLimit(int64(limit))
	return webSocket{conn}
}

type webSocket struct{ conn *websocket.Conn }

func (s webSocket) Read(buf []byte) ([]byte, error) {
	typ, r, err := s.conn.Reader(context.Background())
	if err != nil {
		return nil, err
	}
	if typ != websocket.MessageBinary {
		return nil, errMalformed
	}
	return readAll(r, buf[:0], -1)
}

func (s webSocket) Write(msg []byte) error {
	return s.conn.Write(context.Background(), websocket.MessageBinary, msg)
}

func (s webSocket) CloseNow() error { return s.conn.CloseNow() }

// readAll reads n bytes from r and appends them to buf. If n is negative, it reads all bytes. buf
// grows only as bytes arrive, so a header that announces a large message allocates nothing.
func readAll(r io.Reader, buf []byte, n int) ([]byte, error) {
	for len(buf) != n {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, max(len(buf), 4096))
		}
		free := buf[len(buf):cap(buf)]
		if n >= 0 {
			free = free[:min(len(free), n-len(buf))]
		}
		got, err := r.Read(free)
		buf = buf[:len(buf)+got]
		switch {
		case errors.Is(err, io.EOF) && n < 0:
			return buf, nil
		case errors.Is(err, io.EOF) && len(buf) < n:
			return nil, io.ErrUnexpectedEOF
		case err != nil && len(buf) != n:
			return nil, err
		}
	}
	return buf, nil
}

// lengthSize is the size of the length in front of a message, in bytes. The most significant byte
// comes first.
const lengthSize = 4

// NewFramed returns a MessageConn in which the length precedes each message. Both ends are on the
// same machine, so unlike a WebSocket it needs no masks. Received messages may have up to limit
// bytes.
func NewFramed(r io.Reader, w io.WriteCloser, limit int) MessageConn {
	return &framed{r: bufio.NewReader(r), w: w, limit: limit}
}

type framed struct {
	r      *bufio.Reader
	limit  int
	length [lengthSize]byte

	w   io.WriteCloser
	mu  sync.Mutex // held while writing; guards out
	out []byte
}

func (f *framed) Read(buf []byte) ([]byte, error) {
	if _, err := io.ReadFull(f.r, f.length[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(f.length[:])
	if uint64(n) > uint64(f.limit) {
		return nil, fmt.Errorf("a message of %d bytes is larger than %d", n, f.limit)
	}
	return readAll(f.r, buf[:0], int(n))
}

func (f *framed) Write(msg []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	// Use a single write, so a descriptor arrives together with its message.
	f.out = append(binary.BigEndian.AppendUint32(f.out[:0], uint32(len(msg))), msg...)
	_, err := f.w.Write(f.out)
	f.out = Reusable(f.out)
	return err
}

func (f *framed) CloseNow() error { return f.w.Close() }
