package vt

import (
	"time"

	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt/grid"
	"tandem/engine/screen/vt/notice"
	"tandem/keys"
)

// Modes are the modes set by a program, for viewers and key encoders.
type Modes struct {
	keys.Modes
	Alt             bool // the alternate screen is visible
	FocusReports    bool
	AlternateScroll bool // wheel sends arrows on the alternate screen, mode 1007
	Sync            bool // synchronised output (2026) delays the screen
	ReverseScreen   bool // DECSCNM
}

// syncLimit is the maximum time synchronised output may delay the screen.
const syncLimit = 150 * time.Millisecond

// Modes returns the current modes. Sync ends by itself after 150 ms.
func (t *Terminal) Modes() Modes {
	m := &t.page.mode
	return Modes{
		Modes: keys.Modes{
			AppCursor: m.keys.appCursor, AppKeypad: m.keys.appKeypad, Newline: m.newline, BracketedPaste: m.paste,
			Mouse: m.mouse.mode, MouseEncoding: m.mouse.encoding, ModifyOther: m.keys.modifyOther, Kitty: t.store.scr.kitty.flags(),
		},
		Alt:          t.store.scr == t.store.alt,
		FocusReports: m.focus, AlternateScroll: m.altScroll,
		Sync:          m.sync && time.Since(t.host.syncAt) < syncLimit,
		ReverseScreen: m.reverse,
	}
}

// A modeSet has every mode except those saved by DECSC.
type modeSet struct {
	newline, insert, autowrap  bool
	reverse, leftRight         bool
	reverseWrap, reverseAll    bool
	paste, focus, altScroll    bool
	sync, localOff             bool
	clusters                   bool  // a cluster is one character (2027)
	reportsScheme, reportsSize bool  // 2031, 2048
	moreFix, national          bool  // 41, DECNRCM
	sixelDisplay, sixelRight   bool  // DECSDM (80), 8452
	guarded                    bool  // SPA was used: all erasing spares protected cells
	rectExtent                 uint8 // DECSACE, 0…2
	checksum                   uint8 // XTCHECKSUM, bits below
	level                      uint8 // DECSCL, 1 to maxLevel

	cursor   cursorModes
	keys     keyModes
	mouse    mouseModes
	width    widthModes
	reported reportedModes
}

// cursorModes are the cursor's appearance.
type cursorModes struct {
	on, blink bool
	chosen    bool // the program has chosen shape and blinking
	shape     styled.CursorShape
}

// keyModes change the encoding of keys.
type keyModes struct {
	appCursor, appKeypad, lock, metaEsc, altEsc, backarrow bool
	modifyOther                                            uint8
}

// mouseModes select mouse events and their encoding.
type mouseModes struct {
	mode     keys.MouseMode
	encoding keys.MouseEncoding
}

// widthModes are the modes for 132 columns: 40, DECCOLM and DECNCSM.
type widthModes struct{ allowed, wide, keeps bool }

// reportedModes have no effect except in reports.
type reportedModes struct{ smooth, formFeed, printExtent, hebrew bool }

// Conformance levels: a VT420 by default, a VT520 on request.
const (
	defaultLevel = 4
	maxLevel     = 5
)

// Options of XTCHECKSUM for DECRQCRA.
const (
	checksumPositive = 1 << iota
	checksumPlain    // characters without attributes
	checksumBlanks   // all blanks
	_
	checksumWide // whole code points, all of a cell
	checksumAll  = 1<<iota - 1
)

// reset sets all modes as RIS does.
func (m *modeSet) reset() {
	*m = modeSet{
		autowrap: true, cursor: cursorModes{on: true, blink: true}, altScroll: true, localOff: true,
		level: defaultLevel, keys: keyModes{metaEsc: true},
	}
}

// privateFlag returns the variable of a DEC private mode that is a plain flag, or nil.
func (m *modeSet) privateFlag(n int) *bool {
	switch n {
	case 1:
		return &m.keys.appCursor
	case 5:
		return &m.reverse
	case 7:
		return &m.autowrap
	case 12:
		return &m.cursor.blink
	case 25:
		return &m.cursor.on
	case 45:
		return &m.reverseWrap
	case 66:
		return &m.keys.appKeypad
	case 67:
		return &m.keys.backarrow
	case 69:
		if m.level < 4 {
			return nil
		}
		return &m.leftRight
	case 80:
		return &m.sixelDisplay
	case 1004:
		return &m.focus
	case 1007:
		return &m.altScroll
	case 1036:
		return &m.keys.metaEsc
	case 1045:
		return &m.reverseAll
	case 1039:
		return &m.keys.altEsc
	case 2004:
		return &m.paste
	case 2026:
		return &m.sync
	case 2027:
		return &m.clusters
	case 2031:
		return &m.reportsScheme
	case 2048:
		return &m.reportsSize
	case 8452:
		return &m.sixelRight
	}
	return m.legacyFlag(n)
}

// legacyFlag returns modes used only by programs for real DEC terminals.
func (m *modeSet) legacyFlag(n int) *bool {
	switch n {
	case 4:
		return &m.reported.smooth
	case 18:
		return &m.reported.formFeed
	case 19:
		return &m.reported.printExtent
	case 35:
		return &m.reported.hebrew
	case 40:
		return &m.width.allowed
	case 41:
		return &m.moreFix
	case 42:
		return &m.national
	case 95:
		if m.level >= 5 {
			return &m.width.keeps
		}
	}
	return nil
}

// ansiFlag returns the variable of a mode of SM and RM, or nil.
func (m *modeSet) ansiFlag(n int) *bool {
	switch n {
	case 2:
		return &m.keys.lock
	case 4:
		return &m.insert
	case 12:
		return &m.localOff
	case 20:
		return &m.newline
	}
	return nil
}

// mouseMode returns the mouse mode for a DEC mode number.
func mouseMode(n int) keys.MouseMode {
	switch n {
	case 9:
		return keys.MousePress
	case 1000:
		return keys.MouseClick
	case 1002:
		return keys.MouseDrag
	case 1003:
		return keys.MouseMotion
	}
	return keys.MouseOff
}

// mouseEncoding returns the mouse encoding for a DEC mode number.
func mouseEncoding(n int) keys.MouseEncoding {
	switch n {
	case 1005:
		return keys.MouseUTF8
	case 1006:
		return keys.MouseSGR
	case 1015:
		return keys.MouseURXVT
	case 1016:
		return keys.MouseSGRPixels
	}
	return keys.MouseX10
}

// setModes implements SM, RM, DECSET and DECRST.
func (t *interpreter) setModes(private, on bool) {
	for i := range max(t.host.ps.n, 1) {
		n := t.host.param(i, 0)
		if private {
			t.setPrivateMode(n, on)
		} else if f := t.page.mode.ansiFlag(n); f != nil {
			*f = on
		}
	}
}

// setPrivateMode sets or resets one DEC private mode.
func (t *interpreter) setPrivateMode(n int, on bool) {
	if f := t.page.mode.privateFlag(n); f != nil {
		*f = on
	}
	switch n {
	case 3:
		t.setColumns(on)
	case 6:
		t.page.cur.origin = on
		t.page.moveToOrigin(0, 0)
	case 7:
		t.page.cur.pending = t.page.cur.pending && on
	case 47, 1047, 1049:
		t.page.setAlt(n, on)
	case 69:
		if t.page.mode.level >= 4 {
			if on {
				t.page.setAllSingleSize()
			} else {
				t.page.region.Left, t.page.region.Right = 0, t.store.cols-1
			}
		}
	case 1048:
		if on {
			t.page.saveCursor()
		} else {
			t.page.restoreCursor()
		}
	case 9, 1000, 1002, 1003:
		t.page.mode.mouse.mode = keys.MouseOff
		if on {
			t.page.mode.mouse.mode = mouseMode(n)
		}
	case 1005, 1006, 1015, 1016:
		t.page.mode.mouse.encoding = keys.MouseX10
		if on {
			t.page.mode.mouse.encoding = mouseEncoding(n)
		}
	case 2026:
		t.host.syncAt = time.Now()
	case 2048:
		t.host.reportSize()
	}
}

// privateMode returns the state of a DEC private mode for DECRQM and XTSAVE.
func (t *interpreter) privateMode(n int) (on, known bool) {
	if f := t.page.mode.privateFlag(n); f != nil {
		return *f, true
	}
	switch n {
	case 3:
		return t.page.mode.width.wide, true
	case 6:
		return t.page.cur.origin, true
	case 47, 1047, 1049:
		return t.store.scr == t.store.alt, true
	case 1048:
		return true, true
	case 9, 1000, 1002, 1003:
		return t.page.mode.mouse.mode == mouseMode(n), true
	case 1005, 1006, 1015, 1016:
		return t.page.mode.mouse.encoding == mouseEncoding(n), true
	}
	return false, false
}

// setColumns implements DECCOLM if mode 40 allows it, except the change of width, which belongs to
// the viewer.
func (t *interpreter) setColumns(on bool) {
	m := &t.page.mode
	if !m.width.allowed {
		return
	}
	m.width.wide = on
	t.page.region = grid.Rect{Right: t.store.cols - 1, Bottom: t.store.rows - 1}
	m.leftRight = false
	if !m.width.keeps || m.level < 5 {
		t.page.moveTo(0, 0)
		t.page.eraseRows(0, t.store.rows-1)
	}
}

// saveModes implements XTSAVE. It keeps only known modes, so the map is bounded.
func (t *interpreter) saveModes() {
	for i := range t.host.ps.n {
		n := t.host.param(i, 0)
		if on, known := t.privateMode(n); known {
			if t.savedDEC == nil {
				t.savedDEC = map[int]bool{}
			}
			t.savedDEC[n] = on
		}
	}
}

// restoreModes implements XTRESTORE.
func (t *interpreter) restoreModes() {
	for i := range t.host.ps.n {
		n := t.host.param(i, 0)
		if on, ok := t.savedDEC[n]; ok {
			t.setPrivateMode(n, on)
		}
	}
}

// softReset implements DECSTR (DEC STD 070, and xterm's VTReset).
func (t *interpreter) softReset() {
	m := &t.page.mode
	m.cursor.on, m.insert, m.autowrap = true, false, true
	m.keys.appCursor, m.keys.appKeypad, m.leftRight, m.keys.lock = false, false, false, false
	m.reverseWrap, m.reverseAll = false, false
	m.rectExtent, m.guarded = 0, false
	t.page.region = grid.Rect{Right: t.store.cols - 1, Bottom: t.store.rows - 1}
	x, y := t.page.cur.x, t.page.cur.y
	t.page.cur = cursor{x: x, y: y}
	t.store.scr.saved = cursor{}
	t.store.scr.kitty = kittyStack{}
	m.keys.modifyOther = 0
	t.page.penChanged = true
}

// hardReset implements RIS. The scrollback stays.
func (t *interpreter) hardReset() {
	t.store.alt = nil
	t.page.showScreen(t.store.main)
	t.page.cur = cursor{}
	t.softReset()
	moreFix := t.page.mode.moreFix
	t.page.mode.reset()
	t.page.mode.moreFix = moreFix // as in xterm
	t.page.tabs = defaultTabs(nil, t.store.cols)
	t.host.titles, t.savedDEC, t.host.savedStyles, t.host.started = nil, nil, nil, nil
	t.host.colors.Reset()
	t.host.notice, t.host.remoteHost = notice.Parts{}, ""
	t.page.eraseRows(0, t.store.rows-1)
	t.store.pictures.Forget()
	t.writer.last = grid.Cell{}
	t.host.setTitle("")
}
