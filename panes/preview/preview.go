package preview

import (
	"regexp"
	"slices"

	"tandem/engine/api"
	"tandem/panes/kit/graphics"
	"tandem/panes/kit/text"
)

// These limit how much of a file a Preview requests and holds, in bytes and in lines.
const (
	previewHead  = 64 << 10
	previewChunk = 256 << 10
	previewHeld  = 4 << 20
	previewAhead = 200 // lines to load beyond the visible ones
)

// A previewKind is a way to draw a preview.
type previewKind int

const (
	previewNothing previewKind = iota
	previewText                // a window of the file, as lines
	previewHex                 // a window of the file, as bytes
	previewList                // lines describing the whole
	previewWords               // a message in place of content
	previewImage
)

// A Preview shows a file's content: text with its syntax, images, the entries of folders and
// archives, and the bytes of everything else. Of a large file it holds a window around the visible
// part.
type Preview struct {
	Focused bool
	Colors  int             // of the terminal: 0, 16, 256 or 1<<24; determines how images are drawn
	Screen  graphics.Screen // the terminal's graphics capabilities
	Covered bool            // something covers it, so the terminal must not draw

	Position
	note  string            // message in place of content
	bad   bool              // the note is an error
	drawn *graphics.Picture // result of the last Draw, for the terminal

	wrap bool
	w, h int
	goal int64 // line number or offset to show once loaded; 0 for none

	serial  int        // version of the content: incremented for each file and change
	count   int        // number of requests
	opening bool       // the file must be read from its beginning
	keep    bool       // keep the position when it is
	asked   *Request   // pending request
	jump    previewAsk // part far from the held one to load
	counted struct {
		at    int
		start int64
		n     int64
	} // number of the line drawn last
	out []string
}

// A Position is a place in a file, with its marks.
type Position struct {
	path string
	info api.FileInfo
	content
	top          int            // first line drawn
	left         int            // cells scrolled to the left
	currentMatch int64          // number of the current match
	matches      []int64        // numbers of all matches
	find         *regexp.Regexp // marked in the text; nil for none
}

// content is the held part of a file.
type content struct {
	kind     previewKind
	row      int // bytes per row, for previewHex
	lines    []previewLine
	start    int64 // offset of the first line held
	end      int64 // offset after the last line held
	size     int64
	number   int64 // of the first line held, from 1; 0 while unknown
	image    *picturePreview
	lexer    string
	encoding encoding            // for previewText
	painted  map[int64][]inkSpan // syntax of lines, by offset
}

// A previewLine is a line of content.
type previewLine struct {
	off  int64  // offset in the file
	text string // safe to draw
	side string // shown at the right end: an entry's size
	cont bool   // continues the line before
	ink  lineInk
}

// A lineInk is the style of a line that is not coloured by its syntax.
type lineInk uint8

const (
	inkText lineInk = iota
	inkDim
	inkAccent
)

// Show opens a file. A changed file is read again at the same position.
func (p *Preview) Show(path string, info api.FileInfo) {
	same := p.path == path
	if same && p.info.Size == info.Size && p.info.Modified.Equal(info.Modified) && p.info.Type == info.Type && p.info.Mode == info.Mode {
		return
	}
	held := p.Position
	*p = Preview{Focused: p.Focused, Colors: p.Colors, Screen: p.Screen, Covered: p.Covered, wrap: p.wrap, w: p.w, h: p.h, out: p.out,
		serial: p.serial + 1, count: p.count, asked: p.asked, opening: true}
	if same { // the old content stays visible until the new one arrives
		p.Position, p.keep = held, true
	}
	p.path, p.info = path, info
}

// Clear removes the content.
func (p *Preview) Clear() {
	*p = Preview{Colors: p.Colors, Screen: p.Screen, Covered: p.Covered, wrap: p.wrap, w: p.w, h: p.h, serial: p.serial + 1, count: p.count}
}

// Path returns the path of the file, or "".
func (p *Preview) Path() string { return p.path }

// isWindowed reports whether only a part of the file is held.
func (c *content) isWindowed() bool { return c.kind == previewText || c.kind == previewHex }

// numberOf returns the number of a line.
func (c *content) numberOf(i int) int64 { return c.number + int64(countLines(c.lines[:i+1])) - 1 }

// Scroll scrolls down by a number of lines, or up if it is negative.
func (p *Preview) Scroll(by int) {
	p.top = max(min(p.top+by, p.lastTop()), 0)
}

// lastTop returns the index of the first visible line when the preview is scrolled to the end.
func (p *Preview) lastTop() int {
	first := max(len(p.lines)-max(p.h, 1), 0)
	if !p.wrap || p.w <= 0 {
		return first
	}
	gutter, rows := p.gutter(), 0
	for i := len(p.lines) - 1; i > first; i-- {
		room, _ := p.splitRow(&p.lines[i], gutter)
		if rows += max((text.Width(p.lines[i].text)+room-1)/room, 1); rows > p.h {
			return min(i+1, len(p.lines)-1)
		}
	}
	return first
}

// Pages scrolls by half pages.
func (p *Preview) Pages(halves int) { p.Scroll(halves * max(p.h-1, 1) / 2) }

// Sideways scrolls by eighths of the width, unless lines wrap.
func (p *Preview) Sideways(steps int) {
	if !p.wrap {
		p.left = max(p.left+steps*max(p.w/8, 4), 0)
	}
}

// Wrap toggles the wrapping of long lines.
func (p *Preview) Wrap() { p.wrap, p.left = !p.wrap, 0 }

// Home goes to the beginning of the file.
func (p *Preview) Home() {
	p.top, p.left = 0, 0
	if p.isWindowed() && p.start > 0 {
		p.jump = needHead
	}
}

// End goes to the end of the file.
func (p *Preview) End() {
	p.top = p.lastTop()
	if p.isWindowed() && p.end < p.size {
		p.jump = needTail
	}
}

// GoLine shows line n of a text, counted from 1, as soon as it is loaded.
func (p *Preview) GoLine(n int64) {
	p.goal, p.currentMatch = n, n
	if p.isWindowed() && (p.number == 0 || n < p.number) {
		p.jump = needHead
	}
	p.showGoal()
}

// Search sets the result of a search: the numbers of the matching lines, in order.
func (p *Preview) Search(hits []int64) { p.matches = hits }

// Mark sets the expression whose matches are marked in the current file; nil marks nothing.
func (p *Preview) Mark(find *regexp.Regexp) { p.find = find }

// Hit returns the number of the current match, counted from 1, and the number of all matches.
func (p *Preview) Hit() (number, total int) {
	total = len(p.matches)
	at, _ := slices.BinarySearch(p.matches, p.currentMatch)
	return min(at+1, total), total
}

// Return goes back to an earlier position in the current file, unless the file has changed.
func (p *Preview) Return(to Position) {
	if to.path != p.path || to.info != p.info || p.opening || to.row != p.row {
		return
	}
	p.Position, p.goal, p.jump = to, 0, needNothing
	p.serial++ // pending results must not be added to it
}

// NextHit goes to the next matching line, or to the previous one if back is set, wrapping around.
// It returns false if nothing matches.
func (p *Preview) NextHit(back bool) bool {
	if len(p.matches) == 0 {
		return false
	}
	here := p.currentMatch
	// If there is no current match, continue from the first visible line.
	if here == 0 && p.number > 0 && p.top < len(p.lines) {
		here = p.numberOf(p.top) - 1
	}
	at, _ := slices.BinarySearch(p.matches, here+1)
	if back {
		at, _ = slices.BinarySearch(p.matches, here)
		at += len(p.matches) - 1
	}
	p.GoLine(p.matches[at%len(p.matches)])
	return true
}

// Resize sets the visible size.
func (p *Preview) Resize(w, h int) {
	p.w, p.h = w, h
	if p.kind == previewHex && !p.opening && p.row != hexRowFor(w, p.size) { // reload with another row length
		p.serial++
		p.row, p.opening = hexRowFor(w, p.size), true
	}
}

// showGoal shows the requested line if it is loaded.
func (p *Preview) showGoal() {
	if p.goal == 0 || p.number == 0 || p.kind != previewText {
		return
	}
	n := p.number - 1
	for i := range p.lines {
		if !p.lines[i].cont {
			n++
		}
		if n == p.goal {
			p.top = max(min(i-p.h/3, p.lastTop()), 0)
			p.goal = 0
			return
		}
	}
	if p.end >= p.size {
		p.goal = 0
	}
}

// Take applies the result of a request. It drops results for another file or an earlier state.
func (p *Preview) Take(part Part) {
	if p.asked == nil || part.n != p.asked.n || part.serial != p.serial {
		return
	}
	p.asked = nil
	switch part.ask {
	case needPaint:
		p.takePaint(part)
		return
	case needExact:
		p.takeExact(part)
		return
	}
	if part.Err != nil {
		// A failed read of another part leaves the visible one in place.
		if part.ask == needOpen || len(p.lines) == 0 {
			p.kind, p.lines, p.image = previewNothing, nil, nil
		}
		p.note, p.bad = part.note, true
		return
	}
	p.size, p.note, p.bad = part.size, part.note, false
	switch part.ask {
	case needOpen, needHead, needTail:
		p.replaceContent(part)
	case needMore:
		p.end = part.end
		p.lines = append(p.lines, part.lines...)
		if p.goal > 0 { // what is above was only loaded on the way
			p.top = p.lastTop()
		}
		p.trimHead()
	case needBefore:
		p.prependLines(part)
	}
	p.showGoal()
}

func (p *Preview) replaceContent(part Part) {
	keep := p.keep && part.ask == needOpen && part.kind == p.kind
	p.keep = false
	p.content = part.content
	if p.start == 0 {
		p.number = 1
	}
	switch {
	case part.ask == needTail:
		p.top = p.lastTop()
	// Only a reload of the same kind of content keeps the position.
	case !keep:
		p.top, p.left = 0, 0
	default:
		p.top = min(p.top, p.lastTop())
	}
}

func (p *Preview) prependLines(part Part) {
	n := len(part.lines)
	p.lines = append(part.lines, p.lines...)
	p.start = part.start
	p.top += n
	if p.number > 0 {
		p.number -= int64(countLines(part.lines))
	}
	if p.start == 0 {
		p.number = 1
	}
	// The window is full: drop lines far below.
	if p.end-p.start > previewHeld {
		cut := len(p.lines)
		for cut > p.top+2*p.h+previewAhead && p.lines[cut-1].off-p.start > previewHeld/2 {
			cut--
		}
		if cut < len(p.lines) {
			p.end = p.lines[cut].off
			p.lines = p.lines[:cut:cut]
		}
	}
}

// trimHead drops lines far above.
func (p *Preview) trimHead() {
	if p.end-p.start <= previewHeld {
		return
	}
	cut := 0
	// Drop down to half the window, so that lines need not be dropped after every part.
	for cut < p.top-previewAhead && p.end-p.lines[cut].off > previewHeld/2 {
		cut++
	}
	if cut == 0 {
		return
	}
	if p.number > 0 {
		p.number += int64(countLines(p.lines[:cut]))
	}
	// Copy the lines, because a slice would keep the dropped ones in memory.
	p.lines = append([]previewLine(nil), p.lines[cut:]...)
	p.start, p.top = p.lines[0].off, p.top-cut
}

func countLines(lines []previewLine) (n int) {
	for i := range lines {
		if !lines[i].cont {
			n++
		}
	}
	return n
}
