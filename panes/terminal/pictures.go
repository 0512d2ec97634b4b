package terminal

import (
	"image"

	"tandem/engine/api"
	"tandem/engine/screen/styled"
	"tandem/panes/kit/graphics"
)

// A gallery has the pictures of a session and their placements. The screen's mutex guards it.
type gallery struct {
	sources map[uint64]*graphics.Source
	order   []uint64 // oldest first
	bytes   int
	sheets  map[uint64]*graphics.Sheet // by placement
}

// Once there are more than maxIdleSheets sheets, those of lines no longer held are dropped.
const maxIdleSheets = 256

// addPicture adds a picture, or replaces the picture with the same number. It must drop the oldest
// pictures by the same rule as the engine, which sends a picture again only if it believes that the
// dashboard has dropped it.
func (g *gallery) addPicture(p *api.Picture) {
	if g.sources == nil {
		g.sources = map[uint64]*graphics.Source{}
	}
	if old := g.sources[p.Number]; old != nil {
		g.bytes -= len(old.PNG)
	} else {
		g.order = append(g.order, p.Number)
	}
	g.sources[p.Number] = &graphics.Source{Size: p.Size, PNG: p.PNG}
	for g.bytes += len(p.PNG); g.bytes > api.PicturesHeld && len(g.order) > 1; g.order = g.order[1:] {
		g.bytes -= len(g.sources[g.order[0]].PNG)
		delete(g.sources, g.order[0])
	}
}

// addSheets makes sheets for the pictures in lines.
func (g *gallery) addSheets(lines []api.NumberedLine) {
	for i := range lines {
		for _, s := range lines[i].Line.Pictures {
			// Keep the sheet of an unchanged placement, because it caches scaled pixels.
			if old := g.sheets[s.ID]; old != nil && old.At == *s.Placement {
				continue
			}
			if from := g.sources[s.Picture]; from != nil && len(from.PNG) > 0 {
				if g.sheets == nil {
					g.sheets = map[uint64]*graphics.Sheet{}
				}
				g.sheets[s.ID] = &graphics.Sheet{Source: from, At: *s.Placement}
			}
		}
	}
}

// pruneSheets drops the sheets of lines no longer held.
func (g *gallery) pruneSheets(held map[int64]*screenLine) {
	if len(g.sheets) <= maxIdleSheets {
		return
	}
	shown := map[uint64]*graphics.Sheet{}
	for _, l := range held {
		for _, s := range l.line.Pictures {
			if sheet := g.sheets[s.ID]; sheet != nil {
				shown[s.ID] = sheet
			}
		}
	}
	g.sheets = shown
}

// drawPictures returns a line of w columns with its pictures as half blocks. If the terminal draws
// the pictures itself, their cells are made unique instead, so that the renderer rewrites them.
func (g *gallery) drawPictures(l api.Line, w int, on graphics.Screen) api.Line {
	if len(l.Pictures) == 0 || on.Protocol == graphics.Off || l.Size != styled.SingleSize {
		return l
	}
	cells := make([]api.Run, w)
	for x := range cells {
		cells[x] = api.Run{Text: " ", Cells: 1}
	}
	for _, c := range appendClusters(nil, l) {
		if c.x+c.w <= w {
			cells[c.x] = api.Run{Style: *c.style, Text: c.text, Cells: c.w}
			for x := c.x + 1; x < c.x+c.w; x++ {
				cells[x] = api.Run{}
			}
		}
	}
	for _, s := range l.Pictures {
		sheet := g.sheets[s.ID]
		if sheet == nil || sheet.IsBelowText() && (on.Protocol == graphics.Kitty || len(l.Runs) > 0) {
			continue
		}
		for x := max(s.From, 0); x < min(s.To, w); x++ {
			if run, seen := blockCell(sheet, x-s.X, s.Row, on); seen {
				coverCell(cells, x, run)
			}
		}
	}
	l.Runs = nil
	for _, c := range cells {
		if c.Cells > 0 {
			l.Runs = append(l.Runs, c)
		}
	}
	return l
}

// blockCell returns a cell of a sheet.
func blockCell(sheet *graphics.Sheet, x, y int, on graphics.Screen) (run api.Run, seen bool) {
	run = api.Run{Cells: 1}
	if on.Exact() {
		run.Style.Attrs, run.Style.FG = styled.Conceal, styled.ColorRGB|styled.Color(sheet.At.ID&0xFFFFFF)
		run.Text = " "
		return run, true
	}
	run.Text = "▀"
	run.Style.FG, run.Style.BG, seen = sheet.BlockColors(x, y, on)
	return run, seen
}

// coverCell replaces the cell at column x by a run of one cell. If a wide character was there, its
// other half becomes a blank.
func coverCell(cells []api.Run, x int, run api.Run) {
	if cells[x].Cells == 2 && x+1 < len(cells) {
		cells[x+1] = api.Run{Style: cells[x].Style, Text: " ", Cells: 1}
	}
	if cells[x].Cells == 0 && x > 0 {
		cells[x-1] = api.Run{Style: cells[x-1].Style, Text: " ", Cells: 1}
	}
	cells[x] = run
}

// Patches returns the pictures that the terminal must draw over the rows of a window, except in
// rows for which hidden returns true.
func (s *Screen) Patches(win Window, hidden func(y int) bool) (all []graphics.Patch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !win.Pictures.Exact() {
		return nil
	}
	w := min(win.W, s.state.Cols)
	for y := range win.H {
		l := s.lines[win.Top+int64(y)]
		if l == nil || hidden(y) || l.line.Size != styled.SingleSize {
			continue
		}
		for _, one := range l.line.Pictures {
			sheet := s.gallery.sheets[one.ID]
			cells := image.Rect(one.From-one.X, one.Row, min(one.To, w)-one.X, one.Row+1)
			if sheet == nil || one.From < 0 || one.From >= w || !cells.In(image.Rect(0, 0, sheet.At.Cols, sheet.At.Rows)) {
				continue
			}
			all = graphics.AddRow(all, graphics.Patch{Sheet: sheet, Cells: cells, X: one.From, Y: y})
		}
	}
	return all
}
