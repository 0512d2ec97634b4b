package prompt

import "regexp"

// maxPlainWindow is how many bytes of older plain text are kept and searched.
const maxPlainWindow = 64 << 10

// A plainStream removes escape sequences and control characters from output that arrives in pieces.
// The zero value is ready for the start of a stream. A carriage return without a newline ends a
// line.
type plainStream struct {
	state byte // 0 for text; otherwise the sequence being skipped: ESC, '[' or a string's introducer
	cr    bool // the last byte was CR
}

// filterByte processes one byte. The first n bytes of out are the resulting text.
func (t *plainStream) filterByte(b byte) (out [2]byte, n int) {
	const escape, cancel, substitute = 0x1b, 0x18, 0x1a
	switch {
	case t.state == 0:
		return t.filterText(b)
	case b == escape: // also ends a sequence or string that was cut off, as in a terminal
		t.state = escape
	case b == cancel, b == substitute:
		t.state = 0
	case t.state == escape:
		t.enterSequence(b)
	case t.state == '[' && b >= 0x40 && b < 0x7f, t.state == ']' && b == '\a':
		t.state = 0
	}
	return out, 0
}

func (t *plainStream) enterSequence(b byte) {
	switch {
	case b == '[', b == ']', b == 'P', b == 'X', b == '^', b == '_':
		t.state = b
	case b >= 0x30:
		t.state = 0
	}
}

func (t *plainStream) filterText(b byte) (out [2]byte, n int) {
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

// A plainBuffer holds the newest plain text of a log, and the offsets in the log that it comes
// from.
type plainBuffer struct {
	plainStream
	at   int64 // offset of the next byte to add
	text []byte
	ends []int64 // for each byte of text, the offset after its source
}

func newPlainWindow(at int64) *plainBuffer { return &plainBuffer{at: at} }

// addOutput adds the next bytes of the log.
func (b *plainBuffer) addOutput(p []byte) {
	for _, c := range p {
		b.at++
		out, n := b.filterByte(c)
		for _, char := range out[:n] {
			b.text = append(b.text, char)
			b.ends = append(b.ends, b.at)
		}
	}
	if cut := len(b.text) - maxPlainWindow - logChunk; cut > 0 {
		b.text = append(b.text[:0], b.text[cut:]...)
		b.ends = append(b.ends[:0], b.ends[cut:]...)
	}
}

// findMatch returns the first match of re. A match that reaches the end of the text counts only if
// open is set, because more text could make it longer.
func (b *plainBuffer) findMatch(re *regexp.Regexp, open bool) (finding, bool) {
	at := re.FindIndex(b.text)
	if at == nil || at[1] == len(b.text) && !open {
		return finding{}, false
	}
	g := finding{met: "output", text: string(b.text[at[0]:at[1]]), cursor: b.at}
	if at[1] > 0 {
		g.cursor = b.ends[at[1]-1]
	}
	return g, true
}
