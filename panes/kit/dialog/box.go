package dialog

import (
	"strings"

	"tandem/panes/kit/look"
)

// DrawBox draws a frame around an overlay's rows. It returns the framed rows and their
// position, a little above the middle of the screen.
func DrawBox(rows []string, w int, screen look.Rect, style *look.Look) ([]string, look.Rect) {
	line := strings.Repeat("─", w+2)
	out := []string{style.Edge("╭"+line+"╮", true)}
	side := style.Edge("│", true)
	for _, r := range rows {
		out = append(out, side+" "+r+" "+side)
	}
	out = append(out, style.Edge("╰"+line+"╯", true))
	at := look.Rect{W: w + 4, H: len(out)}
	at.X = (screen.W - at.W) / 2
	at.Y = max((screen.H-at.H)*2/5, 0)
	return out, at
}
