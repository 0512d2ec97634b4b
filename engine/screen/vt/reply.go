package vt

import (
	"encoding/hex"
	"fmt"
	"image"
	"strconv"

	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt/graphics"
	"tandem/engine/screen/vt/terminfo"
)

// replyf sends a reply. For safety, args must be numbers or our own text, never the program's.
func (t *host) replyf(format string, args ...any) {
	if t.o.Reply != nil && !t.quiet {
		t.o.Reply(fmt.Appendf(nil, format, args...))
	}
}

// appendInts appends numbers separated by semicolons.
func appendInts(dst []byte, ns ...int) []byte {
	for i, n := range ns {
		if i > 0 {
			dst = append(dst, ';')
		}
		dst = strconv.AppendInt(dst, int64(n), 10)
	}
	return dst
}

// reportAttributes implements DA1, DA2 and DA3. The answers are xterm's: a VT420, or a VT520 at
// that conformance level; 4 stands for sixels, 52 for clipboard writes.
func (t *host) reportAttributes(prefix byte) {
	if t.param(0, 0) != 0 {
		return
	}
	service, model := 64, 41
	if t.page.mode.level == 5 {
		service, model = 65, 64
	}
	switch prefix {
	case 0:
		t.replyf("\x1b[?%d;1;2;4;6;9;15;16;17;18;21;22;28;29;52c", service)
	case '>':
		t.replyf("\x1b[>%d;354;0c", model)
	case '=':
		t.replyf("\x1bP!|00000000\x1b\\")
	}
}

// reportStatus implements DSR.
func (t *host) reportStatus(private bool) {
	x0, y0 := t.page.origin()
	x, y := t.page.cur.x-x0+1, t.page.cur.y-y0+1
	switch n := t.param(0, 0); {
	case n == 5 && !private:
		t.replyf("\x1b[0n")
	case n == 6 && !private:
		t.replyf("\x1b[%d;%dR", y, x)
	case n == 6 && t.page.mode.level < 4:
		t.replyf("\x1b[?%d;%dR", y, x)
	case n == 6:
		t.replyf("\x1b[?%d;%d;1R", y, x)
	case !private:
	case n == 15: // no printer
		t.replyf("\x1b[?13n")
	case n == 25: // user-defined keys are locked
		t.replyf("\x1b[?21n")
	case n == 26: // keyboard
		t.replyf("\x1b[?27;1;0;0n")
	case n == 53 || n == 55: // no locator
		t.replyf("\x1b[?50n")
	case n == 56:
		t.replyf("\x1b[?57;0n")
	case n == 62: // no room for macros
		t.replyf("\x1b[0*{")
	case n == 63: // checksum of no macros
		t.replyf("\x1bP%d!~0000\x1b\\", t.param(1, 0))
	case n == 75: // data integrity
		t.replyf("\x1b[?70n")
	case n == 85: // no sessions
		t.replyf("\x1b[?83n")
	case n == 996:
		t.reportScheme()
	}
}

// reportScheme reports a dark (1) or light (2) palette, as queried directly or by programs with
// mode 2031 set (contour's and kitty's colour scheme notifications).
func (t *host) reportScheme() {
	scheme := 1
	if t.colors.Light() {
		scheme = 2
	}
	t.replyf("\x1b[?997;%dn", scheme)
}

// SetColors sets the colours of the user's terminal, used to answer colour queries. The program's
// changes stay.
func (t *Terminal) SetColors(p styled.Palette) {
	if t.host.colors.SetOwn(p) && t.page.mode.reportsScheme {
		t.host.reportScheme()
	}
}

// SetCell sets the size in pixels of a cell on the user's terminal. It applies to reported sizes
// and to pictures printed from now on. An impossible size selects the default.
func (t *Terminal) SetCell(cell image.Point) {
	if cell.X < 2 || cell.Y < 4 || cell.X > graphics.MaxCell || cell.Y > graphics.MaxCell {
		cell = image.Pt(CellWidth, CellHeight)
	}
	if t.store.pictures.Cell != cell {
		t.store.pictures.Cell = cell
		t.host.reportSize()
	}
}

// reportSize sends the size to a program with mode 2048 set (in-band resize notifications).
func (t *host) reportSize() {
	if t.page.mode.reportsSize {
		t.replyf("\x1b[48;%d;%d;%d;%dt", t.store.rows, t.store.cols, t.store.rows*t.store.pictures.Cell.Y, t.store.cols*t.store.pictures.Cell.X)
	}
}

// reportGraphics implements XTSMGRAPHICS: the colours and the maximum size of a sixel picture.
// Neither can be changed, and there is no ReGIS.
func (t *host) reportGraphics() {
	switch n := t.param(0, 0); n {
	case 1:
		t.replyf("\x1b[?1;0;%dS", graphics.SixelColors)
	case 2:
		t.replyf("\x1b[?2;0;%d;%dS", graphics.MaxSide, graphics.MaxSide)
	case 3:
		t.replyf("\x1b[?3;3;0S")
	default:
		t.replyf("\x1b[?%d;1;0S", n)
	}
}

// reportParameters implements DECREQTPARM.
func (t *host) reportParameters() {
	if n := t.param(0, 0); n <= 1 {
		t.replyf("\x1b[%d;1;1;128;128;1;0x", n+2)
	}
}

// windowOperation implements the size reports and the title stack of XTWINOPS. It refuses to report
// a title: a program could make the terminal type it as input.
func (t *host) windowOperation() {
	switch t.param(0, 0) {
	case 11:
		t.replyf("\x1b[1t")
	case 14:
		t.replyf("\x1b[4;%d;%dt", t.store.rows*t.store.pictures.Cell.Y, t.store.cols*t.store.pictures.Cell.X)
	case 15:
		t.replyf("\x1b[5;%d;%dt", t.store.rows*t.store.pictures.Cell.Y, t.store.cols*t.store.pictures.Cell.X)
	case 16:
		t.replyf("\x1b[6;%d;%dt", t.store.pictures.Cell.Y, t.store.pictures.Cell.X)
	case 18:
		t.replyf("\x1b[8;%d;%dt", t.store.rows, t.store.cols)
	case 19:
		t.replyf("\x1b[9;%d;%dt", t.store.rows, t.store.cols)
	case 22:
		t.pushTitle()
	case 23:
		t.popTitle()
	}
}

// reportMode implements DECRQM: 1 set, 2 reset, 3 and 4 permanently so, 0 unknown.
func (t *interpreter) reportMode(private bool) {
	n := t.host.param(0, 0)
	switch {
	// Terminals below the VT300 do not know DECRQM.
	case t.page.mode.level < 3:
		return
	case !private:
		t.host.replyf("\x1b[%d;%d$y", n, t.page.mode.ansiReport(n))
		return
	}
	state := 0
	on, known := t.privateMode(n)
	switch {
	case n == 8 || n == 60: // DECARM, DECHCCM
		state = 4
	case known && on:
		state = 1
	case known:
		state = 2
	}
	t.host.replyf("\x1b[?%d;%d$y", n, state)
}

// ansiReport returns DECRQM's answer for a mode of ECMA-48. The unsupported ones named by xterm are
// permanently reset.
func (m *modeSet) ansiReport(n int) int {
	f := m.ansiFlag(n)
	switch {
	case f != nil && *f:
		return 1
	case f != nil:
		return 2
	case n == 1 || n == 5 || n == 7 || n == 10 || n == 11 || n >= 13 && n <= 19:
		return 4
	}
	return 0
}

// wantsDCS reports whether a device control string is supported.
func wantsDCS(prefix, inter, final byte) bool {
	return prefix == 0 && final == 'q' && (inter == '$' || inter == '+' || inter == 0)
}

// dispatchDCS executes DECSIXEL, DECRQSS and XTGETTCAP.
func (t *interpreter) dispatchDCS(b []byte) {
	switch t.host.ps.inter {
	case 0:
		t.store.pictures.HandleSixel(b, graphics.SixelMode{Display: t.page.mode.sixelDisplay, Right: t.page.mode.sixelRight, Transparent: t.host.param(1, 0) == 1})
		return
	case '+':
		t.host.reportTermcap(b)
		return
	}
	setting := t.host.settingParams(string(b))
	if setting == "" {
		t.host.replyf("\x1bP0$r\x1b\\")
		return
	}
	t.host.replyf("\x1bP1$r%s%s\x1b\\", setting, b)
}

// settingParams returns the parameters of a setting named by its final bytes (DECRQSS); "" if
// unknown.
func (t *host) settingParams(name string) string {
	r := &t.page.region
	switch name {
	case "m": // SGR
		return string(appendSetting(nil, t.page.cur.pen))
	case "r": // DECSTBM
		return string(appendInts(nil, r.Top+1, r.Bottom+1))
	case "s": // DECSLRM
		if t.page.mode.leftRight {
			return string(appendInts(nil, r.Left+1, r.Right+1))
		}
	case " q": // DECSCUSR
		return strconv.Itoa(t.cursorStyleNumber())
	case "\"q": // DECSCA
		if t.page.cur.pen.Attrs&attrProtected != 0 && !t.page.mode.guarded {
			return "1"
		}
		return "0"
	case "\"p": // DECSCL
		return strconv.Itoa(60+int(t.page.mode.level)) + ";1"
	case "t", "*|": // DECSLPP, DECSNLS
		return strconv.Itoa(t.store.rows)
	case "$|": // DECSCPP
		return strconv.Itoa(t.store.cols)
	case "*x": // DECSACE
		return strconv.Itoa(int(t.page.mode.rectExtent))
	case "$}", "$~": // DECSASD, DECSSDT: there is no status line
		return "0"
	}
	return ""
}

// appendSetting appends SGR parameters for p, with colours in colon form as reported by xterm.
func appendSetting(dst []byte, p pen) []byte {
	fg, bg := p.FG, p.BG
	p.FG, p.BG = 0, 0
	dst = appendSettingColor(styled.AppendSGR(dst, p.visibleStyle()), fg, 30)
	return appendSettingColor(dst, bg, 40)
}

func appendSettingColor(dst []byte, c styled.Color, base int) []byte {
	n := int(c & 0xFFFFFF)
	switch {
	case c == 0:
		return dst
	case c&styled.ColorRGB != 0:
		return fmt.Appendf(dst, ";%d:2::%d:%d:%d", base+8, n>>16, n>>8&255, n&255)
	case n >= 16:
		return fmt.Appendf(dst, ";%d:5:%d", base+8, n)
	case n >= 8:
		return fmt.Appendf(dst, ";%d", base+60+n-8)
	}
	return fmt.Appendf(dst, ";%d", base+n)
}

// cursorStyleNumber returns the parameter of DECSCUSR that selects the current cursor style.
func (t *host) cursorStyleNumber() int {
	n := 2*int(t.page.mode.cursor.shape) + 2
	if t.page.mode.cursor.blink {
		n--
	}
	return n
}

// reportTermcap implements XTGETTCAP: hex names separated by semicolons. The reply to an unknown
// name does not repeat it.
func (t *host) reportTermcap(b []byte) {
	for range 16 {
		var name []byte
		n := 0
		for n < len(b) && b[n] != ';' {
			n++
		}
		name, b = b[:n], b[min(n+1, len(b)):]
		text, err := hex.DecodeString(string(name))
		value, ok := terminfo.Value(string(text))
		if err != nil || !ok {
			t.replyf("\x1bP0+r\x1b\\")
		} else {
			t.replyf("\x1bP1+r%X=%X\x1b\\", text, value)
		}
		if len(b) == 0 {
			return
		}
	}
}
