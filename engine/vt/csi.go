package vt

import "tandem/engine/styled"

// dispatchCSI executes a control sequence. Names follow ECMA-48 and xterm's ctlseqs.
func (t *Terminal) dispatchCSI(b byte) {
	switch {
	case t.ps.inter != 0:
		t.csiInter(b)
	case t.ps.prefix == 0:
		t.csi(b)
	case t.ps.prefix == '?':
		t.csiPrivate(b)
	default:
		t.csiOther(b)
	}
}

// csi executes sequences without a prefix or an intermediate.
func (t *Terminal) csi(b byte) {
	switch b {
	case 'm':
		t.cur.pen.applySGR(t.ps.params[:t.ps.n], t.ps.sub)
		t.penChanged = true
	case '@':
		t.insertChars(t.param(0, 1))
	case 'P':
		t.deleteChars(t.param(0, 1))
	case 'X':
		t.cur.pending = false
		t.eraseSpan(t.cur.x, t.cur.y, min(t.param(0, 1), t.cols-t.cur.x), t.mode.guarded)
	case 'J':
		t.eraseDisplay(t.param(0, 0), t.mode.guarded && t.param(0, 0) != 3)
	case 'K':
		t.eraseLine(t.param(0, 0), t.mode.guarded)
	case 'L':
		t.insertLines(t.param(0, 1))
	case 'M':
		t.deleteLines(t.param(0, 1))
	case 'S':
		t.scrollUp(t.region, t.param(0, 1), true)
	case 'T':
		if explicit := t.ps.set&1 != 0; t.ps.n <= 1 && !(explicit && t.ps.params[0] == 0) { // otherwise it is mouse tracking
			t.scrollDown(t.region, t.param(0, 1))
		}
	case '^':
		t.scrollDown(t.region, t.param(0, 1))
	case 'b':
		t.repeatLast(t.param(0, 1))
	case 'h', 'l':
		t.setModes(false, b == 'h')
	default:
		t.csiCursor(b)
	}
}

// csiCursor executes sequences for the cursor, margins and tab stops.
func (t *Terminal) csiCursor(b byte) {
	n := t.param(0, 1)
	switch b {
	case 'A':
		t.cursorUp(n)
	case 'B':
		t.cursorDown(n)
	case 'C':
		t.cursorForward(n)
	case 'D':
		t.cursorBack(n)
	case 'E':
		t.cursorDown(n)
		t.carriageReturn()
	case 'F':
		t.cursorUp(n)
		t.carriageReturn()
	case 'G', '`':
		_, y0 := t.origin()
		t.moveToOrigin(n-1, t.cur.y-y0)
	case 'H', 'f':
		t.moveToOrigin(t.param(1, 1)-1, n-1)
	case 'a':
		t.moveBy(n, 0)
	case 'd':
		x0, _ := t.origin()
		t.moveToOrigin(t.cur.x-x0, n-1)
	case 'e':
		t.moveBy(0, n)
	case 'I':
		t.tabForward(n)
	case 'Z':
		t.tabBackward(n)
	case 'g':
		t.clearTabs(t.param(0, 0))
	case 'r':
		t.setTopBottom()
	case 's':
		t.setLeftRight()
	case 'u':
		t.restoreCursor()
	default:
		t.csiReport(b)
	}
}

// csiReport executes queries.
func (t *Terminal) csiReport(b byte) {
	switch b {
	case 'c':
		t.reportAttributes(0)
	case 'n':
		t.reportStatus(false)
	case 't':
		t.windowOperation()
	case 'x':
		t.reportParameters()
	}
}

func (t *host) clearTabs(how int) {
	switch how {
	case 0:
		t.tabs[t.cur.x] = false
	case 3:
		clear(t.tabs)
	}
}

// setTopBottom implements DECSTBM.
func (t *host) setTopBottom() {
	top, bottom := t.param(0, 1), min(t.param(1, t.rows), t.rows)
	if top < bottom {
		t.region.Top, t.region.Bottom = top-1, bottom-1
		t.moveToOrigin(0, 0)
	}
}

// setLeftRight implements DECSLRM if DECLRMM is set, otherwise SCOSC.
func (t *host) setLeftRight() {
	if !t.mode.leftRight {
		if t.ps.n == 0 {
			t.saveCursor()
		}
		return
	}
	left, right := t.param(0, 1), min(t.param(1, t.cols), t.cols)
	if left < right {
		t.region.Left, t.region.Right = left-1, right-1
		t.moveToOrigin(0, 0)
	}
}

// csiPrivate executes sequences with the prefix ?.
func (t *Terminal) csiPrivate(b byte) {
	switch b {
	case 'h', 'l':
		t.setModes(true, b == 'h')
	case 'J':
		t.eraseDisplay(t.param(0, 0), true)
	case 'K':
		t.eraseLine(t.param(0, 0), true)
	case 'n':
		t.reportStatus(true)
	case 's':
		t.saveModes()
	case 'r':
		t.restoreModes()
	case 'u':
		t.reportKitty()
	case 'm':
		t.reportModifyKeys()
	case 'S':
		t.reportGraphics()
	case 'W':
		if t.param(0, 0) == 5 {
			t.tabs = defaultTabs(nil, t.cols)
		}
	}
}

// csiOther executes sequences with the prefixes <, = and >.
func (t *Terminal) csiOther(b byte) {
	switch prefix := t.ps.prefix; b {
	case 'c':
		t.reportAttributes(prefix)
	case 'u':
		t.setKittyFlags(prefix)
	case 'm':
		if prefix == '>' {
			t.setModifyKeys()
		}
	case 'n':
		if prefix == '>' && t.param(0, 0) == 4 {
			t.mode.keys.modifyOther = 0
		}
	case 'q':
		if prefix == '>' && t.param(0, 0) == 0 {
			t.sendReply([]byte("\x1bP>|tandem\x1b\\"))
		}
	}
}

// csiInter executes sequences with an intermediate.
func (t *Terminal) csiInter(b byte) {
	switch t.ps.inter {
	case '$':
		if b == 'p' {
			t.reportMode(t.ps.prefix == '?')
		} else if t.ps.prefix == 0 {
			t.csiRect(b)
		}
	case ' ':
		t.csiSpace(b)
	case '!':
		if b == 'p' {
			t.softReset()
		}
	case '"':
		if b == 'q' {
			t.setProtection(t.param(0, 0))
		} else if b == 'p' {
			t.setLevel(t.param(0, 0) - 60)
		}
	case '\'':
		if b == '}' && t.inRegion() {
			t.shiftColumns(t.cur.x, t.param(0, 1))
		} else if b == '~' && t.inRegion() {
			t.shiftColumns(t.cur.x, -t.param(0, 1))
		}
	case '#':
		t.csiHash(b)
	case '*':
		if b == 'x' {
			t.mode.rectExtent = uint8(min(t.param(0, 0), 2))
		} else if b == 'y' {
			t.reportChecksum()
		}
	}
}

// csiHash executes sequences with the intermediate #.
func (t *Terminal) csiHash(b byte) {
	switch b {
	case '{', 'p':
		t.pushStyle()
	case '}', 'q':
		t.popStyle()
	case 'y':
		t.mode.checksum = uint8(t.param(0, 0) & checksumAll)
	}
}

// csiSpace executes sequences with a space as intermediate.
func (t *Terminal) csiSpace(b byte) {
	switch b {
	case 'q':
		t.cursorStyle(t.param(0, 0))
	case '@':
		t.scrollColumns(t.param(0, 1), false)
	case 'A':
		t.scrollColumns(t.param(0, 1), true)
	}
}

// scrollColumns implements SL and SR.
func (t *Terminal) scrollColumns(n int, right bool) {
	if !t.inRegion() {
		return
	}
	if !right {
		n = -n
	}
	t.shiftColumns(t.region.Left, n)
}

// setProtection implements DECSCA: cells written from now on are safe from selective erase, or not.
func (t *page) setProtection(how int) {
	t.mode.guarded = false
	t.protectPen(how == 1)
}

// setGuard implements SPA and EPA (ECMA-48): cells written in between are safe from any erase until
// DECSCA or a reset.
func (t *page) setGuard(on bool) {
	t.mode.guarded = t.mode.guarded || on
	t.protectPen(on)
}

func (t *page) protectPen(on bool) {
	t.cur.pen.attrs &^= attrProtected
	if on {
		t.cur.pen.attrs |= attrProtected
	}
	t.penChanged = true
}

// setLevel implements DECSCL: a soft reset, then the features of level n.
func (t *Terminal) setLevel(n int) {
	if n < 1 || n > maxLevel {
		return
	}
	t.softReset()
	t.mode.level = uint8(n)
}

// cursorStyle implements DECSCUSR.
func (t *page) cursorStyle(n int) {
	if n > 6 {
		return
	}
	t.mode.cursor.chosen = n > 0
	n = max(n, 1)
	t.mode.cursor.shape = styled.CursorShape((n - 1) / 2)
	t.mode.cursor.blink = n%2 == 1
}
