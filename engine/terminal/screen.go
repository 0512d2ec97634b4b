package terminal

import (
	"strconv"
	"strings"

	"tandem/engine/api"
	"tandem/engine/vt"
)

// ScreenOf writes out what a terminal shows, after up to scrollback lines of
// its history.
func ScreenOf(t Emulator, ansi bool, scrollback int) api.Screen {
	cols, rows := t.Size()
	oldest, first, end := t.Bounds()
	from := max(oldest, first-int64(max(scrollback, 0)))
	screen := api.Screen{
		Cols:      cols,
		Rows:      rows,
		Lines:     []string{},
		Cursor:    newCursor(t.Cursor()),
		Title:     t.Title(),
		AltScreen: t.Modes().Alt,
	}
	for _, l := range t.Lines(from, int(end-from)) {
		if ansi {
			screen.Lines = append(screen.Lines, ansiText(l.Line))
		} else {
			screen.Lines = append(screen.Lines, plainText(l.Line))
		}
	}
	return screen
}

func plainText(l vt.Line) string {
	var b strings.Builder
	for _, r := range l.Runs {
		b.WriteString(r.Text)
	}
	return strings.TrimRight(b.String(), " ")
}

// ansiText is a line with SGR sequences; each line starts and ends with the
// default style. Blanks at the end stay where their style can be seen.
func ansiText(l vt.Line) string {
	runs := l.Runs
	for len(runs) > 0 && invisible(runs[len(runs)-1]) {
		runs = runs[:len(runs)-1]
	}
	var b strings.Builder
	var now vt.Style
	for i, r := range runs {
		r.Style.Link = ""
		if r.Style != now {
			writeSGR(&b, r.Style)
			now = r.Style
		}
		if i == len(runs)-1 && blank(r.Style) {
			r.Text = strings.TrimRight(r.Text, " ")
		}
		b.WriteString(r.Text)
	}
	if now != (vt.Style{}) {
		b.WriteString("\x1b[0m")
	}
	return b.String()
}

func invisible(r vt.Run) bool {
	return blank(r.Style) && strings.Trim(r.Text, " ") == ""
}

// blank reports whether a space in this style cannot be seen.
func blank(s vt.Style) bool {
	return s.BG == 0 && s.Underline == 0 && s.Attrs&(vt.Reverse|vt.Strike|vt.Overline) == 0
}

// sgrAttrs are the SGR parameters of the attributes, by bit.
var sgrAttrs = [...]string{";1", ";2", ";3", ";5", ";7", ";8", ";9", ";53"}

// writeSGR writes the sequence that sets exactly this style (ECMA-48 8.3.117,
// with the underline forms of kitty and the colours of ISO 8613-6).
func writeSGR(b *strings.Builder, s vt.Style) {
	b.WriteString("\x1b[0")
	for i, parameter := range sgrAttrs {
		if s.Attrs&(1<<i) != 0 {
			b.WriteString(parameter)
		}
	}
	switch s.Underline {
	case vt.Underline(api.UnderlineNone):
	case vt.Underline(api.UnderlineSingle):
		b.WriteString(";4")
	default:
		b.WriteString(";4:" + strconv.Itoa(int(s.Underline)))
	}
	writeColor(b, "3", s.FG)
	writeColor(b, "4", s.BG)
	writeColor(b, "5", s.UL)
	b.WriteByte('m')
}

// writeColor writes a colour; ground is 3, 4 or 5 for text, background or
// underline.
func writeColor(b *strings.Builder, ground string, c vt.Color) {
	value := int(c & 0xffffff)
	switch {
	case c&vt.ColorRGB != 0:
		b.WriteString(";" + ground + "8;2;" + strconv.Itoa(value>>16) + ";" +
			strconv.Itoa(value>>8&0xff) + ";" + strconv.Itoa(value&0xff))
	case c&vt.ColorIndexed == 0:
	case value < 8 && ground != "5":
		b.WriteString(";" + ground + strconv.Itoa(value))
	case value < 16 && ground == "3":
		b.WriteString(";9" + strconv.Itoa(value-8))
	case value < 16 && ground == "4":
		b.WriteString(";10" + strconv.Itoa(value-8))
	default:
		b.WriteString(";" + ground + "8;5;" + strconv.Itoa(value))
	}
}
