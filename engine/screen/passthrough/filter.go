package passthrough

import (
	"bytes"
	"unicode/utf8"
)

// A Filter filters a session's output for the alternate screen of the user's terminal. Programs are
// not trusted, so it works from a list: it passes text, and sequences that change the display and
// can be undone. It never passes access to the terminal's files, window, printer or desktop.
//
// The engine's emulator is the program's terminal and answers its queries. Queries therefore do not
// reach the user's terminal, which would answer too. Sequences unknown to the emulator do not pass
// either, because a repaint could not restore their effect. An incomplete sequence is held back; a
// complete one is passed, simplified or dropped.
//
// Switches between the screens must not reach the terminal, because leaving its alternate screen
// would show the user's earlier content. Entering becomes clearing; leaving is reported, so that
// the caller repaints the screen.
type Filter struct {
	held      []byte // an incomplete sequence
	out       []byte // buffer of the last result, reused
	inside    inside // state within a sequence too long to be held
	command   bool   // the sequence is an OSC, which BEL may end
	room      int    // how many more bytes of it pass
	played    bool   // plays a recording of a program that has exited: see Replay
	MaxClip   int    // longest text that a program may put on the clipboard, in bytes; 0: none
	redrawn   bool   // pictures do not pass: the caller draws them, and repaints the screen after a switch
	NoPixels  bool   // the terminal does not support mouse reports in pixels (mode 1016) and gets mode 1006 instead
	Pixels    bool   // the program wants mouse reports in pixels
	Alt       bool   // the session's program is on its alternate screen
	repaint   bool   // the next output is a repaint
	clustered bool   // mode 2027 may be set
	tags      int    // how many more tags may follow directly
	Passed
}

// inside names the kind of sequence to which the next bytes belong.
type inside uint8

const (
	insideNothing  inside = iota // text, or a sequence from its start
	insidePassed                 // a control string that passes
	insideDropped                // a control string being dropped
	insideOverlong               // a control sequence being dropped
)

const (
	// maxSequence bounds a control sequence, and the head of a control string.
	maxSequence = 512
	// maxCommand bounds an operating system command that is filtered as a whole.
	maxCommand = 8 << 10
	// maxPicture bounds a picture, because a string without end would stop the terminal's output.
	maxPicture = 32 << 20
)

const (
	bel = 0x07
	si  = 0x0f
	can = 0x18
	sub = 0x1a
	esc = 0x1b
	del = 0x7f
	c1  = 0xc2 // first byte of the C1 controls U+0080 to U+009F in UTF-8

	stringEnd = "\x1b\\"
	// stringAbort (CAN) makes the terminal discard a control string that is cut off. Otherwise a
	// part of it could take effect, for example as text to copy (OSC 52).
	stringAbort = "\x18"
)

// ExpectRepaint resets the filter before a repaint. The next piece must paint the main and the
// alternate screen, the visible one last.
func (f *Filter) ExpectRepaint() {
	*f = Filter{out: f.out, played: f.played, MaxClip: f.MaxClip, redrawn: f.redrawn, NoPixels: f.NoPixels, repaint: true,
		Passed: f.Passed, clustered: f.clustered}
}

// Redraw stops pictures from passing, because the caller draws them. Pass then reports every switch
// of screens and returns all output after it, because the caller repaints the screen.
func (f *Filter) Redraw() {
	f.redrawn = true
	if f.inside == insidePassed {
		f.inside = insideDropped
	}
}

// Repaint filters a repaint inserted between two pieces of the output, but not within a control
// string (see Within). The result is valid until the next call. An incomplete sequence of the
// output continues after it.
func (f *Filter) Repaint(p []byte) []byte {
	// The repaint comes before the rest of the held sequence.
	held := f.held
	f.held = nil
	f.ExpectRepaint()
	out, _ := f.Pass(p)
	f.held = held
	return out
}

// Pass filters p. The result is valid until the next call and may be p itself. left reports that
// the program has left its alternate screen; output after that is dropped. After Redraw, left
// reports a switch to or from the alternate screen, and nothing is dropped.
func (f *Filter) Pass(p []byte) (out []byte, left bool) {
	defer func() { f.repaint = false }()
	if len(f.held) > 0 {
		p = append(f.held, p...)
		f.held = nil
	}
	e := edit{p: p, out: f.out[:0]}
	if f.repaint {
		f.undoModes(&e)
	}
	for at := 0; ; {
		leaves := false
		if f.inside == insideNothing {
			// Fast path: text needs no further check.
			if n := textLength(p[at:]); n > 0 {
				at, f.tags = at+n, 0
			}
		}
		if at == len(p) {
			break
		}
		var n int
		told := true
		if f.inside == insideNothing {
			n, leaves = f.filterNonText(&e, at)
			told = n > 0
		} else {
			n, told = f.continueString(&e, at)
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

// undoModes resets the changes that a repaint does not undo.
func (f *Filter) undoModes(e *edit) {
	if f.clustered {
		e.replace(0, 0, stringAbort+"\x1b[?2027l")
	}
	if f.Colored {
		e.replace(0, 0, stringAbort+RestColors)
	}
	f.clustered, f.Colored = false, false
}

// filterNonText filters the control or invalid character at e.p[at]. It returns its length, or 0 if
// e.p ends too early to tell.
func (f *Filter) filterNonText(e *edit, at int) (n int, left bool) {
	p := e.p[at:]
	switch {
	case p[0] < 0x80 && p[0] != esc:
		e.drop(at, at+1)
		return 1, false
	case len(p) == 1 && p[0] == esc, !utf8.FullRune(p):
		return 0, false
	case p[0] >= 0xf0:
		if r, n := utf8.DecodeRune(p); r == flag || isTag(r) {
			f.filterTag(e, at, r)
			return n, false
		}
		fallthrough
	case p[0] != esc && (p[0] != c1 || p[1] > 0x9f || p[1] < 0x80):
		// Some terminals treat single bytes as controls, and an aborted character must not combine
		// with the following output.
		n := illFormedLength(p)
		e.replace(at, at+n, "\uFFFD")
		return n, false
	}
	n, v := f.filterSequence(p)
	if n > 0 && !v.keep {
		e.replace(at, at+n, v.text)
	}
	return n, v.left
}

// filterTag drops r if it is a tag outside a flag.
func (f *Filter) filterTag(e *edit, at int, r rune) {
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

// A verdict is the decision on a sequence.
type verdict struct {
	keep bool   // it passes unchanged
	text string // otherwise its replacement
	left bool   // the program has left its alternate screen
}

// filterSequence filters the sequence at the start of p, an ESC or C1 control. It returns its
// length, or that of a control string's head; 0 if p ends before the verdict is known.
func (f *Filter) filterSequence(p []byte) (n int, v verdict) {
	kind := p[1]
	if p[0] == c1 {
		kind -= 0x40
	}
	switch kind {
	case '[':
		return f.filterControl(p)
	case ']':
		return f.filterOSC(p)
	case 'P':
		return f.filterDCS(p)
	case '_':
		return f.filterAPC(p)
	case 'X', '^':
		f.inside, f.command = insideDropped, false
		return 2, verdict{}
	case '\\': // the end of a string without one
		return 2, verdict{keep: p[0] == esc}
	}
	return f.filterEscape(p, kind)
}

// filterEscape filters ESC, intermediates and a final byte.
func (f *Filter) filterEscape(p []byte, kind byte) (n int, v verdict) {
	switch {
	case p[0] == c1 || kind >= 0x30 && kind < 0x7f:
		return 2, f.filterPlainEscape(kind, p[0] == esc)
	case kind < 0x20 || kind >= 0x7f: // ignore the ESC
		return 1, verdict{}
	}
	for i := 2; i < len(p) && i < maxSequence; i++ {
		switch c := p[i]; {
		case c < 0x20 || c >= 0x7f:
			return i, verdict{}
		case c >= 0x30:
			// Character sets and line sizes pass. The text encoding and the form of replies are the
			// user's.
			return i + 1, verdict{keep: i == 2 && (bytes.IndexByte([]byte("()*+-./"), kind) >= 0 ||
				kind == '#' && bytes.IndexByte([]byte("34568"), c) >= 0)}
		}
	}
	if len(p) >= maxSequence {
		return maxSequence, verdict{}
	}
	return 0, verdict{}
}

func (f *Filter) filterPlainEscape(kind byte, plain bool) verdict {
	switch {
	case kind == 'c' && f.played: // RIS would undo the user's settings
		text := f.restText() + Home
		if f.Alt {
			text = LeaveAlt + text
		}
		f.Alt = false
		return verdict{text: text}
	case kind == 'c': // resets, and leaves the alternate screen
		f.Alt, f.Pixels = false, false
		return verdict{text: f.restText() + KeptModes + Tells + Home + "\x1b[3J" + saveCursor}
	case bytes.IndexByte([]byte("6789=>DEHMNOVWno"), kind) < 0:
		return verdict{}
	}
	return verdict{keep: plain, text: "\x1b" + string(kind)}
}

// restText returns the sequence that resets the terminal's modes and colours.
func (f *Filter) restText() string {
	if f.Colored {
		return RestModes() + RestColors
	}
	return RestModes()
}

// continueString filters the continuation of a long sequence and returns its length; told is false
// if e.p ends too early to tell.
func (f *Filter) continueString(e *edit, at int) (n int, told bool) {
	if f.inside == insideOverlong {
		return f.dropOverlong(e, at), true
	}
	p := e.p[at:]
	for n < len(p) && p[n] >= 0x20 && p[n] < del {
		n++
	}
	if n == 0 {
		return f.filterInString(e, at)
	}
	f.passString(e, at, n)
	return n, true
}

// passString passes n bytes of a control string, within its maximum length.
func (f *Filter) passString(e *edit, at, n int) {
	if f.inside == insideDropped {
		e.drop(at, at+n)
		return
	}
	if n > f.room {
		e.replace(at+f.room, at+n, stringAbort)
		f.inside = insideDropped
	}
	f.room -= n
}

// filterInString filters a control character or non-ASCII byte in a control string. Strings that
// pass contain no such bytes: some terminals end the string at U+009C.
func (f *Filter) filterInString(e *edit, at int) (n int, told bool) {
	p := e.p[at:]
	c := p[0]
	if c == esc && len(p) == 1 {
		return 0, false
	}
	n, keep, broken := 1, false, false
	switch {
	case (c == '\r' || c == '\n') && !f.command:
		f.passString(e, at, 1)
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
		e.replace(at, at+n, stringAbort)
	case broken || !keep || f.inside == insideDropped:
		e.drop(at, at+n)
	}
	if broken {
		f.inside = insideNothing
	}
	return n, true
}

// dropOverlong drops a control sequence up to its end, and returns the number of bytes dropped.
func (f *Filter) dropOverlong(e *edit, at int) (n int) {
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

// Within reports whether the output has stopped within a control string.
func (f *Filter) Within() bool { return f.inside != insideNothing }
