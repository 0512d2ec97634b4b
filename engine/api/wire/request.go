// Package wire contains the parts of the protocol that client and server have in common: the
// headers of requests, the binary form of frames and input, and the checks of a socket's owner.
package wire

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"tandem/engine/api"
)

// Names of routes and their headers.
const (
	RoutePrefix = "/v1/"
	AttachName  = "session.attach"
	// MessageProtocol is the protocol of an attachment over the engine's own socket; see NewFramed.
	MessageProtocol = "tandem-messages"

	// TakenHeader is the response header with InputState.Taken, for the input named in
	// AttachOptions.Input. It is empty if the engine does not know the input.
	TakenHeader = "Tandem-Input-Taken"
	// UnsureHeader is the response header with InputState.Unsure. Older engines do not send it.
	UnsureHeader = "Tandem-Input-Unsure"
	// CutHeader is "true" for InputState.Cut.
	CutHeader = "Tandem-Input-Cut"
	WatchName = "events.watch"
	OpenName  = "engine.open"
	// OpenProtocol is the protocol of a connection after engine.open has upgraded it. It is then
	// like a new connection to an engine, from the first byte on.
	OpenProtocol = "tandem"

	MaxResponseBody = 64 << 20
	// keepBuffer is the maximum size of a buffer that is kept for the next message.
	keepBuffer = 256 << 10
)

// These are parts of server-sent events (HTML standard, 9.2). Each event is one "data:" line of
// JSON. An "event: error" carries an Error and ends the stream.
var (
	DataField  = []byte("data: ")
	ErrorField = []byte("event: error\n")
	BlockEnd   = []byte("\n\n")
)

// Reusable returns b for reuse as a buffer, or nil if it is too large to keep.
func Reusable(b []byte) []byte {
	if cap(b) > keepBuffer {
		return nil
	}
	return b
}

// Root returns the innermost cause of err, without the addresses and verbs added to it.
func Root(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// For a large text, encoding and decoding JSON takes longer than everything else. A client can
// therefore receive large members of an output beside the JSON. It lists the members in AsideHeader
// of the request, as in "stdout,stderr". If they are large enough, AsideHeader of the answer
// divides the body, as in "json=312,stdout=10000000": first comes the JSON with these members
// empty, then their contents. Without the header, the answer is plain JSON. 10 MB of output reach
// an agent in half the time of plain JSON.
const (
	AsideHeader = "Tandem-Aside"
	// AsideName is the name of the JSON in the header.
	AsideName = "json"
	// AsidePiece is how many bytes of a member are read or written at once.
	AsidePiece = 256 << 10
)

// DecodeError decodes the error in the answer to an operation; name is the operation. If the body
// contains no error, the result has CodeInternal.
func DecodeError(name string, status int, body []byte) *api.Error {
	var e api.Error
	if json.Unmarshal(body, &e) != nil || e.Code == "" {
		return api.Errorf(api.CodeInternal, "call %s: the engine answered with status %d and no error", name, status)
	}
	if e.Code == api.CodeNotFound && strings.HasSuffix(e.Message, "the engine has no such operation") { // up to 0.2.0
		e.Code = api.CodeNotSupported
	}
	return &e
}

// SetInputState writes st to the header of the answer to session.attach.
func SetInputState(h http.Header, st api.InputState) {
	if !st.Counts {
		return
	}
	taken := ""
	if st.Known {
		taken = strconv.FormatUint(st.Taken, 10)
	}
	h.Set(TakenHeader, taken)
	h.Set(UnsureHeader, strconv.FormatUint(st.Unsure, 10))
	if st.Cut {
		h.Set(CutHeader, "true")
	}
}

// InputStateOf reads the state written by SetInputState. If there is none, the engine does not
// count messages.
func InputStateOf(h http.Header) (st api.InputState) {
	taken, unsure := h.Values(TakenHeader), h.Get(UnsureHeader)
	if len(taken) == 0 {
		return st
	}
	st.Counts, st.Reports, st.Cut = true, unsure != "", h.Get(CutHeader) != ""
	var err error
	st.Taken, err = strconv.ParseUint(taken[0], 10, 64)
	st.Known = err == nil
	// Without a number, nothing is unsure.
	st.Unsure, _ = strconv.ParseUint(unsure, 10, 64)
	return st
}
