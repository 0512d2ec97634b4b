package server

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/api/wire"
)

// AsideLeast is the total size in bytes from which members are sent beside the JSON. Encoding
// smaller ones as JSON costs little.
const AsideLeast = 64 << 10

func sizeOf(m api.Member) int {
	if m.Text != nil {
		return len(*m.Text)
	}
	return len(*m.Data)
}

// cutMember empties m and returns its contents.
func cutMember(m api.Member) api.Member {
	held := api.Member{Name: m.Name}
	if m.Text != nil {
		text := *m.Text
		held.Text, *m.Text = &text, ""
	} else {
		data := *m.Data
		held.Data, *m.Data = &data, nil
	}
	return held
}

// writeMember writes the contents of m.
func writeMember(w io.Writer, m api.Member) error {
	if m.Data != nil {
		_, err := w.Write(*m.Data)
		return err
	}
	// Convert the text in pieces, because converting it as a whole would hold it in memory twice.
	text := *m.Text
	piece := make([]byte, min(len(text), wire.AsidePiece))
	for len(text) > 0 {
		n := copy(piece, text)
		if _, err := w.Write(piece[:n]); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// setAside removes large members from out and returns them, so they can be sent beside the JSON.
// wanted lists the members that the client accepts in this way. If they are too small, it returns
// nil. Text that is not valid UTF-8 stays in the JSON, to be replaced there as for other clients.
func setAside(wanted string, out any) []api.Member {
	b, ok := out.(api.Bulky)
	if !ok || wanted == "" {
		return nil
	}
	names := strings.Split(wanted, ",")
	var chosen []api.Member
	size := 0
	for _, m := range b.Bulk() {
		if sizeOf(m) > 0 && slices.Contains(names, m.Name) {
			chosen = append(chosen, m)
			size += sizeOf(m)
		}
	}
	if size < AsideLeast {
		return nil
	}
	var held []api.Member
	for _, m := range chosen {
		if m.Text == nil || utf8.ValidString(*m.Text) {
			held = append(held, cutMember(m))
		}
	}
	return held
}

// writeOutput sends out, a pointer, as the answer, and returns the size of the answer.
func writeOutput(w http.ResponseWriter, r *http.Request, out any) (size int) {
	aside := setAside(r.Header.Get(wire.AsideHeader), out)
	if len(aside) == 0 {
		return writeJSON(w, http.StatusOK, out)
	}
	head, err := json.Marshal(out)
	if err != nil {
		writeError(w, api.Errorf(api.CodeInternal, "encode answer: %v", err))
		return 0
	}
	division := []string{wire.AsideName + "=" + strconv.Itoa(len(head))}
	size = len(head)
	for _, m := range aside {
		division = append(division, m.Name+"="+strconv.Itoa(sizeOf(m)))
		size += sizeOf(m)
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(size))
	w.Header().Set(wire.AsideHeader, strings.Join(division, ","))
	// If a write fails, the client has disconnected, so the error cannot be reported.
	_, err = w.Write(head)
	for i := 0; i < len(aside) && err == nil; i++ {
		err = writeMember(w, aside[i])
	}
	return size
}
