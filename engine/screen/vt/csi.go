package vt

import "tandem/engine/screen/styled"

// dispatchCSI executes a control sequence. Names follow ECMA-48 and xterm's ctlseqs.
func (t *interpreter) dispatchCSI(b byte) {
	switch {
	case t.host.ps.inter != 0:
		t.csiInter(b)
	case t.host.ps.prefix == 0:
		t.csi(b)
	case t.host.ps.prefix == '?':
		t.csiPrivate(b)
	default:
		t.csiOther(b)
	}
}

// csi executes sequences without a prefix or an intermediate.
func (t *interpreter) csi(b byte) {
	switch b {
	case 'm':
		t.page.cur.pen.applySGR(t.host.ps.params[:t.host.ps.n], t.host.ps.sub)
		t.page.penChanged = true
	case '@':
		t.page.insertChars(t.host.param(0, 1))
	case 'P':
		t.page.deleteChars(t.host.param(0, 1))
	case 'X':
		t.page.cur.pending = false
		t.page.eraseSpan(t.page.cur.x, t.page.cur.y, min(t.host.param(0, 1), t.store.cols-t.page.cur.x), t.page.mode.guarded)
	case 'J':
		t.page.eraseDisplay(t.host.param(0, 0), t.page.mode.guarded && t.host.param(0, 0) != 3)
	case 'K':
		t.page.eraseLine(t.host.param(0, 0), t.page.mode.guarded)
	case 'L':
		t.page.insertLines(t.host.param(0, 1))
	case 'M':
		t.page.deleteLines(t.host.param(0, 1))
	case 'S':
		t.page.scrollUp(t.page.region, t.host.param(0, 1), true)
	case 'T':
		if explicit := t.host.ps.set&1 != 0; t.host.ps.n <= 1 && !(explicit && t.host.ps.params[0] == 0) { // otherwise it is mouse tracking
			t.page.scrollDown(t.page.region, t.host.param(0, 1))
		}
	case '^':
		t.page.scrollDown(t.page.region, t.host.param(0, 1))
	case 'b':
		t.writer.repeatLast(t.host.param(0, 1))
	case 'h', 'l':
		t.setModes(false, b == 'h')
	default:
		t.csiCursor(b)
	}
}

// csiCursor executes sequences for the cursor, margins and tab stops.
func (t *interpreter) csiCursor(b byte) {
	n := t.host.param(0, 1)
	switch b {
	case 'A':
		t.page.cursorUp(n)
	case 'B':
		t.page.cursorDown(n)
	case 'C':
		t.page.cursorForward(n)
	case 'D':
		t.page.cursorBack(n)
	case 'E':
		t.page.cursorDown(n)
		t.page.carriageReturn()
	case 'F':
		t.page.cursorUp(n)
		t.page.carriageReturn()
	case 'G', '`':
		_, y0 := t.page.origin()
		t.page.moveToOrigin(n-1, t.page.cur.y-y0)
	case 'H', 'f':
		t.page.moveToOrigin(t.host.param(1, 1)-1, n-1)
	case 'a':
		t.page.moveBy(n, 0)
	case 'd':
		x0, _ := t.page.origin()
		t.page.moveToOrigin(t.page.cur.x-x0, n-1)
	case 'e':
		t.page.moveBy(0, n)
	case 'I':
		t.writer.tabForward(n)
	case 'Z':
		t.page.tabBackward(n)
	case 'g':
		t.host.clearTabs(t.host.param(0, 0))
	case 'r':
		t.host.setTopBottom()
	case 's':
		t.host.setLeftRight()
	case 'u':
		t.page.restoreCursor()
	default:
		t.csiReport(b)
	}
}

// csiReport executes queries.
func (t *interpreter) csiReport(b byte) {
	switch b {
	case 'c':
		t.host.reportAttributes(0)
	case 'n':
		t.host.reportStatus(false)
	case 't':
		t.host.windowOperation()
	case 'x':
		t.host.reportParameters()
	}
}

func (t *host) clearTabs(how int) {
	switch how {
	case 0:
		t.page.tabs[t.page.cur.x] = false
	case 3:
		clear(t.page.tabs)
	}
}

// setTopBottom implements DECSTBM.
func (t *host) setTopBottom() {
	top, bottom := t.param(0, 1), min(t.param(1, t.store.rows), t.store.rows)
	if top < bottom {
		t.page.region.Top, t.page.region.Bottom = top-1, bottom-1
		t.page.moveToOrigin(0, 0)
	}
}

// setLeftRight implements DECSLRM if DECLRMM is set, otherwise SCOSC.
func (t *host) setLeftRight() {
	if !t.page.mode.leftRight {
		if t.ps.n == 0 {
			t.page.saveCursor()
		}
		return
	}
	left, right := t.param(0, 1), min(t.param(1, t.store.cols), t.store.cols)
	if left < right {
		t.page.region.Left, t.page.region.Right = left-1, right-1
		t.page.moveToOrigin(0, 0)
	}
}

// csiPrivate executes sequences with the prefix ?.
func (t *interpreter) csiPrivate(b byte) {
	switch b {
	case 'h', 'l':
		t.setModes(true, b == 'h')
	case 'J':
		t.page.eraseDisplay(t.host.param(0, 0), true)
	case 'K':
		t.page.eraseLine(t.host.param(0, 0), true)
	case 'n':
		t.host.reportStatus(true)
	case 's':
		t.saveModes()
	case 'r':
		t.restoreModes()
	case 'u':
		t.host.reportKitty()
	case 'm':
		t.host.reportModifyKeys()
	case 'S':
		t.host.reportGraphics()
	case 'W':
		if t.host.param(0, 0) == 5 {
			t.page.tabs = defaultTabs(nil, t.store.cols)
		}
	}
}

// csiOther executes sequences with the prefixes <, = and >.
func (t *interpreter) csiOther(b byte) {
	switch prefix := t.host.ps.prefix; b {
	case 'c':
		t.host.reportAttributes(prefix)
	case 'u':
		t.host.setKittyFlags(prefix)
	case 'm':
		if prefix == '>' {
			t.host.setModifyKeys()
		}
	case 'n':
		if prefix == '>' && t.host.param(0, 0) == 4 {
			t.page.mode.keys.modifyOther = 0
		}
	case 'q':
		if prefix == '>' && t.host.param(0, 0) == 0 {
			t.host.sendReply([]byte("\x1bP>|tandem\x1b\\"))
		}
	}
}

// csiInter executes sequences with an intermediate.
func (t *interpreter) csiInter(b byte) {
	switch t.host.ps.inter {
	case '$':
		if b == 'p' {
			t.reportMode(t.host.ps.prefix == '?')
		} else if t.host.ps.prefix == 0 {
			t.host.csiRect(b)
		}
	case ' ':
		t.csiSpace(b)
	case '!':
		if b == 'p' {
			t.softReset()
		}
	case '"':
		if b == 'q' {
			t.page.setProtection(t.host.param(0, 0))
		} else if b == 'p' {
			t.setLevel(t.host.param(0, 0) - 60)
		}
	case '\'':
		if b == '}' && t.page.inRegion() {
			t.page.shiftColumns(t.page.cur.x, t.host.param(0, 1))
		} else if b == '~' && t.page.inRegion() {
			t.page.shiftColumns(t.page.cur.x, -t.host.param(0, 1))
		}
	case '#':
		t.csiHash(b)
	case '*':
		if b == 'x' {
			t.page.mode.rectExtent = uint8(min(t.host.param(0, 0), 2))
		} else if b == 'y' {
			t.host.reportChecksum()
		}
	}
}

// csiHash executes sequences with the intermediate #.
func (t *interpreter) csiHash(b byte) {
	switch b {
	case '{', 'p':
		t.host.pushStyle()
	case '}', 'q':
		t.host.popStyle()
	case 'y':
		t.page.mode.checksum = uint8(t.host.param(0, 0) & checksumAll)
	}
}

// csiSpace executes sequences with a space as intermediate.
func (t *interpreter) csiSpace(b byte) {
	switch b {
	case 'q':
		t.page.cursorStyle(t.host.param(0, 0))
	case '@':
		t.scrollColumns(t.host.param(0, 1), false)
	case 'A':
		t.scrollColumns(t.host.param(0, 1), true)
	}
}

// scrollColumns implements SL and SR.
func (t *interpreter) scrollColumns(n int, right bool) {
	if !t.page.inRegion() {
		return
	}
	if !right {
		n = -n
	}
	t.page.shiftColumns(t.page.region.Left, n)
}

// setProtection implements DECSCA: cells written from now on are safe from selective erase, or not.
func (t *page) setProtection(how int) {
	t.mode.guarded = false
	t.protectPen(how == 1)
}

// setGuard implements SPA and EPA (ECMA-48): cells written between the two are safe from any erase
// until DECSCA or a reset.
func (t *page) setGuard(on bool) {
	t.mode.guarded = t.mode.guarded || on
	t.protectPen(on)
}

func (t *page) protectPen(on bool) {
	t.cur.pen.Attrs &^= attrProtected
	if on {
		t.cur.pen.Attrs |= attrProtected
	}
	t.penChanged = true
}

// setLevel implements DECSCL: it does a soft reset, and then enables the features of level n.
func (t *interpreter) setLevel(n int) {
	if n < 1 || n > maxLevel {
		return
	}
	t.softReset()
	t.page.mode.level = uint8(n)
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
