package keys

import (
	"bytes"
	"unicode/utf8"
)

// EventKind says what a Decoder has found.
type EventKind uint8

const (
	EventOther EventKind = iota // a terminal's reply, or bytes that mean nothing
	EventKey
	EventMouse
	EventPaste // a piece of a paste; the last one has Last set
	EventFocusIn
	EventFocusOut
)

// An Event is something in a terminal's input. Its bytes are those from Start
// up to End of all that the Decoder was fed, counted from 0. The events of a
// stream follow each other without a gap.
type Event struct {
	Kind       EventKind
	Key        Key    // for EventKey
	Mouse      Mouse  // for EventMouse
	Paste      []byte // for EventPaste; valid until the callback returns
	Last       bool   // for EventPaste: the paste is complete
	Start, End int64
}

// A Decoder takes a terminal's input apart: legacy, modifyOtherKeys and kitty
// keys, mouse reports, pastes, focus reports and replies. It may be fed pieces
// split anywhere and keeps only the bytes of an unfinished sequence, which are
// never many. The zero value is ready.
//
// An escape may be a key or the start of a sequence. A Decoder waits for what
// follows; its owner calls Flush when nothing has come for a while.
type Decoder struct {
	// UTF8Mouse is set while the program has asked for mouse encoding 1005,
	// which cannot be told from the X10 one.
	UTF8Mouse bool

	state  decoderState
	offset int64  // of the first byte that no event holds yet
	held   []byte // the unfinished sequence
}

type decoderState uint8

const (
	atGround decoderState = iota
	inPaste
	inString // OSC, DCS, APC, PM or SOS
)

// sequenceLimit bounds an escape sequence; a longer one means nothing.
const sequenceLimit = 256

// Feed decodes p and calls emit for each event that is complete.
func (d *Decoder) Feed(p []byte, emit func(Event)) {
	rest := p
	if len(d.held) > 0 {
		rest = append(d.held, p...)
	}
	for len(rest) > 0 {
		n := d.step(rest, emit)
		if n == 0 {
			break
		}
		rest = rest[n:]
	}
	d.held = append(d.held[:0:0], rest...)
}

// Pending is the number of bytes of an unfinished sequence.
func (d *Decoder) Pending() int { return len(d.held) }

// Idle reports whether the next byte begins something new: no sequence, paste
// or reply is under way.
func (d *Decoder) Idle() bool { return len(d.held) == 0 && d.state == atGround }

// Flush decodes an unfinished sequence as what was typed if nothing follows: a
// lone escape is the escape key, ESC [ is alt+[.
func (d *Decoder) Flush(emit func(Event)) {
	rest := d.held
	d.held = nil
	if len(rest) == 0 {
		return
	}
	if d.state == inString {
		d.state = atGround
	}
	switch {
	case d.state == inPaste:
		d.emit(emit, Event{Kind: EventPaste, Paste: rest}, len(rest))
	case rest[0] == esc && len(rest) == 1:
		d.emit(emit, Event{Kind: EventKey, Key: Key{Code: Escape}}, 1)
	case rest[0] == esc && len(rest) == 2 && rest[1] < utf8.RuneSelf:
		d.emit(emit, Event{Kind: EventKey, Key: altKey(rune(rest[1]))}, 2)
	default:
		d.emit(emit, Event{}, len(rest))
	}
}

func (d *Decoder) emit(emit func(Event), e Event, n int) {
	e.Start, e.End = d.offset, d.offset+int64(n)
	d.offset = e.End
	emit(e)
}

// step decodes what p begins with and returns its length, 0 if p is unfinished.
func (d *Decoder) step(p []byte, emit func(Event)) int {
	switch d.state {
	case inPaste:
		return d.stepPaste(p, emit)
	case inString:
		return d.stepString(p, emit)
	}
	e, n := d.decode(p)
	if n == 0 {
		return 0
	}
	d.emit(emit, e, n)
	return n
}

func (d *Decoder) decode(p []byte) (Event, int) {
	c := p[0]
	switch {
	case c == esc:
		return d.decodeEscape(p)
	case c < 0x20 || c == 0x7f:
		return keyEvent(controlKey(c)), 1
	case c < utf8.RuneSelf:
		return keyEvent(characterKey(rune(c))), 1
	case !utf8.FullRune(p):
		return Event{}, 0
	}
	r, n := utf8.DecodeRune(p)
	if r == utf8.RuneError && n == 1 || control(r) {
		return Event{}, n
	}
	return keyEvent(characterKey(r)), n
}

// decodeEscape decodes what follows an escape.
func (d *Decoder) decodeEscape(p []byte) (Event, int) {
	if len(p) == 1 {
		return Event{}, 0
	}
	switch c := p[1]; {
	case c == esc:
		return keyEvent(Key{Code: Escape}), 1
	case c == '[':
		return d.decodeCSI(p)
	case c == 'O':
		return decodeSS3(p)
	case startsString(c):
		return d.decodeStringStart(p)
	case c < 0x20 || c == 0x7f:
		k := controlKey(c)
		k.Mods |= Alt
		k.Text = ""
		k.Implied = true
		return keyEvent(k), 2
	case !utf8.FullRune(p[1:]):
		return Event{}, 0
	}
	r, n := utf8.DecodeRune(p[1:])
	if r == utf8.RuneError && n == 1 || control(r) {
		return keyEvent(Key{Code: Escape}), 1
	}
	return keyEvent(altKey(r)), 1 + n
}

func keyEvent(k Key) Event { return Event{Kind: EventKey, Key: k} }

func characterKey(r rune) Key {
	return Key{Code: Code(r), Text: textOf(r)}.normal()
}

// textOf is string(r) that allocates nothing for what is typed most.
func textOf(r rune) string {
	const ascii = " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"
	if i := int(r - ' '); i >= 0 && i < len(ascii) {
		return ascii[i : i+1]
	}
	return string(r)
}

func altKey(r rune) Key { return Key{Code: Code(r), Mods: Alt, Implied: true}.normal() }

// controlKey is the key that a C0 character stands for.
func controlKey(c byte) Key {
	switch {
	case c == '\r', c == '\t', c == esc:
		return Key{Code: Code(c)}
	case c == 0x7f:
		return Key{Code: Backspace}
	case c == 0:
		return Key{Code: Space, Mods: Ctrl}
	case c <= 26:
		return Key{Code: Code(c) + 'a' - 1, Mods: Ctrl}
	}
	return Key{Code: Code(c) + '@', Mods: Ctrl}
}

// startsString reports whether ESC c opens a control string.
func startsString(c byte) bool {
	return c == ']' || c == 'P' || c == '_' || c == '^' || c == 'X'
}

// decodeStringStart waits for the first byte of a string, because without one
// it was alt and a key.
func (d *Decoder) decodeStringStart(p []byte) (Event, int) {
	if len(p) == 2 {
		return Event{}, 0
	}
	if c := p[2]; c < 0x20 && c != esc {
		return keyEvent(altKey(rune(p[1]))), 2
	}
	d.state = inString
	return Event{}, 2
}

// stepString passes a string's payload up to its end: ST or BEL, or a control
// character, which no reply holds and which therefore was typed.
func (d *Decoder) stepString(p []byte, emit func(Event)) int {
	end := bytes.IndexFunc(p, func(r rune) bool { return r < 0x20 || r == 0x7f })
	if end < 0 {
		d.emit(emit, Event{}, len(p))
		return len(p)
	}
	switch {
	case p[end] == 0x07:
		end++
	case p[end] == esc && end+1 == len(p):
		if end > 0 {
			d.emit(emit, Event{}, end)
		}
		return end
	case p[end] == esc && p[end+1] == '\\':
		end += 2
	}
	d.state = atGround
	if end > 0 {
		d.emit(emit, Event{}, end)
		return end
	}
	return d.step(p, emit)
}

// stepPaste passes a paste's text up to its end mark.
func (d *Decoder) stepPaste(p []byte, emit func(Event)) int {
	if i := bytes.Index(p, []byte(pasteEnd)); i >= 0 {
		d.state = atGround
		d.emit(emit, Event{Kind: EventPaste, Paste: p[:i], Last: true}, i+len(pasteEnd))
		return i + len(pasteEnd)
	}
	n := len(p) - partialSuffix(p, pasteEnd)
	if n > 0 {
		d.emit(emit, Event{Kind: EventPaste, Paste: p[:n]}, n)
	}
	return n
}

// partialSuffix is the length of the longest end of p that mark begins with.
func partialSuffix(p []byte, mark string) int {
	for n := min(len(p), len(mark)-1); n > 0; n-- {
		if string(p[len(p)-n:]) == mark[:n] {
			return n
		}
	}
	return 0
}
