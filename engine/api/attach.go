package api

import (
	"time"

	"tandem/engine/styled"
	"tandem/keys"
)

// session.attach is a WebSocket at GET /v1/session.attach. Its query holds the
// AttachOptions. Every message is binary: one byte of kind, then a body.
//
// A viewer's size counts from when it types, pastes or clicks: the terminal
// takes the size of the viewer that typed last, or of the first one.

// AttachOptions say what a viewer wants to see.
type AttachOptions struct {
	ID       string
	Raw      bool // the terminal's bytes instead of frames; first a repaint of the screen
	ReadOnly bool // input is refused
	Clips    bool // Output.Clip is wanted (not Raw, whose bytes hold it)
	Pictures bool // those of programs are wanted; with Raw by kitty's protocol, in a repaint
	// Apart is, with Raw and Pictures, that each change of pictures is followed by a repaint,
	// and that by what of them the screen shows, as Picture and Lines: those that show some,
	// counted from the top of the screen.
	Apart  bool
	Cols   int // size of the viewer's area; 0 if it has none and never decides the size
	Rows   int
	Client string // who this is, for Terminal.Typist: "dashboard", "attach", …

	// Input is a name that nobody else can guess for what this viewer types. One that
	// attaches by the same name again, after its connection was lost, is told how much of
	// it has arrived. It is for machines whose links may break.
	Input string

	// Progress asks for Output.Accepted. Older engines do not send it.
	Progress bool

	// Direct says that the viewer hands over its terminal, with Raw: see Direct. An engine
	// that does not want it, or is of an older release, goes on as without.
	Direct bool
	// Kinds is, with Direct, that Direct is to say which pictures have passed.
	Kinds bool

	// Lines are scrollback that is wanted from the start, as if an Input had asked
	// for it; a session that has ended tells of them before Output.Ended. A Count of
	// 0 is none.
	Lines LineRange
}

// Input is one message from a viewer to a session; one of the fields is set.
type Input struct {
	Bytes  []byte      // sent to the program as they are
	Key    *keys.Key   // encoded for the modes the program has set
	Mouse  *keys.Mouse // likewise; dropped when the program wants no mouse
	Paste  *string     // sent bracketed when the program asked for that
	Focus  *bool       // told to the program when it asked for focus reports
	Resize *Size       // the viewer's area has another size, which is zero while nobody sees it
	Lines  *LineRange  // asks for scrollback; answered by Output.Lines, a Count of 0 once all is shown that was written

	// Anchors are places that the viewer wants to find again after a resize has
	// wrapped lines anew, MaxAnchors at most; see Frame.Anchors. They replace
	// those sent before.
	Anchors []Place

	Display *Display // what the viewer's terminal is like

	// AskColors has a terminal that was handed over asked for its colours, between two
	// sequences of what is written to it; the viewer reads the answers.
	AskColors bool

	Hand  *Hand  // the viewer's terminal is handed over, or to be given back
	Typed []byte // written to the PTY by the viewer itself, told afterwards

	// Reset turns off the modes left on by a killed program: alternate screen, mouse, kitty
	// keyboard flags. Older engines do not send it.
	Reset bool

	// Mark is a number of the viewer's choice, larger than those before. It comes
	// back in Output.Mark when the program has had time to answer the input before
	// it. An engine of an older release leaves it out.
	Mark *uint64
}

// A Display is what a viewer's terminal is like. The session's terminal is as that of the
// viewer that decides its size: colour queries are answered with its colours, and sizes in
// pixels are of its cells.
type Display struct {
	Colors                styled.Palette
	CellWidth, CellHeight int // pixels of a cell; 0 if they are not known

	Pixels bool // it can tell the mouse in pixels (mode 1016)
}

// EchoTime is how long after input a program may take to show it.
const EchoTime = 50 * time.Millisecond

// A Mark says that the program was given all input up to Input.Mark N, for at
// least EchoTime, and that what it wrote in that time has been sent before.
type Mark struct {
	N    uint64
	Held time.Duration // between the arrival of the viewer's mark and this
}

// A viewer on the engine's own machine can hand over its terminal, which saves a key and
// its echo two ways through processes (AttachOptions.Direct). The engine begins with an
// offer, beside which the descriptor of the PTY's master comes if the viewer may type.
// The viewer answers with a Hand, beside which its terminal's comes, opened by itself and
// non-blocking, and sends no input until the engine has said whether keys go to the master.
// The engine then writes to the terminal what it would have sent as Output.Bytes, less
// what does not pass (engine/passthrough). To have it back, the viewer sends a Hand
// with Back; the engine closes the connection when it writes nothing more.

// Direct is the engine's word about that.
type Direct struct {
	Offer    bool // the terminal may be handed over
	Keys     bool // what is typed may be written to the master, and told by Input.Typed
	Extended bool // the program may have asked for keys as escape codes
	Colored  bool // the program may have changed the terminal's colours
	Kitty    bool // pictures have passed by kitty's protocol (Kinds)
	Sixel    bool // or as sixels
	Pixels   bool // the program wants the mouse in pixels, which the terminal tells in cells: the engine is to encode it
}

// A Hand is the viewer's.
type Hand struct {
	Back        bool // the terminal is wanted back
	NoClipboard bool // programs do not reach the clipboard
}

// MaxAnchors is how many places a viewer may ask to be kept.
const MaxAnchors = 8

// MaxClip bounds what a program may put on the clipboard, in bytes.
const MaxClip = 1 << 20

// Size is the size of a terminal in cells.
type Size struct{ Cols, Rows int }

// LineRange is Count lines from absolute line From on.
type LineRange struct {
	From  int64
	Count int
}

// Output is one message from a session to a viewer; one of the fields is set.
type Output struct {
	Frame   *Frame         // a change of the screen (not Raw)
	Bytes   []byte         // what the program wrote (Raw)
	Lines   []NumberedLine // scrollback that was asked for
	Clip    []byte         // what the program puts on the clipboard (OSC 52), MaxClip bytes at most; who is slow gets the last
	Picture *Picture       // one that lines which follow show
	Direct  *Direct        // the way of a viewer that has handed over its terminal
	Mark    *Mark          // answers Input.Mark, the last one if several are due
	Ended   *Process       // the session has ended; nothing follows

	// Accepted is how many bytes of this viewer's Input.Bytes and Input.Paste have left the
	// engine: the terminal has accepted them or they were discarded. It is sent at first
	// and whenever it changes (AttachOptions.Progress).
	Accepted *int64

	// Keyboard holds the program's kitty keyboard flags, sent whenever they change (not with
	// Raw). Older engines do not send it.
	Keyboard *uint8
}
