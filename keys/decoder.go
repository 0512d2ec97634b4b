package keys

import (
	"bytes"
	"unicode/utf8"
)

// EventKind is the kind of an Event.
type EventKind uint8

const (
	EventOther EventKind = iota // a reply of the terminal, or invalid bytes
	EventKey
	EventMouse
	EventPaste // a piece of a paste; Last marks the last one
	EventFocusIn
	EventFocusOut
)

// An Event is a part of a terminal's input. Start and End are the range of its bytes, counted from
// the first byte fed to the Decoder. Consecutive events leave no gap.
type Event struct {
	Kind       EventKind
	Key        Key    // for EventKey
	Mouse      Mouse  // for EventMouse
	Paste      []byte // for EventPaste; valid until the callback returns
	Last       bool   // for EventPaste: the paste is complete
	Start, End int64
}

// A Decoder splits a terminal's input into keys (legacy, modifyOtherKeys and kitty), mouse reports,
// pastes, focus reports and replies. Its input may be split anywhere; it keeps only the bytes of an
// incomplete sequence, of which there are never many. The zero value is ready for use.
//
// An escape may be a key of its own or begin a sequence. A Decoder waits for the next byte; its
// owner calls Flush when none has arrived for a while.
type Decoder struct {
	// UTF8Mouse is set while the program uses mouse encoding 1005, whose reports look the same as
	// X10 ones.
	UTF8Mouse bool

	state   decoderState
	offset  int64  // of the first byte not part of an event yet
	pending []byte // the incomplete sequence
}

type decoderState uint8

const (
	inText decoderState = iota
	inPaste
	inString // OSC, DCS, APC, PM or SOS
)

// maxSequence limits the length of an escape sequence; longer ones are ignored.
const maxSequence = 256

// Feed decodes p and calls emit with each complete event.
func (d *Decoder) Feed(p []byte, emit func(Event)) {
	rest := p
	if len(d.pending) > 0 {
		rest = append(d.pending, p...)
	}
	for len(rest) > 0 {
		n := d.step(rest, emit)
		if n == 0 {
			break
		}
		rest = rest[n:]
	}
	d.pending = append(d.pending[:0:0], rest...)
}

// Pending returns the number of bytes of an incomplete sequence.
func (d *Decoder) Pending() int { return len(d.pending) }

// Idle reports whether no sequence, paste or reply is in progress.
func (d *Decoder) Idle() bool { return len(d.pending) == 0 && d.state == inText }

// Flush decodes an incomplete sequence as typed keys: a lone escape is the escape key, ESC [ is
// alt+[.
func (d *Decoder) Flush(emit func(Event)) {
	rest := d.pending
	d.pending = nil
	if len(rest) == 0 {
		return
	}
	if d.state == inString {
		d.state = inText
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

// step decodes the beginning of p and returns its length; 0 if it is incomplete.
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
	if r == utf8.RuneError && n == 1 || isControl(r) {
		return Event{}, n
	}
	return keyEvent(characterKey(r)), n
}

// decodeEscape decodes an escape and the bytes after it.
func (d *Decoder) decodeEscape(p []byte) (Event, int) {
	if len(p) == 1 {
		return Event{}, 0
	}
	switch c := p[1]; {
	// The first escape was a key; the second may begin a sequence.
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
	if r == utf8.RuneError && n == 1 || isControl(r) {
		// Not a character: the escape was a key of its own.
		return keyEvent(Key{Code: Escape}), 1
	}
	return keyEvent(altKey(r)), 1 + n
}

func keyEvent(k Key) Event { return Event{Kind: EventKey, Key: k} }

func characterKey(r rune) Key {
	return Key{Code: Code(r), Text: textOf(r)}.normalize()
}

// textOf returns string(r), without an allocation for ASCII.
func textOf(r rune) string {
	const ascii = " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"
	if i := int(r - ' '); i >= 0 && i < len(ascii) {
		return ascii[i : i+1]
	}
	return string(r)
}

func altKey(r rune) Key { return Key{Code: Code(r), Mods: Alt, Implied: true}.normalize() }

// controlKey returns the key for a C0 character.
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

// startsString reports whether ESC c begins a control string.
func startsString(c byte) bool {
	return c == ']' || c == 'P' || c == '_' || c == '^' || c == 'X'
}

// decodeStringStart waits for the first byte of a string. A control character there means that alt
// and a key were typed.
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

// stepString skips a string up to its terminator, ST or BEL. Any other control character ends it
// too: replies contain none, so it was typed.
func (d *Decoder) stepString(p []byte, emit func(Event)) int {
	end := bytes.IndexFunc(p, func(r rune) bool { return r < 0x20 || r == 0x7f })
	if end < 0 {
		d.emit(emit, Event{}, len(p))
		return len(p)
	}
	switch {
	case p[end] == 0x07:
		end++
	// The next byte decides whether this is ST.
	case p[end] == esc && end+1 == len(p):
		if end > 0 {
			d.emit(emit, Event{}, end)
		}
		return end
	case p[end] == esc && p[end+1] == '\\':
		end += 2
	}
	d.state = inText
	if end > 0 {
		d.emit(emit, Event{}, end)
		return end
	}
	// The control character is a key.
	return d.step(p, emit)
}

// stepPaste emits the text of a paste up to its end mark.
func (d *Decoder) stepPaste(p []byte, emit func(Event)) int {
	if i := bytes.Index(p, []byte(PasteEnd)); i >= 0 {
		d.state = inText
		d.emit(emit, Event{Kind: EventPaste, Paste: p[:i], Last: true}, i+len(PasteEnd))
		return i + len(PasteEnd)
	}
	// Hold back the beginning of an end mark split between two reads.
	n := len(p) - partialSuffix(p, PasteEnd)
	if n > 0 {
		d.emit(emit, Event{Kind: EventPaste, Paste: p[:n]}, n)
	}
	return n
}

// partialSuffix returns the length of the longest suffix of p that is a prefix of mark.
func partialSuffix(p []byte, mark string) int {
	for n := min(len(p), len(mark)-1); n > 0; n-- {
		if string(p[len(p)-n:]) == mark[:n] {
			return n
		}
	}
	return 0
}
