package logtext

import (
	"regexp"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/base/cellwidth"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// A TextMark is a range of a line's text, in bytes, with an ink of its own.
type TextMark struct {
	From, To int
	Ink      look.Ink
	Always   bool // takes precedence over the line's own colours
}

// MatchMarks returns the matches of a pattern in the line; none if it is nil.
func (t *Line) MatchMarks(re *regexp.Regexp, ink look.Ink) (marks []TextMark) {
	if re == nil {
		return nil
	}
	for _, at := range re.FindAllStringIndex(t.Plain(), 100) {
		if at[1] > at[0] {
			marks = append(marks, TextMark{From: at[0], To: at[1], Ink: ink, Always: true})
		}
	}
	return marks
}

// A LineDrawing draws a range of a line's cells.
type LineDrawing struct {
	Dst      []byte
	From, To int
	at       int // current cell of the line
	Used     int // cells drawn
	Look     *look.Look
}

func (d *LineDrawing) Draw(text *Line, marks []TextMark) {
	offset := 0
	for i := range text.Runs {
		r := &text.Runs[i]
		for piece := r.Text; piece != "" && d.at < d.To; {
			n, mark := nextMark(offset, len(piece), marks)
			d.drawPiece(piece[:n], r, mark)
			piece = piece[n:]
			offset += n
		}
	}
}

// nextMark returns how many of the n bytes from offset on have the same mark, and that mark, or nil
// if they have none.
func nextMark(offset, n int, marks []TextMark) (int, *TextMark) {
	for i := range marks {
		k := &marks[i]
		switch {
		case offset < k.From:
			return min(n, k.From-offset), nil
		case offset < k.To:
			return min(n, k.To-offset), k
		}
	}
	return n, nil
}

// drawPiece draws text of one style.
func (d *LineDrawing) drawPiece(s string, r *Run, mark *TextMark) {
	s, cells := d.visiblePart(s)
	if cells == 0 {
		return
	}
	ink := look.Ink("")
	switch {
	case mark != nil && (mark.Always || r.style == api.Style{}):
		ink = mark.Ink
	case r.sign:
		ink = d.Look.Faint
	}
	run := api.Run{Text: s, Cells: cells}
	if ink != "" {
		d.Dst = append(d.Dst, ink...)
		d.Dst, _ = text.AppendRun(d.Dst, &run, 0, cells)
		d.Dst = append(d.Dst, text.SgrReset...)
	} else {
		d.Dst = text.AppendStyle(d.Dst, api.Style{}, r.style)
		d.Dst, _ = text.AppendRun(d.Dst, &run, 0, cells)
		d.Dst = text.AppendStyle(d.Dst, r.style, api.Style{})
	}
	d.Used += cells
}

// visiblePart returns the part of s that lies in the drawn columns, and its width. A wide character
// cut by an edge becomes spaces.
func (d *LineDrawing) visiblePart(s string) (string, int) {
	width := text.Width(s)
	from := min(max(d.From-d.at, 0), width)
	cells := min(max(d.To-d.at, from), width) - from
	d.at += width
	if width == len(s) { // fast path: in plain text every byte is a cell
		return s[from : from+cells], cells
	}
	return text.Pad(text.Cut(text.CutLeft(s, from), cells, ""), cells), cells
}

// IsStyled reports whether the line has colours of its own.
func (t *Line) IsStyled() bool {
	for i := range t.Runs {
		if t.Runs[i].style != (api.Style{}) {
			return true
		}
	}
	return false
}

// Wrap divides a line into rows of at most w cells, and returns the cell of the line at which each
// row starts. It never splits a character.
func (t *Line) Wrap(w int) []int {
	breaks := []int{0}
	cell := 0
	for i := range t.Runs {
		s := t.Runs[i].Text
		for s != "" {
			n, width := 1, 1
			if s[0] >= utf8.RuneSelf || len(s) > 1 && s[1] >= utf8.RuneSelf {
				var c string
				if c, width = cellwidth.First(s); c == "" {
					break
				}
				n = len(c)
			}
			if cell+width > breaks[len(breaks)-1]+max(w, 2) {
				breaks = append(breaks, cell)
			}
			cell += width
			s = s[n:]
		}
	}
	return breaks
}
