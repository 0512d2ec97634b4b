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

func (c bufferCommands) capturePane(cmd *command, at server.Target) error {
	screen, err := c.engine.readScreen(at.Pane, cmd.has('e'))
	if err != nil {
		return err
	}
	text := selectLines(cmd, screen)
	if cmd.has('p') {
		fmt.Fprint(c.print.out, text)
		return nil
	}
	if process := c.engine.knownProcesses()[at.Pane.Terminal]; process.IsPrivate() {
		return errPrivate
	}
	c.store(cmd.value('b'), []byte(text))
	return nil
}

// errPrivate is the error for what would put something of a private session into the state file.
var errPrivate = errors.New("the session is private, and tmux commands keep their panes and buffers in a file")

// selectLines returns the lines from -S to -E as text.
func selectLines(cmd *command, screen api.Screen) string {
	history := max(len(screen.Lines)-screen.Rows, 0)
	top := lineNumber(cmd, 'S', history, 0, -history)
	bottom := lineNumber(cmd, 'E', history, screen.Rows-1, screen.Rows-1)
	if bottom < top {
		top, bottom = bottom, top
	}
	var b strings.Builder
	for n := history + top; n <= history+bottom && n < len(screen.Lines); n++ {
		line, end := screen.Lines[n], api.LineEnd{}
		if n < len(screen.Ends) {
			end = screen.Ends[n]
		}
		// The screen comes without trailing spaces; restore the printed ones.
		if cmd.has('N') || cmd.has('J') {
			line += strings.Repeat(" ", max(end.Printed-ansi.StringWidth(line), 0))
		}
		b.WriteString(line)
		if !cmd.has('J') || !end.Wrapped {
			b.WriteByte('\n')
		}
	}
	// With -J, a wrapped last line has not been ended.
	text := b.String()
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

// lineNumber returns the line given by a flag. Line 0 is the top of the screen; negative lines are
// in the scrollback, down to -history. If the value is a lone -, it returns end; if it is not a
// number, fallback.
func lineNumber(cmd *command, flag byte, history, fallback, end int) int {
	value := cmd.value(flag)
	if value == "-" {
		return end
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return fallback
	}
	return max(n, -history)
}
