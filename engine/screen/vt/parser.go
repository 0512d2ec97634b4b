package vt

import (
	"tandem/engine/screen/vt/graphics"
	"tandem/engine/screen/vt/scan"
)

// The parser is Paul Williams' state machine (vt100.net, "A parser for DEC's
// ANSI-compatible video terminals"), with UTF-8 in the ground state and colon
// sub-parameters. Bytes from 0x80 on are not controls: they are text.

type parseState uint8

const (
	stateGround parseState = iota
	stateEscape
	stateEscapeInter
	stateParam // in a CSI or the head of a DCS
	stateIgnore
	stateString
	stateStringEsc // ESC inside a string: ST if a backslash follows
)

// Limits of a sequence. Longer ones are ignored.
const (
	maxParams  = 32
	maxParam   = 65535
	maxOSC     = 1<<20*4/3 + 256 // a clipboard of 1 MiB in base64
	maxDCS     = 64 << 10
	maxScratch = 64 << 10 // a larger buffer is freed after its string
)

// A parser holds the current sequence, from its first byte to its last.
type parser struct {
	state  parseState
	kind   byte // 'P', ']', 'X', '^' or '_' in a string; '[' or 'P' in parameters
	prefix byte // one of < = > ?, or 0
	inter  byte // intermediate, or 0; '?' + more than one is stateIgnore
	final  byte // of a DCS
	n      int  // parameters started
	params [maxParams]int32
	set    uint32 // bit per parameter: has digits
	sub    uint32 // bit per parameter: follows a colon
	drop   bool   // the string is too long or unsupported
	length int    // of the string so far, kept or not
	buf    []byte

	utf  [4]byte // an incomplete character at the end of a Write
	nutf int
}

// feed runs p through the state machine.
func (t *interpreter) feed(p []byte) {
	if t.host.ps.nutf > 0 {
		p = t.finishRune(p)
	}
	for len(p) > 0 {
		var n int
		switch t.host.ps.state {
		case stateGround:
			n = t.parseGround(p)
		case stateEscape, stateEscapeInter:
			n = t.parseEscape(p[0])
		case stateParam, stateIgnore:
			n = t.parseSequence(p)
		case stateString:
			n = t.parseString(p)
		default:
			t.host.remaining = t.unfed + len(p) - 1
			n = t.parseStringEnd(p[0])
		}
		p = p[n:]
	}
}

// parseGround handles text and controls, and returns the number of bytes used. A carriage return
// and the start of a CSI are handled in place: with text, they are nearly all of most output.
func (t *interpreter) parseGround(p []byte) int {
	used, flood := 0, 0
	for used < len(p) && t.host.ps.state == stateGround {
		if n := scan.PrintableLen(p[used:]); n > 0 {
			t.writer.printASCII(p[used : used+n])
			used += n
			continue
		}
		switch b := p[used]; {
		// The common carriage return needs none of executeControl's checks.
		case b == '\r' && !t.page.cur.origin && t.page.region.Left == 0:
			t.writer.joinOK = false
			t.page.cur.x, t.page.cur.pending = 0, false
			used++
		// Parsing a CSI here saves a round through feed for each sequence.
		case b == esc && used+1 < len(p) && p[used+1] == '[':
			if n := t.applyWholeCSI(p[used+2:]); n > 0 {
				used += 2 + n
				continue
			}
			t.startSequence('[')
			used += 2
			used += t.parseSequence(p[used:])
		case b < 0x80:
			t.executeControl(b)
			used++
			// flood is the end of the last run found too short, so that no byte is counted twice.
			// A line feed without a carriage return is rarely followed by whole lines.
			if b == '\n' && used > flood && used > 1 && p[used-2] == '\r' && t.page.cur.y == t.page.region.Bottom {
				n, end := t.writer.pushPlainLines(p[used:])
				used, flood = used+n, used+end
			}
		default:
			used += t.printNonASCII(p[used:])
		}
	}
	return used
}

// printNonASCII prints at least one character from U+0080 on.
func (t *interpreter) printNonASCII(p []byte) int {
	if n := t.writer.printSimple(p); n > 0 {
		return n
	}
	r, n := scan.DecodeRune(p)
	if n == 0 {
		t.host.ps.nutf = copy(t.host.ps.utf[:], p)
		return len(p)
	}
	t.handleRune(r)
	return n
}

// handleRune executes a C1 control or prints a character.
func (t *interpreter) handleRune(r rune) {
	if r < 0xA0 {
		t.executeC1(r)
		return
	}
	t.writer.printRune(r)
}

// finishRune completes a character started in an earlier Write, and returns the rest of p.
func (t *interpreter) finishRune(p []byte) []byte {
	for len(p) > 0 {
		had := t.host.ps.nutf
		t.host.ps.utf[had] = p[0]
		r, n := scan.DecodeRune(t.host.ps.utf[:had+1])
		if n == 0 {
			t.host.ps.nutf++
			p = p[1:]
			continue
		}
		t.host.ps.nutf = 0
		t.handleRune(r)
		return p[n-had:]
	}
	return p
}

func (t *interpreter) startEscape() {
	t.host.ps.state, t.host.ps.prefix, t.host.ps.inter, t.host.ps.n = stateEscape, 0, 0, 0
}

// parseEscape handles a byte after ESC.
func (t *interpreter) parseEscape(b byte) int {
	ps := &t.host.ps
	switch {
	case b < 0x20:
		t.executeControl(b)
	case b == del:
	case b >= 0x80:
		ps.state = stateGround
		return 0
	case b < 0x30:
		if ps.state == stateEscapeInter {
			ps.inter = 0xFF // more than one: nothing we know
		} else {
			ps.state, ps.inter = stateEscapeInter, b
		}
	case ps.state == stateEscape && t.startSequence(b):
	default:
		ps.state = stateGround
		t.writer.joinOK = false
		t.dispatchEscape(b)
	}
	return 1
}

// startSequence starts a control sequence or string, and reports whether b introduces one.
func (t *interpreter) startSequence(b byte) bool {
	ps := &t.host.ps
	switch b {
	case '[', 'P':
		ps.state, ps.kind = stateParam, b
		ps.prefix, ps.inter, ps.n, ps.set, ps.sub = 0, 0, 0, 0, 0
	case ']', 'X', '^', '_':
		t.startString(b, b == 'X' || b == '^')
	default:
		return false
	}
	return true
}

func (t *interpreter) startString(kind byte, drop bool) {
	t.host.ps.state, t.host.ps.kind, t.host.ps.drop, t.host.ps.length = stateString, kind, drop, 0
	t.host.ps.buf = t.host.ps.buf[:0]
	t.writer.last.Glyph = 0
}

// parseSequence handles the parameters, intermediates and final byte of a control sequence, or of
// the head of a device control string.
func (t *interpreter) parseSequence(p []byte) int {
	ps := &t.host.ps
	for i := 0; i < len(p); i++ {
		switch b := p[i]; {
		case b >= '0' && b <= '9':
			i += ps.parseDigits(p[i:]) - 1
		case b == ';' || b == ':':
			ps.startParam(b)
		case b >= 0x40 && b <= 0x7E:
			t.finishSequence(b)
			return i + 1
		case b < 0x20:
			// The head of a DCS ignores other controls.
			if ps.kind == 'P' && b != esc && b != can && b != sub {
				continue
			}
			t.executeControl(b)
			if ps.state != stateParam && ps.state != stateIgnore {
				return i + 1
			}
		case b < 0x30:
			if ps.inter != 0 {
				ps.state = stateIgnore
			}
			ps.inter = b
		case b < 0x40:
			if ps.n > 0 || ps.prefix != 0 || ps.inter != 0 {
				ps.state = stateIgnore
			}
			ps.prefix = b
		case b >= 0x80:
			ps.state = stateGround
			return i
		}
	}
	return len(p)
}

// applyWholeCSI executes the control sequence at the start of p, without its CSI, and returns its
// length. It returns 0 for one that is incomplete, long or has more than numbers and semicolons.
// Nearly all sequences arrive whole and simple, and need no state between their bytes.
func (t *interpreter) applyWholeCSI(p []byte) int {
	ps := &t.host.ps
	n, value := 0, int32(0)
	for i := range min(len(p), 32) {
		switch b := p[i]; {
		case b-'0' <= 9 && value <= maxParam:
			value = value*10 + int32(b-'0')
		case b == ';' && n < 8 && value <= maxParam:
			ps.params[n], value = value, 0
			n++
		case b == 'm' && value <= maxParam:
			ps.params[n] = value
			t.noteSequence('m')
			t.page.cur.pen.applySGR(ps.params[:n+1], 0)
			t.page.penChanged = true
			return i + 1
		// T depends on whether its parameter is there, which only the parser's state tells.
		case b >= 0x40 && b <= 0x7E && b != 'T' && value <= maxParam:
			ps.params[n] = value
			ps.n, ps.sub, ps.prefix, ps.inter = n+1, 0, 0, 0
			if i == 0 {
				ps.n = 0
			}
			t.noteSequence(b)
			t.csi(b)
			return i + 1
		default:
			return 0
		}
	}
	return 0
}

// parseDigits adds the digits at the start of p to the last parameter, and returns their number.
func (ps *parser) parseDigits(p []byte) (n int) {
	if ps.inter != 0 {
		ps.state = stateIgnore
	}
	if ps.n == 0 {
		ps.n, ps.params[0] = 1, 0
	}
	value, known := int32(0), ps.n <= maxParams
	if known {
		ps.set |= 1 << (ps.n - 1)
		value = ps.params[ps.n-1]
	}
	for n < len(p) && p[n] >= '0' && p[n] <= '9' {
		value = min(value*10+int32(p[n]-'0'), maxParam)
		n++
	}
	if known {
		ps.params[ps.n-1] = value
	}
	return n
}

func (ps *parser) startParam(b byte) {
	if ps.inter != 0 {
		ps.state = stateIgnore
	}
	if ps.n == 0 {
		ps.n, ps.params[0] = 1, 0
	}
	if ps.n > maxParams {
		return
	}
	if ps.n < maxParams {
		ps.params[ps.n] = 0
		if b == ':' {
			ps.sub |= 1 << ps.n
		}
	}
	ps.n++
}

func (t *interpreter) finishSequence(b byte) {
	ps := &t.host.ps
	ignore := ps.state == stateIgnore
	ps.n = min(ps.n, maxParams)
	if ps.kind == 'P' {
		ps.final = b
		t.startString('P', ignore || !wantsDCS(ps.prefix, ps.inter, b))
		return
	}
	ps.state = stateGround
	if ignore {
		return
	}
	t.noteSequence(b)
	t.dispatchCSI(b)
}

// noteSequence records that a control sequence with final byte b follows the last cluster. A
// combining character may join the cluster before an SGR, but REP must follow its cluster directly.
func (t *interpreter) noteSequence(b byte) {
	switch b {
	case 'b':
	case 'm':
		t.writer.last.Glyph = 0
	default:
		t.writer.joinOK = false
	}
}

// param returns parameter i, or def if it is missing or zero.
func (t *host) param(i, def int) int {
	if i < t.ps.n && t.ps.params[i] != 0 {
		return int(t.ps.params[i])
	}
	return def
}

// parseString collects a string up to its end.
func (t *interpreter) parseString(p []byte) int {
	n := 0
	for n < len(p) && p[n] >= 0x20 {
		n++
	}
	t.appendString(p[:n])
	t.host.ps.length += n
	if n == len(p) {
		return n
	}
	t.host.remaining = t.unfed + len(p) - n - 1
	switch b := p[n]; {
	case b == esc:
		t.host.ps.state = stateStringEsc
	case b == can || b == sub:
		t.host.ps.state = stateGround
	case b == bel && t.host.ps.kind == ']':
		t.finishString("\a")
	case t.host.ps.kind == 'P':
		t.appendString(p[n : n+1])
	}
	t.host.ps.length++
	return n + 1
}

// appendString appends part of a string, up to its maximum length.
func (t *interpreter) appendString(p []byte) {
	ps := &t.host.ps
	if ps.drop || len(p) == 0 {
		return
	}
	if ps.kind == '_' && len(ps.buf) == 0 && p[0] != 'G' {
		ps.drop = true
		return
	}
	if len(ps.buf)+len(p) > ps.maxLength() {
		ps.drop, ps.buf = true, nil
		return
	}
	ps.buf = append(ps.buf, p...)
}

// PendingString returns the number of bytes received of an unfinished control string, after its
// head; 0 outside a string.
func (t *Terminal) PendingString() int {
	if t.host.ps.state != stateString && t.host.ps.state != stateStringEsc {
		return 0
	}
	return t.host.ps.length
}

// maxLength returns the maximum length of the string.
func (ps *parser) maxLength() int {
	switch {
	case ps.kind == ']':
		return maxOSC
	case ps.kind == '_':
		return graphics.MaxCommand
	case ps.inter == 0:
		return graphics.MaxSixel
	}
	return maxDCS
}

// parseStringEnd handles the byte after an ESC inside a string. Any byte but a backslash aborts the
// string and starts a new escape sequence.
func (t *interpreter) parseStringEnd(b byte) int {
	if b == '\\' {
		t.finishString("\x1b\\")
		return 1
	}
	t.startEscape()
	return 0
}

func (t *interpreter) finishString(end string) {
	ps := &t.host.ps
	ps.state = stateGround
	if !ps.drop {
		switch ps.kind {
		case ']':
			t.host.dispatchOSC(ps.buf, end)
		case 'P':
			t.dispatchDCS(ps.buf)
		case '_':
			t.store.pictures.HandleKitty(ps.buf[min(1, len(ps.buf)):]) // without its G
		}
	}
	if cap(ps.buf) > maxScratch {
		ps.buf = nil
	}
}
