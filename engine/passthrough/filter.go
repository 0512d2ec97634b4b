package passthrough

import (
	"bytes"
	"unicode/utf8"
)

// A Filter passes a session's output to a terminal that shows it on its alternate
// screen, as far as the terminal is to act on it. The program may be anybody's,
// so what passes is a list: text, and what changes how text is shown and can be
// taken back. The terminal's files, its window, its printer and the desktop
// around it are no program's business.
//
// The engine's emulator is the terminal of the session's program: it answers
// what the program asks, or refuses to. Whatever would make the person's
// terminal answer too does not reach it, and neither does what the emulator does not
// know, since a terminal that is repainted would not have it. A sequence is
// held back until it is complete, and passed as it is, in a simpler form, or
// not at all.
//
// The switches between the screens that programs write must not reach the
// terminal, because leaving its alternate screen would uncover what the person
// had before. Entering becomes clearing; leaving is reported, so that the screen
// is fetched again.
type Filter struct {
	held        []byte // an unfinished sequence
	out         []byte // what pass returned, to be used again
	inside      inside // a sequence too long to be held
	command     bool   // which is an OSC, and may end with BEL
	room        int    // how much more of it passes
	played      bool   // a recording, whose program is gone: see Replay
	NoClipboard bool   // programs do not reach the clipboard
	redrawn     bool   // nor do pictures pass: whoever writes draws these, and the whole screen behind a switch
	Points      bool   // nor do they set how the mouse is told
	NoPixels    bool   // the terminal cannot tell the mouse in pixels (mode 1016): it tells it in cells
	Pixels      bool   // the program wants the mouse told in pixels
	Tracks      int    // the mode in which the program wants the mouse told; 0: it does not
	told        int    // that of the terminal
	Alt         bool   // the session's program is on its alternate screen
	repaint     bool   // what comes next is a repaint
	Extended    bool   // keys may be reported as escape codes: kitty, modifyOtherKeys

	Kitty, Sixel bool // programs have drawn pictures by kitty's protocol, or as sixels

	Colored   bool // the terminal's palette may be changed
	Progress  bool // the terminal shows a progress indicator
	clustered bool // mode 2027 may be set
	tags      int  // how many more tags may follow directly
}

// inside says what the bytes at hand belong to.
type inside uint8

const (
	insideNothing  inside = iota // text, or a sequence from its start
	insidePassed                 // a control string that passes
	insideDropped                // a control string that does not
	insideOverlong               // a control sequence that does not
)

const (
	// sequenceLimit bounds a control sequence, and the head of a control string.
	sequenceLimit = 512
	// commandLimit bounds an operating system command that is looked at as a whole.
	commandLimit = 8 << 10
	// pictureLimit bounds a picture. A string that never ends would have the
	// terminal show nothing any more.
	pictureLimit = 32 << 20
)

const (
	bel = 0x07
	si  = 0x0f
	can = 0x18
	sub = 0x1a
	esc = 0x1b
	del = 0x7f
	c1  = 0xc2 // the first byte of U+0080 … U+009F in UTF-8, which are controls

	stringEnd = "\x1b\\"
)

// ExpectRepaint is called when the output starts over: its first piece paints
// one screen after the other, the one that is shown last.
func (f *Filter) ExpectRepaint() {
	*f = Filter{out: f.out, played: f.played, NoClipboard: f.NoClipboard, redrawn: f.redrawn, Points: f.Points, NoPixels: f.NoPixels, told: noPointer, repaint: true,
		Extended: f.Extended, Kitty: f.Kitty, Sixel: f.Sixel, Colored: f.Colored, Progress: f.Progress, clustered: f.clustered}
}

// Redraw has pictures not pass any more, which whoever writes draws in another way. What
// switches the screen is told by Pass, and nothing is left out behind it: all is painted anew.
func (f *Filter) Redraw() {
	f.redrawn = true
	if f.inside == insidePassed {
		f.inside = insideDropped
	}
}

// Repaint returns what of a repaint is to be written that comes between two pieces of the
// output, not within a control string (see Within); it is valid until the next call. A
// sequence that is not complete goes on behind it.
func (f *Filter) Repaint(p []byte) []byte {
	held := f.held
	f.held = nil
	f.ExpectRepaint()
	out, _ := f.Pass(p)
	f.held = held
	return out
}

// Pass returns what of p is to be written; it is valid until the next call and
// may be p itself. Left says that the program has left its alternate screen;
// nothing after that is returned. Where the screen is redrawn, it says that there was a
// switch, and all is returned.
func (f *Filter) Pass(p []byte) (out []byte, left bool) {
	defer func() { f.repaint = false }()
	if len(f.held) > 0 {
		p = append(f.held, p...)
		f.held = nil
	}
	e := edit{p: p, out: f.out[:0]}
	if f.repaint {
		f.rewind(&e)
	}
	for at := 0; ; {
		leaves := false
		if f.inside == insideNothing {
			if n := plain(p[at:]); n > 0 {
				at, f.tags = at+n, 0
			}
		}
		if at == len(p) {
			break
		}
		var n int
		told := true
		if f.inside == insideNothing {
			n, leaves = f.control(&e, at)
			told = n > 0
		} else {
			n, told = f.within(&e, at)
		}
		if !told {
			f.held = bytes.Clone(p[at:])
			e.drop(at, len(p))
			break
		}
		left = left || leaves
		if at += n; leaves && !f.redrawn {
			e.drop(at, len(p))
			break
		}
	}
	out = e.result()
	f.out = e.out
	return out, left
}

// rewind takes back what a repaint does not.
func (f *Filter) rewind(e *edit) {
	if f.clustered {
		e.replace(0, 0, stringEnd+"\x1b[?2027l")
	}
	if f.Colored {
		e.replace(0, 0, stringEnd+RestColors)
	}
	f.clustered, f.Colored = false, false
}

// control handles what e.p[at], which is not text, begins. It returns the
// length, 0 if e.p ends too early to tell.
func (f *Filter) control(e *edit, at int) (n int, left bool) {
	p := e.p[at:]
	switch {
	case p[0] < 0x80 && p[0] != esc:
		e.drop(at, at+1)
		return 1, false
	case len(p) == 1 && p[0] == esc, !utf8.FullRune(p):
		return 0, false
	case p[0] >= 0xf0:
		if r, n := utf8.DecodeRune(p); r == flag || isTag(r) {
			f.tag(e, at, r)
			return n, false
		}
		fallthrough
	case p[0] != esc && (p[0] != c1 || p[1] > 0x9f || p[1] < 0x80):
		// Some terminals take single bytes for controls, and what is broken off
		// must not become a character with what passes next.
		n := illFormed(p)
		e.replace(at, at+n, "\uFFFD")
		return n, false
	}
	n, v := f.sequence(p)
	if n > 0 && !v.keep {
		e.replace(at, at+n, v.text)
	}
	return n, v.left
}

// tag drops r if it is a tag outside a flag.
func (f *Filter) tag(e *edit, at int, r rune) {
	switch {
	case r == flag:
		f.tags = maxTags
	case f.tags == 0:
		e.drop(at, at+utf8.RuneLen(r))
	case r == lastTag:
		f.tags = 0
	default:
		f.tags--
	}
}

// A verdict says what becomes of a sequence.
type verdict struct {
	keep bool   // it passes as it is
	text string // else this is written in its place
	left bool   // the program has left its alternate screen
}

// sequence looks at the sequence that begins p, with ESC or as a C1 control, and
// returns its length, for a control string maybe that of its head; 0 if p ends
// before that can be told.
func (f *Filter) sequence(p []byte) (n int, v verdict) {
	kind := p[1]
	if p[0] == c1 {
		kind -= 0x40
	}
	switch kind {
	case '[':
		return f.controlSequence(p)
	case ']':
		return f.operatingSystem(p)
	case 'P':
		return f.deviceControl(p)
	case '_':
		return f.application(p)
	case 'X', '^':
		f.inside, f.command = insideDropped, false
		return 2, verdict{}
	case '\\': // the end of a string ends none here
		return 2, verdict{keep: p[0] == esc}
	}
	return f.escape(p, kind)
}

// escape looks at ESC, intermediates and a final byte.
func (f *Filter) escape(p []byte, kind byte) (n int, v verdict) {
	switch {
	case p[0] == c1 || kind >= 0x30 && kind < 0x7f:
		return 2, f.plainEscape(kind, p[0] == esc)
	case kind < 0x20 || kind >= 0x7f: // as if the escape had not been
		return 1, verdict{}
	}
	for i := 2; i < len(p) && i < sequenceLimit; i++ {
		switch c := p[i]; {
		case c < 0x20 || c >= 0x7f:
			return i, verdict{}
		case c >= 0x30:
			// Beside character sets and sizes of lines there are the encoding of
			// text and the form of answers, which are the person's.
			return i + 1, verdict{keep: i == 2 && (bytes.IndexByte([]byte("()*+-./"), kind) >= 0 ||
				kind == '#' && bytes.IndexByte([]byte("34568"), c) >= 0)}
		}
	}
	if len(p) >= sequenceLimit {
		return sequenceLimit, verdict{}
	}
	return 0, verdict{}
}

func (f *Filter) plainEscape(kind byte, plain bool) verdict {
	switch {
	case kind == 'c' && f.played: // RIS would undo what the person has set
		text := f.rest() + Home
		if f.Alt {
			text = LeaveAlt + text
		}
		f.Alt = false
		return verdict{text: text}
	case kind == 'c': // and leave the alternate screen
		f.Alt, f.Pixels, f.Tracks, f.told = false, false, 0, noPointer
		return verdict{text: f.rest() + Tells + Home + "\x1b[3J"}
	case bytes.IndexByte([]byte("6789=>DEHMNOVWno"), kind) < 0:
		return verdict{}
	}
	return verdict{keep: plain, text: "\x1b" + string(kind)}
}

// rest brings the terminal back to modes and colours as before.
func (f *Filter) rest() string {
	if f.Colored {
		return RestModes() + RestColors
	}
	return RestModes()
}

// within handles what a long sequence goes on with, and returns how much of it
// that is; told is false if e.p ends too early to tell.
func (f *Filter) within(e *edit, at int) (n int, told bool) {
	if f.inside == insideOverlong {
		return f.overlong(e, at), true
	}
	p := e.p[at:]
	for n < len(p) && p[n] >= 0x20 && p[n] < del {
		n++
	}
	if n == 0 {
		return f.withinControl(e, at)
	}
	f.string(e, at, n)
	return n, true
}

// string passes n bytes of a control string, as far as it may be that long.
func (f *Filter) string(e *edit, at, n int) {
	if f.inside == insideDropped {
		e.drop(at, at+n)
		return
	}
	if n > f.room {
		e.replace(at+f.room, at+n, stringEnd)
		f.inside = insideDropped
	}
	f.room -= n
}

// withinControl handles a control character in a control string, or a byte that
// is not ASCII, which none that passes is made of: some terminals alone end the
// string at U+009C.
func (f *Filter) withinControl(e *edit, at int) (n int, told bool) {
	p := e.p[at:]
	c := p[0]
	if c == esc && len(p) == 1 {
		return 0, false
	}
	n, keep, broken := 1, false, false
	switch {
	case (c == '\r' || c == '\n') && !f.command:
		f.string(e, at, 1)
		return 1, true
	case c == esc && p[1] == '\\':
		n, keep, f.inside = 2, f.inside == insidePassed, insideNothing
	case c == bel && f.command:
		keep, f.inside = f.inside == insidePassed, insideNothing
	case c == esc: // begins the next sequence
		n, broken = 0, true
	case c == can || c == sub:
		broken = true
	}
	switch {
	case broken && f.inside == insidePassed:
		e.replace(at, at+n, stringEnd)
	case broken || !keep || f.inside == insideDropped:
		e.drop(at, at+n)
	}
	if broken {
		f.inside = insideNothing
	}
	return n, true
}

// overlong drops a control sequence up to its end, and returns how much that is.
func (f *Filter) overlong(e *edit, at int) (n int) {
	p := e.p[at:]
	for n < len(p) && f.inside == insideOverlong {
		switch c := p[n]; {
		case c == esc || c >= 0x80:
			f.inside = insideNothing
			e.drop(at, at+n)
			return n
		case c == can || c == sub || c >= 0x40 && c < 0x7f:
			f.inside = insideNothing
		}
		n++
	}
	e.drop(at, at+n)
	return n
}

// Within reports whether the output has ended within a control string.
func (f *Filter) Within() bool { return f.inside != insideNothing }
