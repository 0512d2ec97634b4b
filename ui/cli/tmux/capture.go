package tmux

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/ui/cli/tmux/server"
)

// allLines is more than the scrollback of any session.
const allLines = 1 << 20

// capture returns the screen of a pane with its scrollback before it.
func (c *call) capture(p *server.Pane, ansi bool) (api.Screen, error) {
	return ask(c, api.SessionScreen, api.SessionScreenInput{ID: p.Terminal, ANSI: ansi, Scrollback: allLines, Ends: true})
}

// capturePane implements capture-pane.
func capturePane(c *call, cmd *command, at server.Target) error {
	screen, err := c.capture(at.Pane, cmd.has('e'))
	if err != nil {
		return err
	}
	if cmd.has('a') && !screen.AltScreen {
		if cmd.has('q') {
			return nil
		}
		return errors.New("no alternate screen")
	}
	if cmd.has('a') {
		return errors.New("capture-pane -a of a full-screen program is not supported by tandem")
	}
	text := captured(cmd, screen)
	if cmd.has('p') {
		fmt.Fprint(c.out, text)
		return nil
	}
	keepBuffer(c, cmd.value('b'), []byte(text))
	return nil
}

// captured returns the text of the requested lines.
func captured(cmd *command, screen api.Screen) string {
	history := max(len(screen.Lines)-screen.Rows, 0)
	top := place(cmd, 'S', history, 0, -history)
	bottom := place(cmd, 'E', history, screen.Rows-1, screen.Rows-1)
	if bottom < top {
		top, bottom = bottom, top
	}
	var b strings.Builder
	for n := history + top; n <= history+bottom && n < len(screen.Lines); n++ {
		line, end := screen.Lines[n], api.LineEnd{}
		if n < len(screen.Ends) {
			end = screen.Ends[n]
		}
		if cmd.has('N') || cmd.has('J') {
			line += strings.Repeat(" ", max(end.Printed-ansi.StringWidth(line), 0))
		}
		if cmd.has('C') {
			line = octal(line)
		}
		b.WriteString(line)
		if !cmd.has('J') || !end.Wrapped {
			b.WriteByte('\n')
		}
	}
	text := b.String()
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

// place reads a line number: from 0 at the top of the screen, below that in the history.
func place(cmd *command, flag byte, history, otherwise, end int) int {
	value := cmd.value(flag)
	if value == "-" {
		return end
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return otherwise
	}
	return max(n, -history)
}

// octal writes control characters and backslashes as \ooo.
func octal(line string) string {
	var b strings.Builder
	for i := range len(line) {
		if c := line[i]; c < ' ' || c == '\\' {
			fmt.Fprintf(&b, "\\%03o", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
