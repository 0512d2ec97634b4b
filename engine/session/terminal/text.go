package terminal

import (
	"bytes"
	"context"
	"math"

	"tandem/engine/api"
)

// maxText is the maximum length of an answer of session.text in bytes, not counting its last line.
const maxText = 1 << 20

func textBetween(ctx context.Context, s *Session, in api.SessionTextInput) (api.SessionTextOutput, error) {
	if in.Block && in.To.Cell < in.From.Cell {
		in.From.Cell, in.To.Cell = in.To.Cell, in.From.Cell
	}
	r := textReader{in: in, next: in.From.Line}
	for !r.done() {
		if err := s.onScreen(ctx, r.readRows); err != nil {
			return api.SessionTextOutput{}, err
		}
	}
	out := api.SessionTextOutput{Text: string(r.text)}
	if !r.over && r.next <= in.To.Line {
		next := api.Place{Line: r.next}
		if in.Block {
			next.Cell = in.From.Cell
		}
		out.Next = &next
	}
	return out, nil
}

// A rowText is the text of numbered rows. AppendText also reports whether row n is wrapped, and
// whether it exists.
type rowText interface {
	Bounds() (oldest, first, end int64)
	AppendText(dst []byte, n int64) (text []byte, wrapped, ok bool)
	AppendCells(dst []byte, n int64, from, to int) []byte
}

// A textReader reads the text between two positions, a number of rows at a time.
type textReader struct {
	in   api.SessionTextInput
	text []byte
	row  []byte
	line int   // start of the last line in text
	next int64 // next row to read
	over bool  // there are no more rows
}

func (r *textReader) done() bool { return r.over || r.next > r.in.To.Line || len(r.text) >= r.in.Max }

// readRows adds some rows.
func (r *textReader) readRows(t Emulator) {
	oldest, _, end := t.Bounds()
	if r.next < oldest {
		r.next = oldest
	}
	for n := 0; n < findBatch && !r.done(); n++ {
		if r.next >= end {
			r.over = true
			return
		}
		r.addRow(t, r.next)
		r.next++
	}
}

// addRow adds one row and the separator to the next.
func (r *textReader) addRow(t rowText, n int64) {
	in := &r.in
	from, to := 0, math.MaxInt
	if in.Block || n == in.From.Line {
		from = in.From.Cell
	}
	if in.Block || n == in.To.Line {
		to = in.To.Cell
	}
	var wrapped bool
	r.row, wrapped, _ = t.AppendText(r.row[:0], n)
	if from == 0 && to == math.MaxInt {
		r.text = append(r.text, r.row...)
	} else {
		r.text = t.AppendCells(r.text, n, from, to)
		rest := t.AppendCells(r.row[:0], n, to, math.MaxInt)
		if !in.Block && len(bytes.TrimRight(rest, " ")) > 0 {
			// The end is inside the row: blanks before it stay.
			return
		}
	}
	if wrapped && !in.Block {
		return
	}
	r.text = append(r.text[:r.line], bytes.TrimRight(r.text[r.line:], " ")...)
	if n < in.To.Line {
		r.text = append(r.text, '\n')
	}
	r.line = len(r.text)
}

// Text serves session.text.
func (s *Session) Text(ctx context.Context, in api.SessionTextInput) (api.SessionTextOutput, error) {
	if in.Max <= 0 || in.Max > maxText {
		in.Max = maxText
	}
	return textBetween(ctx, s, in)
}
