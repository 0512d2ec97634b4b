// Package pictures shows a program's pictures on a terminal that receives the program's own output
// but does not support the protocol of its pictures. It converts kitty's protocol to sixels, sixels
// to kitty's protocol, and either to half blocks. Attach and the player of recordings use it.
package pictures

import (
	"bytes"
	"fmt"
	"image"
	"maps"
	"slices"

	"tandem/engine/screen/passthrough"
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt"
	"tandem/panes/kit/graphics"
)

// A Shape describes a terminal: its size in cells and its support for pictures.
type Shape struct {
	Cols, Rows int
	On         graphics.Screen
}

// A Converter converts a program's output for a terminal. The filter removes the pictures,
// and the converter draws them over the text. It knows the screen from an emulator of its
// own. If a picture has moved the cursor or scrolled the screen, the terminal is out of
// step and gets a repaint.
type Converter struct {
	filter  *passthrough.Filter
	shape   Shape
	model   *vt.Terminal
	screen  vt.Overlay
	seq     uint64        // sequence number of the last diff
	first   int64         // line number of the top row at that time
	count   uint64        // the emulator's counter of picture changes
	moves   uint64        // the emulator's counter of text that moved between rows
	at      styled.Cursor // cursor when pictures were last drawn
	stale   bool          // the terminal does not show the emulator's screen
	undrawn bool          // the screen was erased, but its pictures could not be drawn yet
	hides   bool          // the pictures drawn replaced text, which the terminal may have lost
	out     []byte

	strips     map[int64][]styled.Strip // pictures on the screen, by line
	sheets     map[uint64]*graphics.Sheet
	written    map[int64]bool // lines written since pictures were last drawn
	redrawText map[int64]bool // such lines with pictures now or before, or with text from below one; their text may be lost or moved
	shown      graphics.Display
}

// New returns a converter for a blank screen, or for output that starts with a repaint. The
// converter takes over the filter.
func New(filter *passthrough.Filter, s Shape) *Converter {
	return Continue(filter, s, vt.New(vt.Options{Cols: s.Cols, Rows: s.Rows, ScrollbackLines: 1, Cell: s.On.Cell}))
}

// Continue returns a converter for a terminal that already shows the filtered output of
// model. It starts with a repaint if the screen has a picture.
func Continue(filter *passthrough.Filter, s Shape, model *vt.Terminal) *Converter {
	filter.Redraw()
	return &Converter{filter: filter, shape: s, model: model, screen: vt.NewOverlay(model),
		strips: map[int64][]styled.Strip{}, written: map[int64]bool{}, redrawText: map[int64]bool{}}
}

// SetShape changes the terminal's shape. It must be called before anything is written at
// the new size.
func (c *Converter) SetShape(s Shape) {
	if s == c.shape {
		return
	}
	c.stale = true
	c.shape = s
	c.model.SetCell(s.On.Cell)
	c.model.Resize(s.Cols, s.Rows)
}

// ConvertOutput returns the bytes to write for a piece of output. They are valid until the
// next call.
func (c *Converter) ConvertOutput(p []byte) []byte {
	// Writing to the emulator never fails.
	_, _ = c.model.Write(p)
	passed, switched := c.filter.Pass(p)
	c.out = append(c.out[:0], passed...)
	now := c.model.PictureChanges().Pictures
	c.stale = c.stale || switched || now != c.count
	c.count = now
	// Nothing can be written inside a control string.
	if c.filter.Within() {
		return c.out
	}
	if !c.stale {
		c.out = c.appendPictures(c.out, false)
	}
	if c.stale {
		c.stale = false
		c.out = append(append(c.out[:0], beginSync...), passed...)
		c.out = append(c.out, c.repaintScreen()...)
		if c.out = c.appendPictures(c.out, true); !c.model.Modes().Sync {
			c.out = append(c.out, endSync...)
		}
	}
	return c.out
}

// Synchronised output.
const (
	beginSync = "\x1b[?2026h"
	endSync   = "\x1b[?2026l"
)

// repaintScreen returns a repaint of the whole screen, to be shown together with the
// pictures.
func (c *Converter) repaintScreen() []byte {
	return bytes.Replace(c.filter.Repaint(c.model.AppendRepaint(nil)), []byte(endSync), nil, 1)
}

// AppendForget appends a sequence that deletes all pictures.
func (c *Converter) AppendForget(dst []byte) []byte { return c.shown.AppendClear(dst) }

// appendPictures appends the pictures that are missing or were overwritten.
func (c *Converter) appendPictures(dst []byte, erased bool) []byte {
	c.trackScreen(erased)
	if len(c.strips) == 0 && len(c.redrawText) == 0 && !c.shown.HasPatches() && !erased {
		clear(c.written)
		return dst
	}
	if !c.screen.CanAddressCells() {
		// Text that moved out from under a picture needs a repaint; the pictures wait until
		// cells can be addressed.
		c.stale = c.hides && len(c.redrawText) > 0 && !erased && !c.undrawn
		c.undrawn = c.undrawn || erased
		return dst
	}
	drawn := c.makePictures(erased || c.undrawn)
	c.undrawn = false
	c.hides = c.replacesText()
	clear(c.written)
	clear(c.redrawText)
	if len(drawn) == 0 {
		return dst
	}
	c.at = c.model.Cursor()
	return c.screen.AppendCursor(append(c.screen.AppendPlainStyle(dst), drawn...))
}

func (c *Converter) makePictures(erased bool) []byte {
	switch c.shape.On.Protocol {
	case graphics.Kitty:
		return c.shown.AppendUpdate(nil, c.makePatches(), c.writtenRows(), erased)
	case graphics.Sixel:
		drawn := c.appendText([]byte(noMargins))
		if drawn = c.shown.AppendUpdate(drawn, c.makePatches(), c.writtenRows(), erased); len(drawn) > len(noMargins) {
			return c.screen.AppendMargins(drawn)
		}
	case graphics.Blocks:
		return c.appendBlocks(c.appendText(nil))
	}
	return nil
}

// replacesText reports whether drawing the pictures may change the terminal's text. Half blocks
// are text themselves, and some terminals blank the cells below a sixel.
func (c *Converter) replacesText() bool {
	for n, strips := range c.strips {
		for _, s := range strips {
			switch c.shape.On.Protocol {
			case graphics.Blocks:
				return true
			case graphics.Sixel:
				if c.hasText(s.From, s.To, int(n-c.first)) {
					return true
				}
			}
		}
	}
	return false
}

// hasText reports whether cells of row y, from column x up to end, show text or a style.
func (c *Converter) hasText(x, end, y int) bool {
	for ; x < end; x++ {
		if text, style := c.screen.Cell(x, y); text != " " || style != (styled.Style{}) {
			return true
		}
	}
	return false
}

// noMargins resets the margins: a sixel picture would scroll within them.
const noMargins = "\x1b[r"

// trackScreen updates the converter's state after a change of the screen.
func (c *Converter) trackScreen(erased bool) {
	d := c.model.Diff(c.seq)
	if d.Full {
		clear(c.strips)
	} else {
		c.shown.ScrollUp(int(min(d.First-c.first, int64(d.Rows))))
	}
	if y := c.first + int64(c.at.Y); (d.Cursor.X != c.at.X || d.First+int64(d.Cursor.Y) != y) && c.strips[y] != nil {
		// The program may overwrite the character printed last, even over a picture.
		c.written[y] = true
	}
	c.seq, c.first = d.Seq, d.First
	moves := c.model.PictureChanges().TextMoves
	moved := c.hides && moves != c.moves
	c.moves = moves
	for _, l := range d.Lines {
		c.written[l.N] = true
		strips := c.drawableStrips(l.Line)
		c.redrawText[l.N] = c.redrawText[l.N] || moved || len(l.Line.Pictures)+len(c.strips[l.N]) > 0
		if delete(c.strips, l.N); len(strips) > 0 {
			c.strips[l.N] = strips
		}
	}
	off := func(n int64) bool { return n < d.First || n >= d.First+int64(d.Rows) }
	maps.DeleteFunc(c.strips, func(n int64, _ []styled.Strip) bool { return off(n) })
	maps.DeleteFunc(c.written, func(n int64, _ bool) bool { return off(n) })
	maps.DeleteFunc(c.redrawText, func(n int64, is bool) bool { return off(n) || !is || erased })
	for n := range c.strips {
		if erased {
			c.written[n] = true
		}
	}
	c.updateSheets()
}

// drawableStrips returns the pictures of a line to draw over its text. Pictures below text
// are drawn only with kitty's protocol, or if the line has no text.
func (c *Converter) drawableStrips(l styled.Line) []styled.Strip {
	if l.Size != styled.SingleSize {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(l.Pictures), func(s styled.Strip) bool {
		cells := image.Rect(s.From-s.X, s.Row, s.To-s.X, s.Row+1)
		below := s.Z < 0 && c.shape.On.Protocol != graphics.Kitty && len(l.Runs) > 0
		return below || s.From < 0 || !cells.In(image.Rect(0, 0, s.Cols, s.Rows))
	})
}

// updateSheets prepares the pictures on the screen, and drops the others.
func (c *Converter) updateSheets() {
	sheets := map[uint64]*graphics.Sheet{}
	for _, strips := range c.strips {
		for _, s := range strips {
			sheet := c.sheets[s.ID]
			if sheet == nil || sheet.At != *s.Placement {
				sheet = &graphics.Sheet{Source: c.loadSource(s.Picture), At: *s.Placement}
			}
			sheets[s.ID] = sheet
		}
	}
	c.sheets = sheets
}

// loadSource returns a picture kept by the emulator. A damaged one cannot be encoded as
// PNG and is not drawn.
func (c *Converter) loadSource(number uint64) *graphics.Source {
	if p := c.model.Picture(number); p != nil {
		if text, err := p.PNG(); err == nil {
			return &graphics.Source{Size: p.Size, PNG: text}
		}
	}
	return &graphics.Source{Size: image.Pt(1, 1)}
}

// pictureLines returns the lines with pictures, from the top.
func (c *Converter) pictureLines() []int64 { return slices.Sorted(maps.Keys(c.strips)) }

func (c *Converter) makePatches() graphics.Patches {
	next := graphics.Patches{On: c.shape.On}
	for _, n := range c.pictureLines() {
		for _, s := range c.strips[n] {
			next.All = graphics.AddRow(next.All, graphics.Patch{
				Sheet: c.sheets[s.ID], Cells: image.Rect(s.From-s.X, s.Row, s.To-s.X, s.Row+1), X: s.From, Y: int(n - c.first)})
		}
	}
	return next
}

// writtenRows returns the rows of the screen written since the last drawing.
func (c *Converter) writtenRows() map[int]bool {
	rows := map[int]bool{}
	for n := range c.written {
		rows[int(n-c.first)] = true
	}
	return rows
}

// appendBlocks draws pictures in half blocks, in the rows written.
func (c *Converter) appendBlocks(dst []byte) []byte {
	for _, n := range c.pictureLines() {
		if !c.written[n] {
			continue
		}
		for _, s := range c.strips[n] {
			dst = c.appendBlockRow(dst, s, int(n-c.first))
		}
	}
	return dst
}

// appendText redraws the text of lines under pictures, which some terminals lose there.
func (c *Converter) appendText(dst []byte) []byte {
	for n := range c.redrawText {
		dst = c.screen.AppendCells(dst, 0, int(n-c.first), c.shape.Cols)
	}
	return dst
}

func (c *Converter) appendBlockRow(dst []byte, s styled.Strip, y int) []byte {
	// next is the column after the cell drawn last.
	next := -1
	for x := s.From; x < min(s.To, c.shape.Cols); x++ {
		var style styled.Style
		var seen bool
		if style.FG, style.BG, seen = c.sheets[s.ID].BlockColors(x-s.X, s.Row, c.shape.On); !seen {
			continue
		}
		if x != next {
			dst = fmt.Appendf(dst, "\x1b[%d;%dH", y+1, x+1)
		}
		dst = append(styled.AppendSGR(append(dst, "\x1b["...), style), "m▀"...)
		next = x + 1
	}
	return append(dst, "\x1b[m"...)
}
