package vt

// The controls named in the parser and the interpreter.
const (
	bel = 0x07
	can = 0x18
	sub = 0x1A
	esc = 0x1B
	del = 0x7F
)

// executeControl executes a C0 control.
func (t *Terminal) executeControl(b byte) {
	if b != del && b != esc {
		t.joinOK = false
	}
	switch b {
	case bel:
		t.bells++
		t.sendEvent(BellEvent{})
	case '\b':
		t.cursorBack(1)
	case '\t':
		t.tabForward(1)
	case '\n', '\v', '\f':
		t.index()
		if t.mode.newline {
			t.carriageReturn()
		}
	case '\r':
		t.carriageReturn()
	case 0x0E:
		t.cur.gl = 1
	case 0x0F:
		t.cur.gl = 0
	case can, sub:
		t.ps.state = stateGround
	case esc:
		t.startEscape()
	case del:
		if t.nextCharset().Has96() && t.ps.state == stateGround {
			t.printCharset([]byte{del})
		}
	}
}

// index implements IND: it moves one row down, and scrolls at the margin.
func (t *page) index() {
	t.cur.pending = false
	t.lineFeed()
}

// executeC1 executes a C1 control sent as a code point from U+0080 to U+009F.
func (t *Terminal) executeC1(r rune) {
	t.joinOK = false
	b := byte(r) - 0x40
	t.startEscape()
	if t.startSequence(b) {
		return
	}
	t.ps.state = stateGround
	t.dispatchEscape(b)
}

// dispatchEscape executes an escape sequence with final byte b.
func (t *Terminal) dispatchEscape(b byte) {
	switch t.ps.inter {
	case 0:
		t.dispatchPlainEscape(b)
	case '#':
		if b == '8' {
			t.fillAlignment()
		} else if size, ok := parseLineSize(b); ok {
			t.setLineSize(size)
		}
	case '(', ')', '*', '+':
		t.designate(int(t.ps.inter-'('), b)
	case '-', '.', '/':
		t.designate96(int(t.ps.inter-'-')+1, b)
	}
}

func (t *Terminal) dispatchPlainEscape(b byte) {
	switch b {
	case '7':
		t.saveCursor()
	case '8':
		t.restoreCursor()
	case 'D':
		t.index()
	case 'E':
		t.index()
		t.carriageReturn()
	case 'H':
		t.tabs[t.cur.x] = true
	case 'M':
		t.cur.pending = false
		t.reverseLineFeed()
	case 'N':
		t.cur.single = 2
	case 'O':
		t.cur.single = 3
	case 'V':
		t.setGuard(true)
	case 'W':
		t.setGuard(false)
	case 'Z':
		t.reportAttributes(0)
	case 'c':
		t.hardReset()
	case '=':
		t.mode.keys.appKeypad = true
	case '>':
		t.mode.keys.appKeypad = false
	case 'n':
		t.cur.gl = 2
	case 'o':
		t.cur.gl = 3
	case '6':
		t.backIndex()
	case '9':
		t.forwardIndex()
	}
}

// backIndex implements DECBI: one column left, scrolling at the margin.
func (t *page) backIndex() {
	if t.cur.x == t.region.Left && t.inRegion() {
		t.shiftColumns(t.region.Left, 1)
		return
	}
	t.moveTo(t.cur.x-1, t.cur.y)
}

// forwardIndex implements DECFI: one column right, scrolling at the margin.
func (t *page) forwardIndex() {
	if t.cur.x == t.region.Right && t.inRegion() {
		t.shiftColumns(t.region.Left, -1)
		return
	}
	t.moveTo(t.cur.x+1, t.cur.y)
}
