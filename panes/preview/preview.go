package preview

import (
	"regexp"
	"slices"

	"tandem/engine/api"
	"tandem/panes/graphics"
	"tandem/panes/widget"
)

// How much of a file a Preview asks for and holds, in bytes and lines.
const (
	previewHead  = 64 << 10
	previewChunk = 256 << 10
	previewHeld  = 4 << 20
	previewAhead = 200 // lines that are wanted beyond those in sight
)

// A previewKind is how a preview is drawn.
type previewKind int

const (
	previewNothing previewKind = iota
	previewText                // a window of the file, as lines
	previewHex                 // a window of the file, 16 bytes a line
	previewList                // lines that stand for the whole
	previewWords               // what is said in place of content
	previewImage
)

// A Preview shows what a file holds: text with its syntax, pictures, the
// entries of folders and archives, and the bytes of everything else. Of a large
// file it holds a window around what is in sight.
type Preview struct {
	Focused bool
	Colors  int             // that the terminal has: 0, 16, 256 or 1<<24; decides how pictures are drawn
	Screen  graphics.Screen // how the terminal draws pictures itself
	Covered bool            // something lies over it, so that the terminal may not

	path string
	info api.FileInfo
	content
	note  string            // in place of content
	bad   bool              // the note is an error
	drawn *graphics.Picture // by Draw, for the terminal to draw

	top  int // line that is drawn first
	left int // cells that are scrolled off
	wrap bool
	w, h int
	goal int64          // line number or offset to show when it is there; 0 for none
	hit  int64          // number of the line that was looked for
	hits []int64        // of all of them
	find *regexp.Regexp // whose matches are marked; nil for none

	serial  int        // of what is shown; counts files and changes of them
	count   int        // of requests
	opening bool       // the file is to be read from its beginning
	keep    bool       // and the place kept
	asked   *Request   // under way
	jump    previewAsk // a part far from what is held
	counted struct {
		at    int
		start int64
		n     int64
	} // number of the line drawn last
	out []string
}

// content is what is held of a file.
type content struct {
	kind     previewKind
	row      int // bytes in each, as previewHex
	lines    []previewLine
	start    int64 // offset of the first line held
	end      int64 // offset behind the last one
	size     int64
	number   int64 // of the first line held, from 1; 0 while that is not known
	image    *picturePreview
	lexer    string
	encoding encoding            // of the file, as previewText
	painted  map[int64][]inkSpan // the syntax of lines, by their offsets
}

// A previewLine is a line of what is shown.
type previewLine struct {
	off  int64  // in the file
	text string // clean
	cont bool   // it goes on with the line before
	ink  lineInk
}

// A lineInk is how a whole line is drawn where there is no syntax.
type lineInk uint8

const (
	inkText lineInk = iota
	inkDim
	inkAccent
)

// Show turns to a file. One that has changed is read again, at the same place.
func (p *Preview) Show(path string, info api.FileInfo) {
	same := p.path == path
	if same && p.info.Size == info.Size && p.info.Modified.Equal(info.Modified) && p.info.Type == info.Type && p.info.Mode == info.Mode {
		return
	}
	held := *p
	*p = Preview{Focused: p.Focused, Colors: p.Colors, Screen: p.Screen, Covered: p.Covered, wrap: p.wrap, w: p.w, h: p.h, out: p.out,
		path: path, info: info, serial: p.serial + 1, count: p.count, asked: p.asked, opening: true}
	if same { // what was there stays in sight until the new content comes
		p.content, p.top, p.left, p.hit, p.hits, p.keep = held.content, held.top, held.left, held.hit, held.hits, true
		p.find = held.find
	}
}

// Clear shows nothing.
func (p *Preview) Clear() {
	*p = Preview{Colors: p.Colors, Screen: p.Screen, Covered: p.Covered, wrap: p.wrap, w: p.w, h: p.h, serial: p.serial + 1, count: p.count}
}

// Path is the file that is shown; "" for none.
func (p *Preview) Path() string { return p.path }

// windowed reports whether only a part of the file is held.
func (c *content) windowed() bool { return c.kind == previewText || c.kind == previewHex }

// numberOf is the number of a line.
func (c *content) numberOf(i int) int64 { return c.number + int64(countLines(c.lines[:i+1])) - 1 }

// Scroll moves by lines, negative is up.
func (p *Preview) Scroll(by int) {
	p.top = max(min(p.top+by, p.last()), 0)
}

// last is the first line when the end is in sight.
func (p *Preview) last() int {
	first := max(len(p.lines)-max(p.h, 1), 0)
	if !p.wrap || p.w <= 0 {
		return first
	}
	room, rows := max(p.w-p.gutter()-1, 1), 0
	for i := len(p.lines) - 1; i > first; i-- {
		if rows += max((widget.Width(p.lines[i].text)+room-1)/room, 1); rows > p.h {
			return min(i+1, len(p.lines)-1)
		}
	}
	return first
}

// Pages moves by halves of what is in sight.
func (p *Preview) Pages(halves int) { p.Scroll(halves * max(p.h-1, 1) / 2) }

// Sideways moves by eighths of the width; wrapped lines have no side.
func (p *Preview) Sideways(steps int) {
	if !p.wrap {
		p.left = max(p.left+steps*max(p.w/8, 4), 0)
	}
}

// Wrap wraps long lines, or no longer.
func (p *Preview) Wrap() { p.wrap, p.left = !p.wrap, 0 }

// Home and End go to the beginning of the file and to its end.
func (p *Preview) Home() {
	p.top, p.left = 0, 0
	if p.windowed() && p.start > 0 {
		p.jump = needHead
	}
}

// End goes to the end of the file.
func (p *Preview) End() {
	p.top = p.last()
	if p.windowed() && p.end < p.size {
		p.jump = needTail
	}
}

// GoLine shows a line of a text, by its number, once it is there.
func (p *Preview) GoLine(n int64) {
	p.goal, p.hit = n, n
	if p.windowed() && (p.number == 0 || n < p.number) {
		p.jump = needHead
	}
	p.reach()
}

// Search notes the numbers of the lines that were searched for; there may be
// none.
func (p *Preview) Search(hits []int64) { p.hits = hits }

// Mark marks what an expression matches, in the file that is shown; nil marks nothing.
func (p *Preview) Mark(find *regexp.Regexp) { p.find = find }

// Hit is which of the lines that were searched for is the current one, from 1, and
// how many there are.
func (p *Preview) Hit() (number, total int) {
	total = len(p.hits)
	at, _ := slices.BinarySearch(p.hits, p.hit)
	return min(at+1, total), total
}

// A Position is where a file is looked at, and what is marked in it.
type Position struct {
	path string
	info api.FileInfo
	content
	top, left int
	hit       int64
	hits      []int64
	find      *regexp.Regexp
}

// Position is that of now.
func (p *Preview) Position() Position {
	return Position{p.path, p.info, p.content, p.top, p.left, p.hit, p.hits, p.find}
}

// Return goes back to a position, unless the file is another one by now.
func (p *Preview) Return(to Position) {
	if to.path != p.path || to.info != p.info || p.opening || to.row != p.row {
		return
	}
	p.content, p.top, p.left, p.hit, p.hits, p.find = to.content, to.top, to.left, to.hit, to.hits, to.find
	p.goal, p.jump = 0, needNothing
	p.serial++ // what was asked for is not to be added to that
}

// NextHit goes to the next line that was searched for, or the one before, around
// the end. It is false if there is none.
func (p *Preview) NextHit(back bool) bool {
	if len(p.hits) == 0 {
		return false
	}
	here := p.hit
	if here == 0 && p.number > 0 && p.top < len(p.lines) {
		here = p.numberOf(p.top) - 1
	}
	at, _ := slices.BinarySearch(p.hits, here+1)
	if back {
		at, _ = slices.BinarySearch(p.hits, here)
		at += len(p.hits) - 1
	}
	p.GoLine(p.hits[at%len(p.hits)])
	return true
}

// Resize says how much of the file will be seen.
func (p *Preview) Resize(w, h int) {
	p.w, p.h = w, h
	if p.kind == previewHex && !p.opening && p.row != hexRowFor(w, p.size) { // it is read again, in other rows
		p.serial++
		p.row, p.opening = hexRowFor(w, p.size), true
	}
}

// reach shows the line that was asked for.
func (p *Preview) reach() {
	if p.goal == 0 || p.number == 0 || p.kind != previewText {
		return
	}
	n := p.number - 1
	for i := range p.lines {
		if !p.lines[i].cont {
			n++
		}
		if n == p.goal {
			p.top = max(min(i-p.h/3, p.last()), 0)
			p.goal = 0
			return
		}
	}
	if p.end >= p.size {
		p.goal = 0
	}
}

// Take takes in what was loaded. What was asked for a file that is not shown
// any more, or in another state, is dropped.
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
		if part.ask == needOpen || len(p.lines) == 0 {
			p.kind, p.lines, p.image = previewNothing, nil, nil
		}
		p.note, p.bad = part.note, true
		return
	}
	p.size, p.note, p.bad = part.size, part.note, false
	switch part.ask {
	case needOpen, needHead, needTail:
		p.replace(part)
	case needMore:
		p.end = part.end
		p.lines = append(p.lines, part.lines...)
		if p.goal > 0 { // what is above is on the way only
			p.top = p.last()
		}
		p.trimHead()
	case needBefore:
		p.prepend(part)
	}
	p.reach()
}

func (p *Preview) replace(part Part) {
	keep := p.keep && part.ask == needOpen && part.kind == p.kind
	p.keep = false
	p.content = part.content
	if p.start == 0 {
		p.number = 1
	}
	switch {
	case part.ask == needTail:
		p.top = p.last()
	case !keep:
		p.top, p.left = 0, 0
	default:
		p.top = min(p.top, p.last())
	}
}

func (p *Preview) prepend(part Part) {
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

// trimHead lets go of lines far above.
func (p *Preview) trimHead() {
	if p.end-p.start <= previewHeld {
		return
	}
	cut := 0
	for cut < p.top-previewAhead && p.end-p.lines[cut].off > previewHeld/2 {
		cut++
	}
	if cut == 0 {
		return
	}
	if p.number > 0 {
		p.number += int64(countLines(p.lines[:cut]))
	}
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
