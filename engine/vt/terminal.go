package vt

import (
	"image"
	"time"

	"tandem/engine/invariants"
	"tandem/engine/styled"
	"tandem/engine/vt/graphics"
	"tandem/engine/vt/grid"
	"tandem/engine/vt/history"
	"tandem/engine/vt/notice"
	"tandem/engine/vt/palette"
)

// Options configure a Terminal. Only the size has no useful zero.
type Options struct {
	Cols, Rows      int
	Grid            func(cols, rows int) grid.Grid // nil: the package's own grid
	ScrollbackLines int                            // 0: 10,000; negative: none
	ScrollbackBytes int                            // 0: 64 MiB
	Colors          styled.Palette                 // what colour queries are answered with, until SetColors
	Cell            image.Point                    // pixels of a cell, until SetCell; zero: a usual one

	// Reply takes what the terminal answers to the program. It is called from
	// Write, must not block, and may be nil. It may keep the slice.
	Reply func([]byte)
	// Event takes what the program tells beyond the screen. Called from Write;
	// may be nil.
	Event func(Event)
}

const (
	maxSide = 1000
	// feedSize is how much is interpreted between two looks at the tables.
	feedSize = 64 << 10
)

// A Terminal emulates xterm. It is made in layers, each of which knows only those
// below it: the store of cells, the page that is edited, the writer that prints,
// the host that answers the program, and the interpreter of what the program
// writes, which is the Terminal itself.
type Terminal struct {
	host
	savedDEC map[int]bool // XTSAVE
	unfed    int          // bytes of this Write behind the part that is interpreted now
}

// A store is what can be read: the cells of both screens and the scrollback, what
// their styles, links and clusters stand for, and what has changed since when.
type store struct {
	newGrid    func(cols, rows int) grid.Grid
	cols, rows int
	main       *screen
	other      *screen // the alternate screen, nil until first used
	scr        *screen // the one that is shown
	hist       history.Lines
	styles     styleTable
	links      stringTable
	clusters   stringTable

	pictures graphics.Pictures
	pictured uint64 // counts changes of what of them is where, but for scrolling

	epoch    uint64 // changes are marked with it; each Diff starts the next
	taken    [keptDiffs]diffTaken
	gone     []uint64  // by line number modulo length: versions of lines that left
	goneLost uint64    // newest version that fell out of gone
	fullSeq  uint64    // a viewer with an older state needs everything
	told     *toldRows // by the last diff; nil in builds without the tag invariants

	cells []grid.Cell  // scratch
	pair  [2]grid.Cell // scratch: one cluster
	text  []byte       // scratch
}

// A page is the screen shown as it is edited: the cursor and its pen, margins, tab
// stops and modes.
type page struct {
	store
	cur        cursor
	penStyle   grid.StyleID // of cur.pen
	penChanged bool         // penStyle does not fit cur.pen
	region     grid.Rect    // margins
	altBy      int          // the mode that switched to the alternate screen
	tabs       []bool
	mode       modeSet
}

// A writer prints characters on a page, and knows what was printed last.
type writer struct {
	page
	joinOK   bool      // the last thing done was printing the cluster before the cursor
	lastRune rune      // last code point printed
	last     grid.Cell // last cluster printed, for REP; lastWide goes with it
	lastWide bool
	lastEnd  int // its last column
}

// A host does what takes parameters or tells somebody something: replies to the
// program, events for whoever runs the terminal, and what these are about.
type host struct {
	writer
	o           Options
	quiet       bool   // a replay: no replies, no events
	ps          parser // the sequence that is done now
	behind      int    // bytes of this Write behind the string that has just ended
	title       string
	titles      []string
	remoteHost  string       // where the program says that it is, "" if it does not
	savedStyles []savedStyle // XTPUSHSGR
	colors      palette.Table
	notice      notice.Parts // of OSC 99, not yet whole
	bells       uint32
	syncAt      time.Time     // when synchronised output began
	started     *commandModes // modes at the start of the shell's last command; nil if none
}

// New returns a cleared terminal with replies switched on.
func New(o Options) *Terminal {
	if o.Grid == nil {
		o.Grid = grid.New
	}
	if o.ScrollbackLines == 0 {
		o.ScrollbackLines = 10000
	}
	if o.ScrollbackBytes <= 0 {
		o.ScrollbackBytes = 64 << 20
	}
	t := &Terminal{}
	t.o = o
	t.colors.SetOwn(o.Colors)
	t.store = store{
		newGrid: o.Grid,
		cols:    clampSide(o.Cols), rows: clampSide(o.Rows),
		hist:     history.New(o.ScrollbackLines, o.ScrollbackBytes, 0),
		styles:   newStyleTable(),
		links:    newStringTable(),
		clusters: newStringTable(),
		epoch:    1,
		pictures: graphics.New(image.Pt(CellWidth, CellHeight), canvas{t}),
	}
	t.SetCell(o.Cell)
	t.main = t.newScreen()
	t.scr = t.main
	t.gone = make([]uint64, 2*t.rows)
	t.tabs = defaultTabs(nil, t.cols)
	t.softReset()
	t.mode.reset()
	return t
}

func clampSide(n int) int { return min(max(n, 1), maxSide) }

// Write interprets what a program wrote. It never fails and never blocks;
// sequences and characters may be split anywhere.
func (t *Terminal) Write(p []byte) (int, error) {
	total := len(p)
	for len(p) > 0 {
		n := min(len(p), feedSize)
		t.unfed = len(p) - n
		t.tidy()
		t.feed(p[:n])
		if invariants.Enabled {
			t.check()
		}
		p = p[n:]
	}
	return total, nil
}

// SetReplies switches replies and events, but for PromptEvents, off for a replay,
// or on again.
func (t *Terminal) SetReplies(on bool) { t.quiet = !on }

// Size is the terminal's size in cells.
func (t *Terminal) Size() (cols, rows int) { return t.cols, t.rows }

// Title is the window title, without control characters.
func (t *Terminal) Title() string { return t.title }

func (t *host) reply(b []byte) {
	if t.o.Reply != nil && !t.quiet {
		t.o.Reply(b)
	}
}

func (t *host) event(e Event) {
	if t.o.Event != nil && !t.quiet {
		t.o.Event(e)
	}
}

// penID gives the interned style of the pen.
func (t *page) penID() grid.StyleID {
	if t.penChanged {
		t.penChanged = false
		t.penStyle = t.styles.id(t.cur.pen)
	}
	return t.penStyle
}

// blankID gives the style of cells that are erased now: the background colour
// alone (back colour erase).
func (t *page) blankID() grid.StyleID {
	if t.cur.pen.bg == 0 {
		return 0
	}
	return t.styles.id(pen{bg: t.cur.pen.bg})
}

// tidy keeps the tables within their bounds. When what is in use is too much,
// the scrollback gives up its older half.
func (t *Terminal) tidy() {
	if !t.styles.full() && !t.links.full() && !t.clusters.full() && t.links.bytes <= maxLinkBytes {
		return
	}
	t.collectUnused()
	for t.styles.n > maxStyles || t.links.bytes > maxLinkBytes/2 {
		if !t.hist.DropHalf() {
			return
		}
		t.collectUnused()
	}
}

// collectUnused takes back the numbers of styles, links and clusters that
// nothing refers to any more.
func (t *Terminal) collectUnused() {
	styles := make([]bool, len(t.styles.pens))
	clusters := make([]bool, len(t.clusters.text))
	for _, s := range [...]*screen{t.main, t.other} {
		if s == nil {
			continue
		}
		for y := range t.rows {
			for _, c := range s.grid.Row(y) {
				styles[c.Style] = true
				if c.Glyph >= grid.FirstCluster && c.Glyph != grid.Tail {
					clusters[c.Glyph-grid.FirstCluster] = true
				}
			}
		}
	}
	if g := t.last.Glyph; g >= grid.FirstCluster {
		clusters[g-grid.FirstCluster] = true
	}
	t.hist.EachStyle(func(id grid.StyleID) { styles[id] = true })
	t.clusters.sweep(clusters)
	t.styles.sweep(styles)
	t.penChanged = true
	t.sweepLinks()
	if invariants.Enabled {
		t.checkTables()
	}
}

// sweepLinks runs when the styles left are those in use.
func (t *Terminal) sweepLinks() {
	used := make([]bool, len(t.links.text))
	for _, p := range t.styles.pens {
		used[p.link] = true
	}
	used[t.cur.pen.link] = true
	for _, s := range [...]*screen{t.main, t.other} {
		if s != nil {
			used[s.saved.pen.link] = true
		}
	}
	t.links.sweep(used)
}
