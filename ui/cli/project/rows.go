package project

import (
	"fmt"
	"os"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/ui/cli/output"

	"charm.land/bubbles/v2/spinner"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

// progressRows are the last lines on the terminal: the entries still waited for.
type progressRows struct {
	out    output.Printer
	on     *os.File // nil draws nothing
	height int
}

// clear erases the rows, so that permanent lines can be printed.
func (r *progressRows) clear() {
	if r.height > 0 {
		_ = r.out.Print(fmt.Sprintf("\x1b[%dA\x1b[J", r.height)) // the next print reports the error
		r.height = 0
	}
}

// draw draws a row for each unfinished step, as many as fit.
func (r *progressRows) draw(steps []*step, began time.Time) {
	if r.on == nil {
		return
	}
	cols, height, err := term.GetSize(r.on.Fd())
	if err != nil || cols < 1 || height < 1 {
		cols, height = 80, 24
	}
	frames := spinner.MiniDot.Frames
	sign := frames[int(time.Since(began)/frameTime)%len(frames)]
	var lines []string
	for _, s := range steps {
		if !s.finished {
			lines = append(lines, fmt.Sprintf("%s %s  %s  %s", sign, output.Visible(s.entry.Name), progressText(s.process), units.Age(time.Since(began))))
		}
	}
	if most := max(height-2, 1); len(lines) > most {
		hidden := len(lines) - most
		lines = append(lines[:most], fmt.Sprintf("  and %d more", hidden))
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(ansi.Truncate(line, cols-1, "…") + "\n")
	}
	if r.out.Print(b.String()) == nil {
		r.height = len(lines)
	}
}

func progressText(p api.Process) string {
	if p.State == api.StateRunning {
		return "not ready yet"
	}
	return output.StateText(p)
}
