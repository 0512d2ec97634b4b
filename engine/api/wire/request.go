// Package wire is what the two ends of a connection share: the headers of
// requests, the binary form of frames and input, and whom to trust with a
// socket.
package wire

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/coder/websocket"

	"tandem/engine/api"
)

// Where an engine serves.
const (
	RoutePrefix = "/v1/"
	AttachName  = "session.attach"

	// TakenHeader answers AttachOptions.Input: how many messages of it have arrived; empty
	// if nothing is known of it.
	TakenHeader = "Tandem-Input-Taken"
	WatchName   = "events.watch"
	OpenName    = "engine.open"
	// OpenProtocol is what a connection is upgraded to by engine.open: it is one to
	// an engine again, from its first byte.
	OpenProtocol = "tandem"

	MaxResponseBody = 64 << 20
	// keepBuffer is the largest buffer that is kept for the next message.
	keepBuffer = 256 << 10
)

// An agent's server can have the engine judge a call by the person's policy in
// the request that asks for the operation, instead of asking policy.check before
// it: what was judged is what is carried out, by the rules of that moment. The
// body is the input of policy.check, whose length JudgeHeader tells, then the
// operation's own. The same header of the answer is the decision. Who does not
// know the header cannot read such a body, and so carries nothing out.
const (
	JudgeHeader = "Tandem-Judge"
	Allowed     = "allow" // the decision with which something is done
)

// The stream is that of server-sent events (HTML standard, 9.2): one "data:"
// line of JSON an event; an "event: error" carries an Error and ends it.
var (
	DataField  = []byte("data: ")
	ErrorField = []byte("event: error\n")
	BlockEnd   = []byte("\n\n")
)

// Reusable is b, or nothing if b is too large to be kept.
func Reusable(b []byte) []byte {
	if cap(b) > keepBuffer {
		return nil
	}
	return b
}

// ReadMessage reads one binary message into buf, which grows as bytes arrive.
func ReadMessage(conn *websocket.Conn, buf []byte) ([]byte, error) {
	typ, r, err := conn.Reader(context.Background())
	if err != nil {
		return nil, err
	}
	if typ != websocket.MessageBinary {
		return nil, errMalformed
	}
	buf = buf[:0]
	for {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, max(len(buf), 4096))
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if errors.Is(err, io.EOF) {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// Root is the innermost cause, without the addresses and verbs around it.
func Root(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// Encoding and decoding much text as JSON takes longer than everything else
// that is done with it. A client can have the large members of an output beside
// its JSON: it names those that it would take so in the request's AsideHeader,
// as "stdout,stderr". If what they hold is worth it, the answer has in the same
// header how its body is divided, as "json=312,stdout=10000000": the output's
// JSON, in which these members are empty, then what each of them holds, as it
// is. Who does not ask gets JSON alone. 10 MB of output reach an agent in half
// the time that JSON alone takes.
const (
	AsideHeader = "Tandem-Aside"
	// AsideName is the part of a divided body that is JSON.
	AsideName = "json"
	// AsidePiece is how much of a member is read or written at a time.
	AsidePiece = 256 << 10
)

// DecodeError reads the error that an answer with this status carries.
func DecodeError(name string, status int, body []byte) *api.Error {
	var e api.Error
	if json.Unmarshal(body, &e) != nil || e.Code == "" {
		return api.Errorf(api.CodeInternal, "call %s: the engine answers with status %d and no error", name, status)
	}
	if e.Code == api.CodeNotFound && strings.HasSuffix(e.Message, "the engine has no such operation") { // up to 0.2.0
		e.Code = api.CodeNotSupported
	}
	return &e
}
