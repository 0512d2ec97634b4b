package processes

import (
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/panes/widget"
)

// ChartRows is how many rows the charts of a process take.
const ChartRows = 6

const (
	// chartSamples is how many values the engine remembers: one a second.
	chartSamples = 60
	// chartLeast is the least width of a chart beside another.
	chartLeast = 30
	chartGap   = 3
)

// A chart is how a value went, as bars.
type chart struct {
	name, now string
	values    []float64 // oldest first, one a second
	least     float64   // the top of the scale is never less
	label     func(float64) string
}

// DrawCharts draws how much processor and memory a process used lately, and
// below it when it ran: h rows of w cells. Where there is no room for both
// charts, it is the processor.
func DrawCharts(p *api.Process, w, h int, now time.Time, look *widget.Look) []string {
	if h < 2 {
		return framed([]string{drawTimeline(p, w-2, now, look)}[:max(h, 0)])
	}
	rows := drawUse(p, w, h-1, look)
	return append(rows, framed([]string{drawTimeline(p, w-2, now, look)})...)
}

// drawUse draws the charts.
func drawUse(p *api.Process, w, h int, look *widget.Look) []string {
	cpu := chart{name: "cpu", least: 25, label: chartPercent}
	mem := chart{name: "memory", least: 1 << 20, label: func(v float64) string { return widget.Bytes(int64(v)) }}
	if m := p.Metrics; m != nil && p.PID != 0 {
		cpu.now, mem.now = chartPercent(m.CPUPercent), widget.Bytes(m.RSSBytes)
		cpu.values = append(append(cpu.values, m.CPUHistory...), m.CPUPercent)
		for _, rss := range m.RSSHistory {
			mem.values = append(mem.values, float64(rss))
		}
		mem.values = append(mem.values, float64(m.RSSBytes))
	}
	if w < 2*chartLeast+chartGap+2 {
		return framed(cpu.draw(w-2, h, look.Accent, look))
	}
	left := (w - 2 - chartGap) / 2
	rows := cpu.draw(left, h, look.Accent, look)
	for i, row := range mem.draw(w-2-chartGap-left, h, look.Info, look) {
		rows[i] += widget.Spaces(chartGap) + row
	}
	return framed(rows)
}

// framed leaves a cell free on both sides.
func framed(rows []string) []string {
	for i := range rows {
		rows[i] = " " + rows[i] + " "
	}
	return rows
}

func chartPercent(v float64) string {
	return cpuText(&api.Process{PID: 1, Metrics: &api.Metrics{CPUPercent: v}}) + "%"
}

// draw gives a row that names the chart, and below it bars: the newest value is
// on the right.
func (c *chart) draw(w, h int, ink widget.Ink, look *widget.Look) []string {
	if w <= 0 || h <= 0 {
		return make([]string, max(h, 0))
	}
	wide := max(w/chartSamples, 1)
	values := c.values[max(len(c.values)-w/wide, 0):]
	top := c.least
	for _, v := range values {
		top = max(top, v)
	}
	rows := []string{c.head(w, top, look)}
	levels := chartLevels(look)
	for row := h - 2; row >= 0; row-- {
		var b strings.Builder
		for _, v := range values {
			full := v / top * float64((h-1)*(len(levels)-1)) // in steps of a level
			n := int(full+0.5) - row*(len(levels)-1)
			if row == 0 {
				n = max(n, 1) // what was measured leaves a line
			}
			b.WriteString(strings.Repeat(levels[max(min(n, len(levels)-1), 0)], wide))
		}
		rows = append(rows, widget.Spaces(w-wide*len(values))+ink.Text(b.String()))
	}
	return rows
}

// head names a chart, its present value and the top of its scale.
func (c *chart) head(w int, top float64, look *widget.Look) string {
	name := widget.Clip(c.name+" ", w)
	now := widget.Clip(c.now, w-widget.Width(name))
	scale := widget.Clip("top "+c.label(top), max(w-widget.Width(name)-widget.Width(now)-1, 0))
	gap := w - widget.Width(name) - widget.Width(now) - widget.Width(scale)
	return look.Dim.Text(name) + look.Strong.Text(now) + widget.Spaces(gap) + look.Faint.Text(scale)
}

// fine reports whether the terminal has more signs than ASCII's.
func fine(look *widget.Look) bool { return look.Glyphs.Levels[4] == "▇" }

// chartLevels are the fillings of a cell from empty to full.
func chartLevels(look *widget.Look) []string {
	if fine(look) {
		return []string{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}
	}
	return []string{" ", ".", ":", "#"}
}
