package vt

// Options configure a Terminal. Only the size has no useful zero.
type Options struct {
	Cols, Rows      int
	Grid            func(cols, rows int) Grid // nil: the package's own grid
	ScrollbackLines int                       // 0: 10,000; negative: none
	ScrollbackBytes int                       // 0: 64 MiB
	Colors          Palette                   // what colour queries answer with

	// Reply takes what the terminal answers to the program. It is called from
	// Write, must not block, and may be nil.
	Reply func([]byte)
	// Event takes what the program tells beyond the screen. Called from Write;
	// may be nil.
	Event func(Event)
}

// Palette is what the person's terminal looks like, as 0xRRGGBB.
type Palette struct {
	Foreground, Background, Cursor uint32
	Colors                         [16]uint32
}

// A Terminal emulates xterm.
type Terminal struct{}

// New returns a cleared terminal with replies switched on.
func New(o Options) *Terminal { panic("not written") }

// Write interprets what a program wrote. It never fails and never blocks;
// sequences and characters may be split anywhere.
func (t *Terminal) Write(p []byte) (int, error) { panic("not written") }

// Resize sets the size, each side clamped to 1…1000.
func (t *Terminal) Resize(cols, rows int) { panic("not written") }

// SetReplies switches replies and events off for a replay, or on again.
func (t *Terminal) SetReplies(on bool) { panic("not written") }

func (t *Terminal) Size() (cols, rows int) { panic("not written") }
func (t *Terminal) Cursor() Cursor         { panic("not written") }
func (t *Terminal) Modes() Modes           { panic("not written") }
func (t *Terminal) Title() string          { panic("not written") }

// Diff tells what changed since the state that an earlier Diff's Seq names; 0
// asks for everything.
func (t *Terminal) Diff(since uint64) Diff { panic("not written") }

// Lines gives up to n lines from absolute line number from on; scrollback and
// screen are one sequence. Lines that are gone are left out.
func (t *Terminal) Lines(from int64, n int) []NumberedLine { panic("not written") }

// Bounds are the first line still kept, the line number of the screen's top
// row, and the number behind the last row.
func (t *Terminal) Bounds() (oldest, first, end int64) { panic("not written") }

// AppendRepaint appends the byte stream that brings a new terminal of the same
// size into this one's state: both screens' cells and styles, modes, margins,
// tab stops, saved cursors, title, cursor. Scrollback is not part of it.
func (t *Terminal) AppendRepaint(dst []byte) []byte { panic("not written") }

// Color, Attr, Underline, Style, Run, Line, Cursor have the layout and bits of
// their namesakes in engine/api, which cannot be imported from here.

type Color uint32

const (
	ColorIndexed Color = 1 << 24 // | 0…255
	ColorRGB     Color = 2 << 24 // | 0xRRGGBB
)

type Attr uint16

const (
	Bold Attr = 1 << iota
	Faint
	Italic
	Blink
	Reverse
	Conceal
	Strike
	Overline
)

type Underline uint8

const (
	UnderlineNone Underline = iota
	UnderlineSingle
	UnderlineDouble
	UnderlineCurly
	UnderlineDotted
	UnderlineDashed
)

// A Style is how a cell looks. Comparable.
type Style struct {
	FG, BG, UL Color
	Attrs      Attr
	Underline  Underline
	Link       string
}

// A Run is text in one style; a wide cluster counts two cells.
type Run struct {
	Style Style
	Text  string
	Cells int
}

// A Line is one row; cells after the last run are blank in the default style.
type Line struct {
	Runs    []Run
	Wrapped bool // continues on the next line
}

type NumberedLine struct {
	N    int64
	Line Line
}

type Cursor struct {
	X, Y    int
	Visible bool
	Shape   CursorShape
	Blink   bool
}

type CursorShape uint8

const (
	CursorBlock CursorShape = iota
	CursorUnderline
	CursorBar
)

type MouseMode uint8

const (
	MouseOff MouseMode = iota
	MousePress
	MouseClick
	MouseDrag
	MouseMotion
)

type MouseEncoding uint8

const (
	MouseX10 MouseEncoding = iota
	MouseUTF8
	MouseSGR
	MouseURXVT
	MouseSGRPixels
)

// Modes are what a program has set and a viewer or key encoder has to know.
type Modes struct {
	Alt             bool // the alternate screen is shown
	AppCursor       bool // DECCKM
	AppKeypad       bool // DECKPAM
	Newline         bool // LNM
	BracketedPaste  bool
	FocusReports    bool
	AlternateScroll bool // wheel sends arrows on the alternate screen, mode 1007
	Mouse           MouseMode
	MouseEncoding   MouseEncoding
	ModifyOther     uint8 // XTMODKEYS modifyOtherKeys, 0…2
	Kitty           uint8 // kitty keyboard progressive enhancement flags
	Sync            bool  // synchronised output (2026) holds the screen back
	ReverseScreen   bool  // DECSCNM
}

// A Diff takes a viewer from one state to the next.
type Diff struct {
	Seq    uint64 // names the state after this diff
	Full   bool   // forget all lines held; Lines has the whole screen
	Cols   int
	Rows   int
	Oldest int64
	First  int64
	Lines  []NumberedLine // changed rows, and lines that scrolled off changed
	Cursor Cursor
	Modes  Modes
	Title  string
	Bells  uint32 // bells so far
}

// An Event is something a program tells beyond the screen.
type Event interface{ event() }

type (
	TitleEvent  struct{ Title string }      // OSC 0, 2; control characters removed
	BellEvent   struct{}                    //
	CWDEvent    struct{ Host, Path string } // OSC 7
	PromptEvent struct {
		Mark byte
		Exit *int
	} // OSC 133 A B C D
	NotifyEvent    struct{ Title, Body string } // OSC 9, 777
	ProgressEvent  struct{ State, Percent int } // OSC 9;4
	ClipboardEvent struct{ Data []byte }        // OSC 52 write, at most 1 MiB
)

func (TitleEvent) event()     {}
func (BellEvent) event()      {}
func (CWDEvent) event()       {}
func (PromptEvent) event()    {}
func (NotifyEvent) event()    {}
func (ProgressEvent) event()  {}
func (ClipboardEvent) event() {}
