package vt

import "tandem/engine/screen/styled"

// Cursor returns the cursor of the current screen.
func (t *Terminal) Cursor() styled.Cursor {
	return styled.Cursor{
		X: t.page.cur.x, Y: t.page.cur.y, Visible: t.page.mode.cursor.on,
		Shape: t.page.mode.cursor.shape, Blink: t.page.mode.cursor.blink, Own: !t.page.mode.cursor.chosen, Color: t.host.colors.Cursor(),
	}
}

// moveTo moves the cursor, clamped to the screen.
func (t *page) moveTo(x, y int) {
	t.cur.y = min(max(y, 0), t.store.rows-1)
	t.cur.x = min(max(x, 0), t.store.scr.rows[t.cur.y].lastColumn(t.store.cols))
	t.cur.pending = false
}

// moveToOrigin moves the cursor as CUP does: in origin mode, relative to the margins and within
// them.
func (t *page) moveToOrigin(x, y int) {
	if !t.cur.origin {
		t.moveTo(x, y)
		return
	}
	r := &t.region
	t.moveTo(min(max(x, 0)+r.Left, r.Right), min(max(y, 0)+r.Top, r.Bottom))
}

// moveBy implements HPR and VPR. In origin mode the cursor stays inside the margins.
func (t *page) moveBy(dx, dy int) {
	x0, y0 := t.origin()
	t.moveToOrigin(t.cur.x-x0+dx, t.cur.y-y0+dy)
}

// origin returns the position of 1;1 in CUP and CPR.
func (t *page) origin() (x, y int) {
	if t.cur.origin {
		return t.region.Left, t.region.Top
	}
	return 0, 0
}

// cursorUp moves n rows up. The top margin stops it, unless the cursor is above it.
func (t *page) cursorUp(n int) {
	top := 0
	if t.cur.y >= t.region.Top {
		top = t.region.Top
	}
	t.moveTo(t.cur.x, max(t.cur.y-n, top))
}

func (t *page) cursorDown(n int) {
	bottom := t.store.rows - 1
	if t.cur.y <= t.region.Bottom {
		bottom = t.region.Bottom
	}
	t.moveTo(t.cur.x, min(t.cur.y+n, bottom))
}

func (t *page) cursorForward(n int) { t.moveTo(min(t.cur.x+n, t.rightLimit()), t.cur.y) }

// cursorBack moves n columns left. In reverse wrap mode (45) it continues at the end of the row
// above if that row wrapped; in extended mode (1045) always, and from the top margin to the bottom
// one.
func (t *page) cursorBack(n int) {
	if (t.mode.reverseWrap || t.mode.reverseAll) && t.mode.autowrap {
		t.cursorBackWrapping(n)
		return
	}
	t.moveTo(max(t.cur.x-n, t.leftLimit()), t.cur.y)
}

func (t *page) cursorBackWrapping(n int) {
	if t.cur.pending {
		n--
		t.cur.pending = false
	}
	// The program's count may be huge; one round over the screen bounds the loop.
	for n = min(n, t.store.cols*t.store.rows); n > 0; {
		left := t.leftLimit()
		if step := min(n, t.cur.x-left); step > 0 {
			t.moveTo(t.cur.x-step, t.cur.y)
			n -= step
			continue
		}
		y, ok := t.previousRow()
		if !ok {
			return
		}
		t.moveTo(t.region.Right, y)
		n--
	}
}

// previousRow returns the row to which reverse wrap moves the cursor from the start of its row; ok is
// false if the cursor stays.
func (t *page) previousRow() (y int, ok bool) {
	y = t.cur.y - 1
	top := y < 0 || t.cur.y == t.region.Top
	if !t.mode.reverseAll {
		return y, !top && t.store.scr.rows[y].wrapped
	}
	if top {
		y = t.region.Bottom
	}
	return y, true
}

// leftLimit returns the leftmost column that the control sequence CUB can reach.
func (t *page) leftLimit() int {
	if t.cur.x >= t.region.Left {
		return t.region.Left
	}
	return 0
}

// rightLimit returns the last column that text, and the control sequence CUF, can reach.
func (t *page) rightLimit() int {
	row := &t.store.scr.rows[t.cur.y]
	if row.size == styled.SingleSize && t.cur.x <= t.region.Right {
		return t.region.Right
	}
	return row.lastColumn(t.store.cols)
}

func (t *page) carriageReturn() {
	x := t.leftLimit()
	if t.cur.origin {
		x = t.region.Left
	}
	t.moveTo(x, t.cur.y)
}

// defaultTabs returns tab stops for cols columns. It keeps the stops in old.
func defaultTabs(old []bool, cols int) []bool {
	tabs := make([]bool, cols)
	for x := copy(tabs, old); x < cols; x++ {
		tabs[x] = x%8 == 0 && x > 0
	}
	return tabs
}

// tabForward moves n tab stops forward. Without a further stop, a pending wrap stays pending. In
// mode 41 the wrap comes first, to the first column regardless of margins, without joining lines
// (xterm's TabNext).
func (t *writer) tabForward(n int) {
	if t.page.cur.pending && t.page.mode.moreFix && t.page.mode.autowrap {
		t.page.index()
		t.page.moveTo(0, t.page.cur.y)
	}
	limit := t.page.rightLimit()
	x := t.page.cur.x
	for ; n > 0 && x < limit; n-- {
		for x++; x < limit && !t.page.tabs[x]; x++ {
		}
	}
	if x != t.page.cur.x {
		t.page.moveTo(x, t.page.cur.y)
	}
}

// tabBackward moves n tab stops back.
func (t *page) tabBackward(n int) {
	limit := 0
	if t.cur.origin {
		limit = t.region.Left
	}
	x := t.cur.x
	for ; n > 0 && x > limit; n-- {
		for x--; x > limit && !t.tabs[x]; x-- {
		}
	}
	t.moveTo(x, t.cur.y)
}
