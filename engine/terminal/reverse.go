package terminal

import (
	"strings"

	"tandem/engine/styled"
)

// reverseScreen shows lines of a screen as a terminal in reverse video does (DECSCNM):
// the default colours change places, others stay. first is the screen's first line, and
// cols its width: what is blank behind a line has to be drawn.
func reverseScreen(lines []styled.NumberedLine, first int64, cols int) {
	for i := range lines {
		l := &lines[i].Line
		if lines[i].N < first {
			continue
		}
		left := cols
		if l.Size != styled.SingleSize {
			left /= 2
		}
		runs := make([]styled.Run, 0, len(l.Runs)+1)
		for _, r := range l.Runs {
			left -= r.Cells
			r.Style.FG, r.Style.BG = r.Style.BG, r.Style.FG
			r.Style.Attrs ^= styled.Reverse
			runs = append(runs, r)
		}
		if left > 0 {
			runs = append(runs, styled.Run{Style: styled.Style{Attrs: styled.Reverse}, Text: strings.Repeat(" ", left), Cells: left})
		}
		l.Runs = runs
	}
}
