package terminal

import (
	"strings"

	"tandem/engine/screen/styled"
)

// reverseScreen converts the lines of a screen to reverse video (DECSCNM): the default colours are
// swapped, other colours stay. first is the first line of the screen. cols is its width, because
// the blanks after a line are reversed as well.
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
			runs = append(runs, styled.Run{Style: styled.Style{Rendition: styled.Rendition{Attrs: styled.Reverse}}, Text: strings.Repeat(" ", left), Cells: left})
		}
		l.Runs = runs
	}
}
