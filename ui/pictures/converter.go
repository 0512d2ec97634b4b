// Package pictures shows on a terminal that takes a program's own bytes what that prints of
// pictures, where the terminal does not know them as the program writes them: kitty's
// protocol as sixels, sixels by kitty's protocol, either in half blocks. Attach and the
// player of recordings use it.
package pictures

import (
	"bytes"
	"fmt"
	"image"
	"maps"
	"slices"

	"tandem/engine/passthrough"
	"tandem/engine/styled"
	"tandem/engine/vt"
	"tandem/panes/graphics"
)

// A Shape is a terminal: its size in cells, and what it does with pictures.
type Shape struct {
	Cols, Rows int
	On         graphics.Screen
}

// A Converter makes of a program's output what a terminal is written. It knows the screen
// by an emulator of its own; the pictures, which the filter keeps back, it draws over the
// text, and where they have moved the cursor or the screen, it paints that anew.
type Converter struct {
	filter *passthrough.Filter
	shape  Shape
	model  *vt.Terminal
	screen vt.Overlay
	seq    uint64        // of the last diff
	first  int64         // number of the top row then
	count  uint64        // what the emulator said of its pictures
	at     styled.Cursor // when pictures were drawn
	stale  bool          // the terminal does not show the screen
	bare   bool          // it was erased, and its pictures could not be drawn
	out    []byte

	strips  map[int64][]styled.Strip // by line, of those on the screen that have some
	sheets  map[uint64]*graphics.Sheet
	written map[int64]bool // lines that are, since pictures were drawn
	under   map[int64]bool // lines of these with pictures, before or now, whose text may be gone or elsewhere
	shown   graphics.Display
}

// New returns a converter that begins with a blank screen, or with a repaint. What passes
// beside pictures is the filter's to say, which is the converter's from now on.
func New(filter *passthrough.Filter, s Shape) *Converter {
	return Continue(filter, s, vt.New(vt.Options{Cols: s.Cols, Rows: s.Rows, ScrollbackLines: 1, Cell: s.On.Cell}))
}

// Continue returns a converter for a terminal that has been written what passed the filter
// of the output that the emulator has had. It begins with a repaint, if there is a picture.
func Continue(filter *passthrough.Filter, s Shape, model *vt.Terminal) *Converter {
	filter.Redraw()
	return &Converter{filter: filter, shape: s, model: model, screen: vt.NewOverlay(model),
		strips: map[int64][]styled.Strip{}, written: map[int64]bool{}, under: map[int64]bool{}}
}

// Fit takes in that the terminal has another shape. Nothing may have been written to it
// since it has.
func (c *Converter) Fit(s Shape) {
	if s == c.shape {
		return
	}
	c.stale = true
	c.shape = s
	c.model.SetCell(s.On.Cell)
	c.model.Resize(s.Cols, s.Rows)
}

// Pass returns what is to be written for a piece of output; it is valid until the next
// call.
func (c *Converter) Pass(p []byte) []byte {
	_, _ = c.model.Write(p) // which never fails
	passed, switched := c.filter.Pass(p)
	c.out = append(c.out[:0], passed...)
	now := c.model.PictureChanges()
	c.stale = c.stale || switched || now != c.count
	c.count = now
	if c.filter.Within() { // until that ends nothing can be written
		return c.out
	}
	if !c.stale {
		c.out = c.draw(c.out, false)
	}
	if c.stale {
		c.stale = false
		c.out = append(append(c.out[:0], holdBack...), passed...)
		c.out = append(c.out, c.repaint()...)
		if c.out = c.draw(c.out, true); !c.model.Modes().Sync {
			c.out = append(c.out, showNow...)
		}
	}
	return c.out
}

// Synchronised output.
const (
	holdBack = "\x1b[?2026h"
	showNow  = "\x1b[?2026l"
)

// repaint is the whole screen, shown together with what comes next.
func (c *Converter) repaint() []byte {
	return bytes.Replace(c.filter.Repaint(c.model.AppendRepaint(nil)), []byte(showNow), nil, 1)
}

// AppendForget appends what leaves no pictures in the terminal.
func (c *Converter) AppendForget(dst []byte) []byte { return c.shown.AppendClear(dst) }

// draw appends what draws the pictures where they are not yet, or are written over.
func (c *Converter) draw(dst []byte, erased bool) []byte {
	c.follow(erased)
	if len(c.strips) == 0 && len(c.under) == 0 && !c.shown.HasPatches() && !erased {
		clear(c.written)
		return dst
	}
	if !c.screen.CanAddressCells() {
		c.stale = c.shape.On.Protocol == graphics.Blocks && len(c.under) > 0 && !erased && !c.bare // blocks move as text does
		c.bare = c.bare || erased
		return dst
	}
	drawn := c.drawing(erased || c.bare)
	c.bare = false
	clear(c.written)
	clear(c.under)
	if len(drawn) == 0 {
		return dst
	}
	c.at = c.model.Cursor()
	return c.screen.AppendCursor(append(c.screen.AppendPlainStyle(dst), drawn...))
}

func (c *Converter) drawing(erased bool) []byte {
	switch c.shape.On.Protocol {
	case graphics.Kitty:
		return c.shown.AppendUpdate(nil, c.patches(), c.rows(), erased)
	case graphics.Sixel:
		drawn := c.appendText([]byte(noMargins))
		if drawn = c.shown.AppendUpdate(drawn, c.patches(), c.rows(), erased); len(drawn) > len(noMargins) {
			return c.screen.AppendMargins(drawn)
		}
	case graphics.Blocks:
		return c.appendBlocks(c.appendText(nil))
	}
	return nil
}

// noMargins lifts the margins: a sixel picture scrolls them.
const noMargins = "\x1b[r"

// follow takes in what has changed on the screen.
func (c *Converter) follow(erased bool) {
	d := c.model.Diff(c.seq)
	if d.Full {
		clear(c.strips)
	} else {
		c.shown.ScrollUp(int(min(d.First-c.first, int64(d.Rows))))
	}
	if y := c.first + int64(c.at.Y); (d.Cursor.X != c.at.X || d.First+int64(d.Cursor.Y) != y) && c.strips[y] != nil {
		c.written[y] = true // what was printed last stands there again, over pictures too
	}
	c.seq, c.first = d.Seq, d.First
	for _, l := range d.Lines {
		c.written[l.N] = true
		strips := c.drawable(l.Line)
		c.under[l.N] = c.under[l.N] || len(l.Line.Pictures)+len(c.strips[l.N]) > 0
		if delete(c.strips, l.N); len(strips) > 0 {
			c.strips[l.N] = strips
		}
	}
	off := func(n int64) bool { return n < d.First || n >= d.First+int64(d.Rows) }
	maps.DeleteFunc(c.strips, func(n int64, _ []styled.Strip) bool { return off(n) })
	maps.DeleteFunc(c.written, func(n int64, _ bool) bool { return off(n) })
	maps.DeleteFunc(c.under, func(n int64, is bool) bool { return off(n) || !is || erased })
	for n := range c.strips {
		if erased {
			c.written[n] = true
		}
	}
	c.hang()
}

// drawable are the pictures of a line that are drawn over its text. What is below text is
// drawn by kitty's protocol alone, and else where there is none.
func (c *Converter) drawable(l styled.Line) []styled.Strip {
	if l.Size != styled.SingleSize {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(l.Pictures), func(s styled.Strip) bool {
		cells := image.Rect(s.From-s.X, s.Row, s.To-s.X, s.Row+1)
		below := s.Z < 0 && c.shape.On.Protocol != graphics.Kitty && len(l.Runs) > 0
		return below || s.From < 0 || !cells.In(image.Rect(0, 0, s.Cols, s.Rows))
	})
}

// hang has a sheet for what is on the screen, and none for what is not.
func (c *Converter) hang() {
	sheets := map[uint64]*graphics.Sheet{}
	for _, strips := range c.strips {
		for _, s := range strips {
			sheet := c.sheets[s.ID]
			if sheet == nil || sheet.At != *s.Placement {
				sheet = &graphics.Sheet{Source: c.source(s.Picture), At: *s.Placement}
			}
			sheets[s.ID] = sheet
		}
	}
	c.sheets = sheets
}

// source is a picture that the emulator keeps; one that is damaged has no PNG, and is not
// drawn.
func (c *Converter) source(number uint64) *graphics.Source {
	if p := c.model.Picture(number); p != nil {
		if text, err := p.PNG(); err == nil {
			return &graphics.Source{Size: p.Size, PNG: text}
		}
	}
	return &graphics.Source{Size: image.Pt(1, 1)}
}

// lines are those on the screen with pictures, from the top.
func (c *Converter) lines() []int64 { return slices.Sorted(maps.Keys(c.strips)) }

func (c *Converter) patches() graphics.Patches {
	next := graphics.Patches{On: c.shape.On}
	for _, n := range c.lines() {
		for _, s := range c.strips[n] {
			next.All = graphics.AddRow(next.All, graphics.Patch{
				Sheet: c.sheets[s.ID], Cells: image.Rect(s.From-s.X, s.Row, s.To-s.X, s.Row+1), X: s.From, Y: int(n - c.first)})
		}
	}
	return next
}

// rows are those of the screen that are written.
func (c *Converter) rows() map[int]bool {
	rows := map[int]bool{}
	for n := range c.written {
		rows[int(n-c.first)] = true
	}
	return rows
}

// appendBlocks draws pictures in half blocks, in rows that are written.
func (c *Converter) appendBlocks(dst []byte) []byte {
	for _, n := range c.lines() {
		if !c.written[n] {
			continue
		}
		for _, s := range c.strips[n] {
			dst = c.appendBlockRow(dst, s, int(n-c.first))
		}
	}
	return dst
}

// appendText draws the text of lines under pictures, which some terminals forget there.
func (c *Converter) appendText(dst []byte) []byte {
	for n := range c.under {
		dst = c.screen.AppendCells(dst, 0, int(n-c.first), c.shape.Cols)
	}
	return dst
}

func (c *Converter) appendBlockRow(dst []byte, s styled.Strip, y int) []byte {
	next := -1 // the column behind what was drawn last
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
