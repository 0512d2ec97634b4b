package prompt

import "regexp"

// plainWindow is how much plain text before the newest is still searched.
const plainWindow = 64 << 10

// A plainStream takes escape sequences and controls out of a stream that is cut
// anywhere. Its zero value is at the start of a stream. A carriage return that
// no line feed follows ends a line.
type plainStream struct {
	state  byte // 0 text, or what is being read over: esc, '[' or a string's introducer
	escape bool // inside a string: ESC came last
	cr     bool // the last byte was CR
}

// next takes a byte; out says what text comes of it, n is how many bytes of
// out count.
func (t *plainStream) next(b byte) (out [2]byte, n int) {
	const escape = 0x1b
	switch t.state {
	case '[':
		if b >= 0x40 && b < 0x7f {
			t.state = 0
		} else if b == escape {
			t.state = escape
		}
		return out, 0
	case escape:
		t.escaped(b)
		return out, 0
	case ']', 'P', 'X', '^', '_':
		switch {
		case b == '\\' && t.escape, b == '\a' && t.state == ']', b == 0x18, b == 0x1a:
			t.state, t.escape = 0, false
		default:
			t.escape = b == escape
		}
		return out, 0
	}
	return t.text(b)
}

// escaped takes what follows an ESC.
func (t *plainStream) escaped(b byte) {
	switch {
	case b == '[', b == ']', b == 'P', b == 'X', b == '^', b == '_':
		t.state, t.escape = b, false
	case b >= 0x30 && b != 0x1b:
		t.state = 0
	}
}

func (t *plainStream) text(b byte) (out [2]byte, n int) {
	alone := t.cr && b != '\n' && b != '\r'
	if alone {
		out[0], n = '\n', 1
	}
	if b != '\r' {
		t.cr = false
	}
	switch {
	case b == '\r':
		t.cr = true
	case b == 0x1b:
		t.state = b
	case b >= ' ' && b != 0x7f, b == '\n', b == '\t':
		out[n] = b
		n++
	}
	return out, n
}

// A plainBuffer is the newest plain text of a log with the offsets that it
// comes from.
type plainBuffer struct {
	plainStream
	at     int64 // offset of what was not added yet
	text   []byte
	behind []int64 // by byte of text: the offset behind what it comes from
}

func newPlainWindow(at int64) *plainBuffer { return &plainBuffer{at: at} }

// add adds what follows in the log.
func (b *plainBuffer) add(p []byte) {
	for _, c := range p {
		b.at++
		out, n := b.next(c)
		for _, char := range out[:n] {
			b.text = append(b.text, char)
			b.behind = append(b.behind, b.at)
		}
	}
	if cut := len(b.text) - plainWindow - readAtOnce; cut > 0 {
		b.text = append(b.text[:0], b.text[cut:]...)
		b.behind = append(b.behind[:0], b.behind[cut:]...)
	}
}

// match looks for a match; one at the very end counts only if open is set.
func (b *plainBuffer) match(re *regexp.Regexp, open bool) (finding, bool) {
	at := re.FindIndex(b.text)
	if at == nil || at[1] == len(b.text) && !open {
		return finding{}, false
	}
	g := finding{met: "output", text: string(b.text[at[0]:at[1]]), cursor: b.at}
	if at[1] > 0 {
		g.cursor = b.behind[at[1]-1]
	}
	return g, true
}
