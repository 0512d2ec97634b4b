package project

import (
	"fmt"
	"os"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/units"
	"tandem/ui/cli/output"

	"charm.land/bubbles/v2/spinner"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

// rows are the last lines on a terminal: what has not come far enough yet.
type rows struct {
	out   output.Printer
	on    *os.File // nil draws nothing
	drawn int
	frame int
}

// clear takes the rows away, so that lines can be printed for good.
func (r *rows) clear() {
	if r.drawn > 0 {
		_ = r.out.Print(fmt.Sprintf("\x1b[%dA\x1b[J", r.drawn)) // the next line says so
		r.drawn = 0
	}
}

// draw draws a row for each step that is not over, as many as there is room for.
func (r *rows) draw(steps []*step, began time.Time) {
	if r.on == nil {
		return
	}
	cols, height, err := term.GetSize(r.on.Fd())
	if err != nil || cols < 1 || height < 1 {
		cols, height = 80, 24
	}
	frames := spinner.MiniDot.Frames
	sign := frames[r.frame%len(frames)]
	r.frame++
	var lines []string
	for _, s := range steps {
		if !s.over {
			lines = append(lines, fmt.Sprintf("%s %s  %s  %s", sign, output.Visible(s.entry.Name), doing(s.process), units.Age(time.Since(began))))
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
		r.drawn = len(lines)
	}
}

// doing says how far a process has come that is watched still.
func doing(p api.Process) string {
	if p.State == api.StateRunning {
		return "not ready yet"
	}
	return output.StateText(p)
}
