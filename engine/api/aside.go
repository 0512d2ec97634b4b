package api

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
)

// Encoding and decoding much text as JSON takes longer than everything else
// that is done with it. A client can have the large members of an output beside
// its JSON: it names those that it would take so in the request's asideHeader,
// as "stdout,stderr". If what they hold is worth it, the answer has in the same
// header how its body is divided, as "json=312,stdout=10000000": the output's
// JSON, in which these members are empty, then what each of them holds, as it
// is. Who does not ask gets JSON alone.
const (
	asideHeader = "Tandem-Aside"
	// asideName is the part of a divided body that is JSON.
	asideName = "json"
	// asideLeast is how much has to be in the members of an output together.
	asideLeast = 64 << 10
	// asidePiece is how much of a member is read or written at a time.
	asidePiece = 256 << 10
)

// A wrongAnswer says what is wrong with an answer that has come; without one
// the connection is at fault.
type wrongAnswer struct{ cause error }

func (e *wrongAnswer) Error() string { return e.cause.Error() }

var errTooLarge = &wrongAnswer{fmt.Errorf("it is larger than %d bytes", maxResponseBody)}

// A bulky output has members that may be large: texts, or bytes, which are
// base64 in its JSON.
type bulky interface {
	// bulk tells their names in JSON, and where they are.
	bulk() []member
}

// A member is a text or bytes.
type member struct {
	name string
	text *string
	data *[]byte
}

func (m member) size() int {
	if m.text != nil {
		return len(*m.text)
	}
	return len(*m.data)
}

// cut empties a member and gives what it held.
func (m member) cut() member {
	held := member{name: m.name}
	if m.text != nil {
		text := *m.text
		held.text, *m.text = &text, ""
	} else {
		data := *m.data
		held.data, *m.data = &data, nil
	}
	return held
}

// writeTo writes what a member holds.
func (m member) writeTo(w io.Writer) error {
	if m.data != nil {
		_, err := w.Write(*m.data)
		return err
	}
	// Converted as a whole, the text would be in memory twice.
	text := *m.text
	piece := make([]byte, min(len(text), asidePiece))
	for len(text) > 0 {
		n := copy(piece, text)
		if _, err := w.Write(piece[:n]); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// readFrom fills a member with what r has next.
func (m member) readFrom(r io.Reader, size int) error {
	if m.data != nil {
		*m.data = make([]byte, size)
		return readFull(r, *m.data)
	}
	var text strings.Builder
	text.Grow(size)
	piece := make([]byte, min(size, asidePiece))
	for text.Len() < size {
		piece = piece[:min(len(piece), size-text.Len())]
		if err := readFull(r, piece); err != nil {
			return err
		}
		text.Write(piece)
	}
	// What comes in JSON is UTF-8 too.
	if !utf8.ValidString(text.String()) {
		return &wrongAnswer{fmt.Errorf("%s is not UTF-8", m.name)}
	}
	*m.text = text.String()
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

// askAside says in a request's header which members of out may come aside.
func askAside(h http.Header, out any) {
	b, ok := out.(bulky)
	if !ok {
		return
	}
	var names []string
	for _, m := range b.bulk() {
		names = append(names, m.name)
	}
	h.Set(asideHeader, strings.Join(names, ","))
}

// setAside takes out of an output what a client wants beside the JSON; nil if
// that is not worth it. Text that is not UTF-8 stays, so that JSON makes of it
// what it does for others.
func setAside(wanted string, out any) []member {
	b, ok := out.(bulky)
	if !ok || wanted == "" {
		return nil
	}
	names := strings.Split(wanted, ",")
	var chosen []member
	size := 0
	for _, m := range b.bulk() {
		if m.size() > 0 && slices.Contains(names, m.name) {
			chosen = append(chosen, m)
			size += m.size()
		}
	}
	if size < asideLeast {
		return nil
	}
	var held []member
	for _, m := range chosen {
		if m.text == nil || utf8.ValidString(*m.text) {
			held = append(held, m.cut())
		}
	}
	return held
}

// writeOutput answers with what out points to.
func writeOutput(w http.ResponseWriter, r *http.Request, out any) {
	aside := setAside(r.Header.Get(asideHeader), out)
	if len(aside) == 0 {
		writeJSON(w, http.StatusOK, out)
		return
	}
	head, err := json.Marshal(out)
	if err != nil {
		writeError(w, Errorf(CodeInternal, "encode answer: %v", err))
		return
	}
	division := []string{asideName + "=" + strconv.Itoa(len(head))}
	size := len(head)
	for _, m := range aside {
		division = append(division, m.name+"="+strconv.Itoa(m.size()))
		size += m.size()
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(size))
	w.Header().Set(asideHeader, strings.Join(division, ","))
	// A failed write means that the client has gone, and nobody is left to tell.
	_, err = w.Write(head)
	for i := 0; i < len(aside) && err == nil; i++ {
		err = aside[i].writeTo(w)
	}
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
		if err := p.readFrom(body, p.size); err != nil {
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
	member
	size int
}

// divided reads how a body of some length is divided among the JSON and the
// members of out. The parts that it gives are together as long as the body is.
func divided(division string, length int64, out any) ([]part, error) {
	malformed := &wrongAnswer{fmt.Errorf("it has %d bytes that are divided as %.200q", length, division)}
	if length > maxResponseBody {
		return nil, errTooLarge
	}
	b, ok := out.(bulky)
	if !ok {
		return nil, malformed
	}
	var parts []part
	left, known := length, b.bulk()
	for field := range strings.SplitSeq(division, ",") {
		name, digits, _ := strings.Cut(field, "=")
		size, err := strconv.ParseUint(digits, 10, 31)
		if err != nil || int64(size) > left {
			return nil, malformed
		}
		left -= int64(size)
		if len(parts) == 0 && name == asideName {
			parts = append(parts, part{size: int(size)})
			continue
		}
		i := slices.IndexFunc(known, func(m member) bool { return m.name == name })
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
	if length > maxResponseBody {
		return nil, errTooLarge
	}
	if length >= 0 {
		text := make([]byte, length)
		return text, readFull(body, text)
	}
	var text bytes.Buffer
	if _, err := text.ReadFrom(io.LimitReader(body, maxResponseBody+1)); err != nil {
		return nil, err
	}
	if text.Len() > maxResponseBody {
		return nil, errTooLarge
	}
	return text.Bytes(), nil
}
