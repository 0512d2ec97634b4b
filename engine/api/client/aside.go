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

// A wrongAnswer says what is wrong with an answer that has come; without one
// the connection is at fault.
type wrongAnswer struct{ cause error }

func (e *wrongAnswer) Error() string { return e.cause.Error() }

var errTooLarge = &wrongAnswer{fmt.Errorf("it is larger than %d bytes", wire.MaxResponseBody)}

// askAside says in a request's header which members of out may come aside.
func askAside(h http.Header, out any) {
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

// readOutput reads the body of an answer into what out points to; length is -1
// if it is not known.
func readOutput(division string, body io.Reader, length int64, out any) error {
	if division == "" {
		text, err := readBody(body, length)
		if err != nil {
			return err
		}
		return decodeAnswer(text, out)
	}
	parts, err := divided(division, length, out)
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
		if err := readFrom(body, p.Member, p.size); err != nil {
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

// A part is a piece of a divided body. The first one is the JSON.
type part struct {
	api.Member
	size int
}

// divided reads how a body of some length is divided among the JSON and the
// members of out. The parts that it gives are together as long as the body is.
func divided(division string, length int64, out any) ([]part, error) {
	malformed := &wrongAnswer{fmt.Errorf("it has %d bytes that are divided as %.200q", length, division)}
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
		known = slices.Delete(known, i, i+1) // each of them once
	}
	if left != 0 {
		return nil, malformed
	}
	return parts, nil
}

// readBody reads a body of a length that may be known, and is bounded.
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

// readFrom fills a member with what r has next.
func readFrom(r io.Reader, m api.Member, size int) error {
	if m.Data != nil {
		*m.Data = make([]byte, size)
		return readFull(r, *m.Data)
	}
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
	// What comes in JSON is UTF-8 too.
	if !utf8.ValidString(text.String()) {
		return &wrongAnswer{fmt.Errorf("%s is not UTF-8", m.Name)}
	}
	*m.Text = text.String()
	return nil
}

// readFull is io.ReadFull for something that is to come: its end is an error.
func readFull(r io.Reader, p []byte) error {
	_, err := io.ReadFull(r, p)
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
