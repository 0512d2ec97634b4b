package vt

import (
	"image"
	"time"

	"tandem/engine/base/invariants"
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt/graphics"
	"tandem/engine/screen/vt/grid"
	"tandem/engine/screen/vt/history"
	"tandem/engine/screen/vt/notice"
	"tandem/engine/screen/vt/palette"
)

// Options configure a Terminal. Only the size has no useful zero value.
type Options struct {
	Cols, Rows      int
	Grid            func(cols, rows int) grid.Grid // nil: grid.New
	ScrollbackLines int                            // 0: 10,000; negative: none
	ScrollbackBytes int                            // 0: 64 MiB
	Colors          styled.Palette                 // answers to colour queries, until SetColors
	Cell            image.Point                    // pixels of a cell, until SetCell; zero: CellWidth × CellHeight

	// Reply receives the terminal's answers to the program. It is called from Write, must not
	// block, and may keep the slice; nil discards them.
	Reply func([]byte)
	// Event receives the program's events. It is called from Write; nil discards them.
	Event func(Event)
}

const (
	maxSide = 1000
	// feedSize is how many bytes are interpreted between two checks of the tables' limits.
	feedSize = 64 << 10
)

// A Terminal emulates xterm. Each of its parts knows only those before it: the store of cells, the
// page for editing, the writer for printing, the host for replies, and the interpreter.
type Terminal struct {
	store  store
	page   page
	writer writer
	host   host
	in     interpreter
}

// A store is the readable state: the cells of both screens and the scrollback, the styles, links
// and clusters they refer to, and the versions of changes.
type store struct {
	newGrid    func(cols, rows int) grid.Grid
	cols, rows int
	main       *screen
	alt        *screen // the alternate screen, nil until first used
	scr        *screen // the visible one
	hist       history.Lines
	styles     styleTable
	links      stringTable
	clusters   stringTable

	pictures graphics.Pictures

	epoch            uint64 // version of current changes; each Diff starts the next
	taken            [maxKeptDiffs]diffRecord
	scrolledVersions []uint64      // versions of lines that scrolled off, by line number modulo length
	lostVersion      uint64        // newest version overwritten in scrolledVersions
	fullSeq          uint64        // a viewer with an older state needs everything
	reported         *reportedRows // rows of the last diff; nil without the build tag invariants

	cells    []grid.Cell  // scratch
	pair     [2]grid.Cell // scratch: one cluster
	text     []byte       // scratch
	measured struct {     // scratch for floods
		rows     []measuredRow
		segments []history.Segment // of all rows
	}
}

// A page is the visible screen for editing: the cursor and its pen, margins, tab stops and modes.
type page struct {
	store      *store
	cur        cursor
	penStyle   grid.StyleID // of cur.pen
	penChanged bool         // penStyle is out of date
	region     grid.Rect    // margins
	altBy      int          // the mode that switched to the alternate screen
	tabs       []bool
	mode       modeSet
}

// A writer prints characters on a page and remembers the last one.
type writer struct {
	store    *store
	page     *page
	joinOK   bool      // nothing has happened since the cluster before the cursor was printed
	lastRune rune      // last code point printed
	last     grid.Cell // last cluster printed, for REP; lastWide goes with it
	lastWide bool
	lastEnd  int // its last column
}

// A host handles everything with parameters or an outside effect: replies to the program, events
// for the owner of the terminal, and their state.
type host struct {
	store       *store
	page        *page
	writer      *writer
	o           Options
	quiet       bool   // during a replay: no replies or events
	ps          parser // holds the current sequence
	remaining   int    // bytes of this Write after the string just ended
	title       string
	titles      []string
	remoteHost  string       // the program's host as it reports it; "" if unknown
	savedStyles []savedStyle // XTPUSHSGR
	colors      palette.Table
	notice      notice.Parts // incomplete notifications of OSC 99
	bells       uint32
	syncAt      time.Time     // when synchronised output began
	started     *commandModes // modes at the start of the shell's last command; nil if none
}

// An interpreter parses a program's output and calls the other parts to carry it out.
type interpreter struct {
	store    *store
	page     *page
	writer   *writer
	host     *host
	savedDEC map[int]bool // XTSAVE
	unfed    int          // bytes of this Write after the part being interpreted
}

// New returns a blank terminal with replies on.
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
	t.page.store = &t.store
	t.writer.store, t.writer.page = &t.store, &t.page
	t.host.store, t.host.page, t.host.writer = &t.store, &t.page, &t.writer
	t.in = interpreter{store: &t.store, page: &t.page, writer: &t.writer, host: &t.host}
	t.host.o = o
	t.host.colors.SetOwn(o.Colors)
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
	t.store.main = t.store.newScreen()
	t.store.scr = t.store.main
	t.store.scrolledVersions = make([]uint64, 2*t.store.rows)
	t.page.tabs = defaultTabs(nil, t.store.cols)
	t.in.softReset()
	t.page.mode.reset()
	return t
}

func clampSide(n int) int { return min(max(n, 1), maxSide) }

// Write interprets a program's output. It never fails and never blocks. Sequences and characters
// may be split anywhere.
func (t *Terminal) Write(p []byte) (int, error) {
	total := len(p)
	for len(p) > 0 {
		// In steps, because one Write may use up any number of styles and links.
		n := min(len(p), feedSize)
		t.in.unfed = len(p) - n
		t.boundTables()
		t.in.feed(p[:n])
		if invariants.Enabled {
			t.writer.check()
		}
		p = p[n:]
	}
	return total, nil
}

// SetReplies turns replies and events on or off; off is for a replay. PromptEvents are always sent.
func (t *Terminal) SetReplies(on bool) { t.host.quiet = !on }

// Size returns the terminal's size in cells.
func (t *Terminal) Size() (cols, rows int) { return t.store.cols, t.store.rows }

// Title returns the window title, without control characters.
func (t *Terminal) Title() string { return t.host.title }

func (t *host) sendReply(b []byte) {
	if t.o.Reply != nil && !t.quiet {
		t.o.Reply(b)
	}
}

func (t *host) sendEvent(e Event) {
	if t.o.Event != nil && !t.quiet {
		t.o.Event(e)
	}
}

// penID returns the interned style of the pen.
func (t *page) penID() grid.StyleID {
	if t.penChanged {
		t.penChanged = false
		t.penStyle = t.store.styles.intern(t.cur.pen)
	}
	return t.penStyle
}

// blankID returns the style of erased cells: only the background colour (back colour erase).
func (t *page) blankID() grid.StyleID {
	if t.cur.pen.BG == 0 {
		return 0
	}
	return t.store.styles.intern(pen{Rendition: styled.Rendition{BG: t.cur.pen.BG}})
}

// boundTables keeps the tables within their limits. If too much is in use, the scrollback drops its
// older half.
func (t *Terminal) boundTables() {
	if !t.store.styles.full() && !t.store.links.full() && !t.store.clusters.full() && t.store.links.bytes <= maxLinkBytes {
		return
	}
	t.collectUnused()
	for t.store.styles.n > maxStyles || t.store.links.bytes > maxLinkBytes/2 {
		if !t.store.hist.DropHalf() {
			return
		}
		t.collectUnused()
	}
}

// collectUnused frees the numbers of unreferenced styles, links and clusters.
func (t *Terminal) collectUnused() {
	styles := make([]bool, len(t.store.styles.pens))
	clusters := make([]bool, len(t.store.clusters.text))
	for _, s := range [...]*screen{t.store.main, t.store.alt} {
		if s == nil {
			continue
		}
		for y := range t.store.rows {
			for _, c := range s.grid.Row(y) {
				styles[c.Style] = true
				if c.Glyph >= grid.FirstCluster && c.Glyph != grid.Tail {
					clusters[c.Glyph-grid.FirstCluster] = true
				}
			}
		}
	}
	// REP may still print the last cluster.
	if g := t.writer.last.Glyph; g >= grid.FirstCluster {
		clusters[g-grid.FirstCluster] = true
	}
	t.store.hist.EachStyle(func(id grid.StyleID) { styles[id] = true })
	t.store.clusters.sweep(clusters)
	t.store.styles.sweep(styles)
	t.page.penChanged = true // the pen's style may have been freed
	t.sweepLinks()
	if invariants.Enabled {
		t.store.checkTables()
	}
}

// sweepLinks frees unused links. It must follow the sweep of the styles, which refer to links.
func (t *Terminal) sweepLinks() {
	used := make([]bool, len(t.store.links.text))
	for _, p := range t.store.styles.pens {
		used[p.link] = true
	}
	used[t.page.cur.pen.link] = true
	for _, s := range [...]*screen{t.store.main, t.store.alt} {
		if s != nil {
			used[s.saved.pen.link] = true
		}
	}
	t.store.links.sweep(used)
}
