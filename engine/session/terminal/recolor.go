package terminal

import (
	"strings"

	"tandem/engine/screen/styled"
)

// recolor applies the colour changes of a program (OSC 4, 10, 11) to lines. If changes is nil, it
// does nothing. The palette of the viewer's terminal is left alone, because the terminal also shows
// other programs. If the background has changed, lines are padded to cols columns with it.
func recolor(lines []styled.NumberedLine, cols int, changes *styled.ColorChanges) {
	if changes == nil {
		return
	}
	for i := range lines {
		l := &lines[i].Line
		left := cols
		if l.Size != styled.SingleSize {
			left /= 2
		}
		runs := make([]styled.Run, 0, len(l.Runs)+1)
		for _, r := range l.Runs {
			left -= r.Cells
			r.Style = recolorStyle(r.Style, changes)
			runs = append(runs, r)
		}
		if left > 0 && changes.Background != 0 {
			runs = append(runs, styled.Run{Style: styled.Style{Rendition: styled.Rendition{BG: changes.Background}}, Text: strings.Repeat(" ", left), Cells: left})
		}
		l.Runs = runs
	}
}

func recolorStyle(s styled.Style, to *styled.ColorChanges) styled.Style {
	indexed := func(c styled.Color) styled.Color {
		if c&styled.ColorIndexed != 0 && c&styled.ColorRGB == 0 {
			if other, ok := to.Indexed[int(c&0xFF)]; ok {
				return other
			}
		}
		return c
	}
	s.FG, s.BG, s.UL = indexed(s.FG), indexed(s.BG), indexed(s.UL)
	if s.FG == 0 {
		s.FG = to.Foreground
	}
	if s.BG == 0 {
		s.BG = to.Background
	}
	return s
}
