package api

import (
	"os"
	"time"

	"tandem/engine/screen/styled"
	"tandem/keys"
)

// session.attach is a WebSocket at GET /v1/session.attach. On the engine's own socket, it can also
// be a plain connection with the length in front of each message (wire.NewFramed). Its query holds
// the AttachOptions. Every message is binary: one byte for its kind, then a body.
//
// The terminal has the size of the viewer that last typed, pasted or clicked. Until then it has the
// size of the first viewer.

// AttachOptions select the output that a viewer gets of a session. With the zero value, it gets
// frames without clipboard and pictures.
type AttachOptions struct {
	ID       string
	Raw      bool // send the terminal's bytes instead of frames, after a repaint of the screen
	ReadOnly bool // reject input
	Clips    bool // send Output.Clip (not with Raw: the bytes contain the clipboard sequences)
	Pictures bool // send pictures; with Raw in a repaint, by kitty's protocol
	// Apart, together with Raw and Pictures, asks for a repaint after each change of pictures. The
	// repaint is followed by the visible pictures as Picture, and their lines as Lines, counted
	// from the top of the screen.
	Apart  bool
	Cols   int // size of the viewer's area; 0 if it must never decide the terminal's size
	Rows   int
	Client string // the client's name, for Terminal.Typist: "dashboard", "attach", …

	// Input is an unguessable name for this viewer's input. The input may outlive a connection and
	// the engine. Its messages are numbered: see InputState and Output.Accepted.
	Input string

	// Direct, together with Raw, offers to hand over the viewer's terminal; see the type Direct. An
	// engine that declines, or is of an older release, sends output as if Direct were not set.
	Direct bool
	// Kinds, together with Direct, asks the engine to set Kitty and Sixel in its Direct messages.
	Kinds bool

	// Master asks for the PTY's master, so that the viewer can write typed input to it; see the
	// type Master. It has no effect for a caller that may not have the master. Older engines ignore
	// it.
	Master bool

	// Lines is a range of scrollback to send at the start, as if an Input had requested it. If the
	// session has exited, it is sent before Output.Ended. A Count of 0 requests none.
	Lines LineRange
}

// Input is one message from a viewer to a session. Exactly one field is set.
type Input struct {
	Bytes  []byte      // sent to the program unchanged
	Key    *keys.Key   // encoded for the modes the program has set
	Mouse  *keys.Mouse // likewise; dropped if the program has not enabled the mouse
	Paste  *string     // bracketed if the program asked for that
	Focus  *bool       // passed on if the program asked for focus reports
	Resize *Size       // new size of the viewer's area; zero while it is hidden
	Lines  *LineRange  // requests scrollback; answered by Output.Lines. A Count of 0 is answered once all output so far has been shown

	// Anchors are cells to find again after a resize has wrapped the lines anew, at most
	// MaxAnchors; see Frame.Anchors. They replace the previous ones.
	Anchors []Place

	Display *Display // properties of the viewer's terminal

	// AskColors asks the engine to write colour queries to a handed-over terminal, between two
	// sequences of the output. The viewer reads the answers.
	AskColors bool

	Hand   *Hand  // hands over the viewer's terminal, or asks for it back
	Typed  []byte // already written to the PTY by the viewer, reported afterwards
	Master bool   // asks for the PTY's master; see Master. Older engines ignore it

	// Reset turns off the modes left on by a killed program: alternate screen, mouse, kitty
	// keyboard flags. Older engines do not send it.
	Reset bool

	// Mark is a number chosen by the viewer, larger than its previous ones. It comes back in
	// Output.Mark once the program has had time to react to the input before it. Older engines
	// ignore it.
	Mark *uint64
}

// Numbered reports whether a message counts as input. If input cannot be sent over one connection,
// it must be sent over the next. Sizes, marks and messages about the connection itself need not be.
func (in Input) Numbered() bool {
	return in.Resize == nil && in.Mark == nil && in.Hand == nil && in.Typed == nil && !in.Master
}

// LongText is the size in bytes from which a text waits, with everything after it, until the
// terminal has accepted enough of the text before. The engine reports at once when such texts are
// accepted.
const LongText = 64

// An InputState tells a viewer, when it attaches, what has become of its earlier input
// (AttachOptions.Input). The messages of the input are numbered from 1.
type InputState struct {
	Counts  bool   // the engine numbers messages
	Reports bool   // it also sends Output.Accepted; older engines do not
	Known   bool   // it knows this input, over former connections and engines
	Taken   uint64 // if Known, the number of the last message received, or possibly written by a former engine
	Unsure  uint64 // how many messages up to Taken may have been written only in part
	Cut     bool   // the engine has ended a bracketed paste of this viewer, whose rest must not be sent
}

// A Display describes a viewer's terminal. The session's terminal imitates the one of the viewer
// that decides its size: it answers colour queries with its colours, and computes sizes in pixels
// from its cells.
type Display struct {
	Colors                styled.Palette
	CellWidth, CellHeight int // size of a cell in pixels; 0 if unknown

	Pixels bool // reports the mouse in pixels (mode 1016)
}

// EchoTime is how long a program may take to echo its input.
const EchoTime = 50 * time.Millisecond

// A Mark confirms two things: the program received all input before the mark with number N at least
// EchoTime ago, and its output since then was sent before this message.
type Mark struct {
	N    uint64
	Held time.Duration // since the arrival of the viewer's mark
}

// A viewer on the engine's own machine that the user types into can write keys to the PTY's master
// itself, without waking the engine (AttachOptions.Master). First, the engine sends a zero Master,
// which means that the viewer may ask for the master (Input.Master). The engine lends it once the
// terminal has accepted all input so far. When another client types, the loan ends, and the engine
// sends a zero Master again.
//
// A viewer that has sent other input must ask again before it writes to the master. Otherwise its
// input could arrive in a different order. It reports what it has written to the master
// (Input.Typed).

// A Master is the engine's message about the PTY's master.
type Master struct {
	Lent    bool     // answers a request: the viewer may write to the master
	Refused bool     // answers a request: another client has typed meanwhile
	File    *os.File // if Lent, the viewer's own descriptor. It closes the last one with any Master
}

// A viewer on the engine's own machine can hand over its terminal (AttachOptions.Direct), so a key
// and its echo skip two processes each way. The engine starts with an offer. The viewer answers
// with a Hand and a descriptor of its terminal, which it has opened itself and made non-blocking.
// From then on the engine writes Output.Bytes to the terminal itself, without the sequences removed
// by engine/screen/passthrough. To take the terminal back, the viewer sends a Hand with Back. The
// engine closes the connection after its last write.
//
// A viewer of an older release gets the descriptor of the PTY's master with the offer, if it may
// type. It sends no input until the engine has said whether keys go to the master.

// Direct is the engine's message about a terminal that was handed over.
type Direct struct {
	Offer    bool // the terminal may be handed over
	Keys     bool // input may be written to the master, then reported in Input.Typed
	Extended bool // the program may have asked for keys as escape codes
	Colored  bool // the program may have changed the terminal's colours
	Kitty    bool // kitty pictures were written to the terminal (Kinds)
	Sixel    bool // sixels were written to the terminal (Kinds)
	Pixels   bool // the program wants the mouse in pixels but the terminal reports cells: the engine must encode it
}

// A Hand is the viewer's message about a terminal that was handed over.
type Hand struct {
	Back        bool // asks for the terminal back
	NoClipboard bool // removes clipboard sequences from the output
}

// MaxAnchors is the maximum number of anchors of a viewer.
const MaxAnchors = 8

// MaxClip is the maximum size of text that a program copies to the clipboard, in bytes.
const MaxClip = 1 << 20

// Size is the size of a terminal in cells.
type Size struct{ Cols, Rows int }

// A LineRange is a number of lines (Count), starting at the absolute line From.
type LineRange struct {
	From  int64
	Count int
}

// Output is one message from a session to a viewer. Exactly one field is set.
type Output struct {
	Frame   *Frame         // a change of the screen (not Raw)
	Bytes   []byte         // output of the program (Raw)
	Lines   []NumberedLine // requested scrollback
	Clip    []byte         // clipboard contents set by the program (OSC 52), at most MaxClip bytes; slow viewers get only the last
	Picture *Picture       // precedes the lines showing it
	Direct  *Direct        // about the terminal handed over by the viewer
	Master  *Master        // about the PTY's master (AttachOptions.Master)
	Mark    *Mark          // answers Input.Mark, the last one if several are due
	Ended   *Process       // the session has exited; nothing follows

	// Accepted is the number of this viewer's last numbered message (AttachOptions.Input) that the
	// terminal has accepted, or that was discarded. It is sent soon after a long text, and
	// otherwise along with other output.
	Accepted *uint64

	// Keyboard holds the program's kitty keyboard flags. It is sent whenever they change, except
	// with Raw. Older engines do not send it.
	Keyboard *uint8

	// Modes are the modes that decide how keys are encoded for the program. They are sent before
	// the frame in which they change, if the viewer has asked for the master
	// (AttachOptions.Master), and not with Raw. Before that they have the zero value.
	Modes *keys.Modes
}
