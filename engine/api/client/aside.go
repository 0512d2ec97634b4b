package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/api/wire"
)

// A wrongAnswer is the error about a malformed answer. Any other error of reading an answer means
// that the connection is lost.
type wrongAnswer struct{ cause error }

func (e *wrongAnswer) Error() string { return e.cause.Error() }

var errTooLarge = &wrongAnswer{fmt.Errorf("it is larger than %d bytes", wire.MaxResponseBody)}

// requestAside sets the request header that allows the engine to send large members of out beside
// the JSON.
func requestAside(h http.Header, out any) {
	b, ok := out.(api.Bulky)
	if !ok {
		return
	}
	var names []string
	for _, m := range b.Bulk() {
		names = append(names, m.Name)
	}
	h.Set(wire.AsideHeader, strings.Join(names, ","))
}

// readOutput decodes the body of an answer into out, a pointer. length is -1 if it is unknown.
func readOutput(division string, body io.Reader, length int64, out any) error {
	if division == "" {
		text, err := readBody(body, length)
		if err != nil {
			return err
		}
		return decodeAnswer(text, out)
	}
	parts, err := parseDivision(division, length, out)
	if err != nil {
		return err
	}
	head := make([]byte, parts[0].size)
	if err := readFull(body, head); err != nil {
		return err
	}
	if err := decodeAnswer(head, out); err != nil {
		return err
	}
	for _, p := range parts[1:] {
		if err := readMember(body, p.Member, p.size); err != nil {
			return err
		}
	}
	return nil
}

func decodeAnswer(text []byte, out any) error {
	if err := json.Unmarshal(text, out); err != nil {
		return &wrongAnswer{err}
	}
	return nil
}

// A part is a piece of a divided body. The first part is the JSON.
type part struct {
	api.Member
	size int
}

// parseDivision parses the header that divides a body into the JSON and members of out. length is
// the length of the body in bytes, and the sum of the sizes of the parts.
func parseDivision(division string, length int64, out any) ([]part, error) {
	malformed := &wrongAnswer{fmt.Errorf("it has %d bytes, divided as %.200q", length, division)}
	if length > wire.MaxResponseBody {
		return nil, errTooLarge
	}
	b, ok := out.(api.Bulky)
	if !ok {
		return nil, malformed
	}
	var parts []part
	left, known := length, b.Bulk()
	for field := range strings.SplitSeq(division, ",") {
		name, digits, _ := strings.Cut(field, "=")
		size, err := strconv.ParseUint(digits, 10, 31)
		if err != nil || int64(size) > left {
			return nil, malformed
		}
		left -= int64(size)
		if len(parts) == 0 && name == wire.AsideName {
			parts = append(parts, part{size: int(size)})
			continue
		}
		i := slices.IndexFunc(known, func(m api.Member) bool { return m.Name == name })
		if i < 0 || len(parts) == 0 {
			return nil, malformed
		}
		parts = append(parts, part{known[i], int(size)})
		known = slices.Delete(known, i, i+1) // no member twice
	}
	if left != 0 {
		return nil, malformed
	}
	return parts, nil
}

// readBody reads a body of at most wire.MaxResponseBody bytes. length is its length, or -1 if that
// is unknown.
func readBody(body io.Reader, length int64) ([]byte, error) {
	if length > wire.MaxResponseBody {
		return nil, errTooLarge
	}
	if length >= 0 {
		text := make([]byte, length)
		return text, readFull(body, text)
	}
	var text bytes.Buffer
	if _, err := text.ReadFrom(io.LimitReader(body, wire.MaxResponseBody+1)); err != nil {
		return nil, err
	}
	if text.Len() > wire.MaxResponseBody {
		return nil, errTooLarge
	}
	return text.Bytes(), nil
}

// readMember reads the next size bytes of r into m.
func readMember(r io.Reader, m api.Member, size int) error {
	if m.Data != nil {
		*m.Data = make([]byte, size)
		return readFull(r, *m.Data)
	}
	// Read in pieces: converting all bytes to text at once would hold them in memory twice.
	var text strings.Builder
	text.Grow(size)
	piece := make([]byte, min(size, wire.AsidePiece))
	for text.Len() < size {
		piece = piece[:min(len(piece), size-text.Len())]
		if err := readFull(r, piece); err != nil {
			return err
		}
		text.Write(piece)
	}
	// Members sent in JSON are UTF-8 too.
	if !utf8.ValidString(text.String()) {
		return &wrongAnswer{fmt.Errorf("%s is not UTF-8", m.Name)}
	}
	*m.Text = text.String()
	return nil
}

// readFull is like io.ReadFull, but returns io.ErrUnexpectedEOF in place of io.EOF.
func readFull(r io.Reader, p []byte) error {
	_, err := io.ReadFull(r, p)
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
