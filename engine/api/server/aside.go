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

// AsideLeast is how much has to be in the members of an output together.
const AsideLeast = 64 << 10

func sizeOf(m api.Member) int {
	if m.Text != nil {
		return len(*m.Text)
	}
	return len(*m.Data)
}

// cut empties a member and gives what it held.
func cut(m api.Member) api.Member {
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

// writeTo writes what a member holds.
func writeTo(w io.Writer, m api.Member) error {
	if m.Data != nil {
		_, err := w.Write(*m.Data)
		return err
	}
	// Converted as a whole, the text would be in memory twice.
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

// setAside takes out of an output what a client wants beside the JSON; nil if
// that is not worth it. Text that is not UTF-8 stays, so that JSON makes of it
// what it does for others.
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
			held = append(held, cut(m))
		}
	}
	return held
}

// writeOutput answers with what out points to and returns the size of the answer.
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
	// A failed write means that the client has gone, and nobody is left to tell.
	_, err = w.Write(head)
	for i := 0; i < len(aside) && err == nil; i++ {
		err = writeTo(w, aside[i])
	}
	return size
}
