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
func (t *interpreter) executeControl(b byte) {
	if b != del && b != esc {
		t.writer.joinOK = false
	}
	switch b {
	case bel:
		t.host.bells++
		t.host.sendEvent(BellEvent{})
	case '\b':
		t.page.cursorBack(1)
	case '\t':
		t.writer.tabForward(1)
	case '\n', '\v', '\f':
		t.page.index()
		if t.page.mode.newline {
			t.page.carriageReturn()
		}
	case '\r':
		t.page.carriageReturn()
	case 0x0E:
		t.page.cur.gl = 1
	case 0x0F:
		t.page.cur.gl = 0
	case can, sub:
		t.host.ps.state = stateGround
	case esc:
		t.startEscape()
	case del:
		if t.writer.nextCharset().Has96() && t.host.ps.state == stateGround {
			t.writer.printCharset([]byte{del})
		}
	}
}

// index implements IND: it moves one row down, and scrolls at the margin.
func (t *page) index() {
	t.cur.pending = false
	t.lineFeed()
}

// executeC1 executes a C1 control sent as a code point from U+0080 to U+009F.
func (t *interpreter) executeC1(r rune) {
	t.writer.joinOK = false
	b := byte(r) - 0x40
	t.startEscape()
	if t.startSequence(b) {
		return
	}
	t.host.ps.state = stateGround
	t.dispatchEscape(b)
}

// dispatchEscape executes an escape sequence with final byte b.
func (t *interpreter) dispatchEscape(b byte) {
	switch t.host.ps.inter {
	case 0:
		t.dispatchPlainEscape(b)
	case '#':
		if b == '8' {
			t.page.fillAlignment()
		} else if size, ok := parseLineSize(b); ok {
			t.page.setLineSize(size)
		}
	case '(', ')', '*', '+':
		t.writer.designate(int(t.host.ps.inter-'('), b)
	case '-', '.', '/':
		t.writer.designate96(int(t.host.ps.inter-'-')+1, b)
	}
}

func (t *interpreter) dispatchPlainEscape(b byte) {
	switch b {
	case '7':
		t.page.saveCursor()
	case '8':
		t.page.restoreCursor()
	case 'D':
		t.page.index()
	case 'E':
		t.page.index()
		t.page.carriageReturn()
	case 'H':
		t.page.tabs[t.page.cur.x] = true
	case 'M':
		t.page.cur.pending = false
		t.page.reverseLineFeed()
	case 'N':
		t.page.cur.single = 2
	case 'O':
		t.page.cur.single = 3
	case 'V':
		t.page.setGuard(true)
	case 'W':
		t.page.setGuard(false)
	case 'Z':
		t.host.reportAttributes(0)
	case 'c':
		t.hardReset()
	case '=':
		t.page.mode.keys.appKeypad = true
	case '>':
		t.page.mode.keys.appKeypad = false
	case 'n':
		t.page.cur.gl = 2
	case 'o':
		t.page.cur.gl = 3
	case '6':
		t.page.backIndex()
	case '9':
		t.page.forwardIndex()
	}
}

// backIndex implements DECBI: it moves one column left, and scrolls at the margin.
func (t *page) backIndex() {
	if t.cur.x == t.region.Left && t.inRegion() {
		t.shiftColumns(t.region.Left, 1)
		return
	}
	t.moveTo(t.cur.x-1, t.cur.y)
}

// forwardIndex implements DECFI: it moves one column right, and scrolls at the margin.
func (t *page) forwardIndex() {
	if t.cur.x == t.region.Right && t.inRegion() {
		t.shiftColumns(t.region.Left, -1)
		return
	}
	t.moveTo(t.cur.x+1, t.cur.y)
}
