package terminal

import (
	"bytes"
	"context"
	"math"

	"tandem/engine/api"
)

// textMost bounds one answer of session.text, in bytes but for a line.
const textMost = 1 << 20

func textBetween(ctx context.Context, s *Session, in api.SessionTextInput) (api.SessionTextOutput, error) {
	if in.Block && in.To.Cell < in.From.Cell {
		in.From.Cell, in.To.Cell = in.To.Cell, in.From.Cell
	}
	r := textReader{in: in, next: in.From.Line}
	for !r.done() {
		if err := s.onScreen(ctx, r.read); err != nil {
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

// A textReader reads the text between two places, a piece at a time.
type textReader struct {
	in   api.SessionTextInput
	text []byte
	row  []byte
	line int   // where the last line of text begins
	next int64 // row to be read next
	over bool  // there are no more rows
}

func (r *textReader) done() bool { return r.over || r.next > r.in.To.Line || len(r.text) >= r.in.Max }

// read adds some rows.
func (r *textReader) read(t Emulator) {
	oldest, _, end := t.Bounds()
	if r.next < oldest {
		r.next = oldest
	}
	for n := 0; n < findRows && !r.done(); n++ {
		if r.next >= end {
			r.over = true
			return
		}
		r.add(t, r.next)
		r.next++
	}
}

// add adds one row and what divides it from the next.
func (r *textReader) add(t Emulator, n int64) {
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
			return // the end is inside the row: blanks before it stay
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
	if in.Max <= 0 || in.Max > textMost {
		in.Max = textMost
	}
	return textBetween(ctx, s, in)
}
