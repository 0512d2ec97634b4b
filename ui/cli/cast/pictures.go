package cast

import (
	"bytes"
	"image"
	"image/color"

	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/engine/vt"
	"tandem/panes/graphics"
)

// withSixels is a repaint with the pictures on the screen as sixels, which pass where a
// recording is played: those of kitty's protocol would stay in the terminal.
func withSixels(repaint []byte, sizes []api.LogSize) []byte {
	if !bytes.Contains(repaint, []byte("\x1b_G")) || len(sizes) == 0 {
		return repaint
	}
	term := vt.New(vt.Options{Cols: sizes[0].Cols, Rows: sizes[0].Rows, ScrollbackLines: -1})
	_, _ = term.Write(repaint) // which never fails
	out, over := term.AppendRepaint(nil), vt.NewOver(term)
	if !over.Addressed() {
		return out
	}
	out = over.AppendAside(out)
	for _, p := range patchesOf(term) {
		out = append(out, ansi.CursorPosition(p.X+1, p.Y+1)...)
		out = append(out, p.Sheet.Sixel(p.Cells, graphics.Screen{Cell: p.Sheet.At.Cell, Backdrop: color.RGBA{A: 255}})...)
	}
	return over.AppendCursor(out)
}

// patchesOf are the pictures on a screen.
func patchesOf(term *vt.Terminal) (all []graphics.Patch) {
	sheets := map[uint64]*graphics.Sheet{}
	_, first, end := term.Bounds()
	for _, l := range term.Lines(first, int(end-first)) {
		for _, s := range l.Line.Pictures {
			if sheets[s.ID] == nil {
				sheets[s.ID] = &graphics.Sheet{Source: sourceOf(term, s.Picture), At: *s.Placement}
			}
			cells := image.Rect(s.From-s.X, s.Row, s.To-s.X, s.Row+1)
			if cells.In(image.Rect(0, 0, s.Cols, s.Rows)) {
				all = graphics.AddRow(all, graphics.Patch{Sheet: sheets[s.ID], Cells: cells, X: s.From, Y: int(l.N - first)})
			}
		}
	}
	return all
}

// sourceOf is a picture that a terminal keeps; one that is damaged has no PNG, and is not
// drawn.
func sourceOf(term *vt.Terminal, number uint64) *graphics.Source {
	p := term.Picture(number)
	if p == nil {
		return &graphics.Source{Size: image.Pt(1, 1)}
	}
	text, err := p.PNG()
	if err != nil {
		text = nil
	}
	return &graphics.Source{Size: p.Size, PNG: text}
}
