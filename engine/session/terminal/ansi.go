package terminal

import (
	"strings"

	"tandem/engine/api"
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt"
)

// A shownText is a screen as it is read as text.
type shownText interface {
	Size() (cols, rows int)
	Bounds() (oldest, first, end int64)
	Lines(from int64, n int) []styled.NumberedLine
	Cursor() styled.Cursor
	Modes() vt.Modes
	Title() string
}

// ScreenOf returns the terminal's screen as text. scrollback is the number of lines of its history
// to put in front.
func ScreenOf(t shownText, ansi bool, scrollback int) api.Screen {
	cols, rows := t.Size()
	oldest, first, end := t.Bounds()
	from := max(oldest, first-int64(max(scrollback, 0)))
	screen := api.Screen{
		Cols:      cols,
		Rows:      rows,
		Lines:     []string{},
		Cursor:    t.Cursor(),
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

// A lineText is the text of a terminal. For each row, it knows how many cells a program has
// printed.
type lineText interface {
	rowText
	PrintedCells(n int64) int
}

// lineEnds reports how each of the last n lines of a terminal ends.
func lineEnds(t lineText, n int) []api.LineEnd {
	_, _, end := t.Bounds()
	ends := make([]api.LineEnd, n)
	var text []byte
	for i := range ends {
		at := end - int64(n-i)
		text, ends[i].Wrapped, _ = t.AppendText(text[:0], at)
		ends[i].Printed = t.PrintedCells(at)
	}
	return ends
}

func plainText(l styled.Line) string {
	var b strings.Builder
	for _, r := range l.Runs {
		b.WriteString(r.Text)
	}
	return strings.TrimRight(b.String(), " ")
}

// ansiText returns a line with its styles as SGR sequences. Each line starts and ends with the
// default style. Trailing blanks are kept if their style is visible.
func ansiText(l styled.Line) string {
	runs := l.Runs
	for len(runs) > 0 && invisible(runs[len(runs)-1]) {
		runs = runs[:len(runs)-1]
	}
	var b strings.Builder
	var now styled.Style
	for i, r := range runs {
		r.Style.Link = ""
		if r.Style != now {
			b.WriteString("\x1b[" + string(styled.AppendSGR(nil, r.Style)) + "m")
			now = r.Style
		}
		if i == len(runs)-1 && isBlank(r.Style) {
			r.Text = strings.TrimRight(r.Text, " ")
		}
		b.WriteString(r.Text)
	}
	if now != (styled.Style{}) {
		b.WriteString("\x1b[0m")
	}
	return b.String()
}

func invisible(r styled.Run) bool {
	return isBlank(r.Style) && strings.Trim(r.Text, " ") == ""
}

// isBlank reports whether a space in this style cannot be seen.
func isBlank(s styled.Style) bool {
	return s.BG == 0 && s.Underline == 0 && s.Attrs&(styled.Reverse|styled.Strike|styled.Overline) == 0
}
