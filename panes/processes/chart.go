package processes

import (
	"math"
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/units"
	"tandem/panes/widget"
)

// ChartRows is how many rows the charts of a process take.
const ChartRows = 6

const (
	// chartLeast is the least width of a chart beside another.
	chartLeast = 30
	chartGap   = 3
	// plotLeast is the least width of a chart that has room for its scale.
	plotLeast = 12
)

// A chart is how a value went, the newest on the right.
type chart struct {
	name     string
	measured bool // whether now and past are known
	now      float64
	past     past
	line     bool                       // in place of an area
	top      func(peak float64) float64 // of the scale
	label    func(float64) string
	ink      func(float64) widget.Ink // of a value
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
	cpu := chart{name: "cpu", top: cpuTop, label: chartPercent, ink: func(v float64) widget.Ink { return cpuInk(v, look) }}
	mem := chart{name: "memory", line: true, top: memoryTop, label: func(v float64) string { return units.Bytes(int64(v)) },
		ink: func(float64) widget.Ink { return look.Info }}
	if m := p.Metrics; m != nil && p.PID != 0 {
		cpu.measured, mem.measured = true, true
		cpu.now, cpu.past = m.CPUPercent, cpuPast(m)
		mem.now, mem.past = float64(m.RSSBytes), memoryPast(m)
	}
	if w < 2*chartLeast+chartGap+2 {
		return framed(cpu.draw(w-2, h, look))
	}
	left := (w - 2 - chartGap) / 2
	rows := cpu.draw(left, h, look)
	for i, row := range mem.draw(w-2-chartGap-left, h, look) {
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

// cpuInk says how near a use is to a whole core, beyond which many programs cannot
// go.
func cpuInk(v float64, look *widget.Look) widget.Ink {
	switch {
	case v >= 90:
		return look.Bad
	case v >= 50:
		return look.Warn
	}
	return look.Accent
}

// cpuTop is the top of a scale of percentages: never less than a quarter of a core,
// so that idling looks idle.
func cpuTop(peak float64) float64 {
	top := 25.0
	for top < peak {
		top *= 2
	}
	return top
}

// memoryTop is the top of a scale of bytes: 1, 1.5, 2, 3, 4, 6 … MiB.
func memoryTop(peak float64) float64 {
	top := float64(1 << 20)
	for top < peak {
		if top*1.5 >= peak {
			return top * 1.5
		}
		top *= 2
	}
	return top
}

// peak is the largest value, the present one included.
func (c *chart) peak() float64 {
	top := c.now
	for _, v := range c.past.values {
		top = max(top, v)
	}
	return top
}

// window is how much time a chart shows: what it knows, as a round time.
func (c *chart) window() time.Duration {
	for _, m := range []time.Duration{1, 2, 5} {
		if c.past.length() <= m*time.Minute {
			return m * time.Minute
		}
	}
	return 10 * time.Minute
}

// draw gives a row that names the chart, and below it the plot with its scale on
// the left.
func (c *chart) draw(w, h int, look *widget.Look) []string {
	if w <= 0 || h <= 0 {
		return make([]string, max(h, 0))
	}
	top := c.top(c.peak())
	rows := []string{c.head(w, look)}
	most := strings.Replace(c.label(top), ".0", "", 1)
	scale := max(widget.Width(most), 2) + 1
	if w < scale+plotLeast || h < 2 {
		scale = 0
	}
	for i, row := range c.plot(w-scale, h-1, top, look) {
		label := ""
		switch i {
		case 0:
			label = most
		case h - 2:
			label = "0"
		}
		if scale > 0 {
			row = look.Faint.Text(widget.PadLeft(label, scale-1)+" ") + row
		}
		rows = append(rows, row)
	}
	return rows
}

// head names a chart, its present value, the peak and how much time it shows.
func (c *chart) head(w int, look *widget.Look) string {
	name := widget.Clip(c.name+" ", w)
	now, peak, since := "", "", ""
	if c.measured {
		now, peak, since = c.label(c.now), "  peak "+c.label(c.peak()), "last "+units.Age(c.window())
	}
	now = widget.Clip(now, w-widget.Width(name))
	left := w - widget.Width(name) - widget.Width(now)
	if widget.Width(peak) > left {
		peak = ""
	}
	left -= widget.Width(peak)
	if widget.Width(since) >= left {
		since = ""
	}
	gap := widget.Spaces(left - widget.Width(since))
	return look.Dim.Text(name) + look.Strong.Text(now) + look.Dim.Text(peak) + gap + look.Faint.Text(since)
}

// plot draws the values in h rows of w cells, each in the colour of its value.
func (c *chart) plot(w, h int, top float64, look *widget.Look) []string {
	across, up := 2, 4 // dots of a cell
	if !fine(look) {
		across, up = 1, 3
	}
	values := c.past.in(c.window(), w*across)
	dots := c.dots(values, h*up, top)
	rows := make([]string, h)
	for i := range rows {
		rows[i] = c.row(values, dots, (h-1-i)*up, up, across)
	}
	return rows
}

// row draws the row of a plot whose lowest dot is base.
func (c *chart) row(values []float64, dots []stroke, base, up, across int) string {
	var row, run strings.Builder
	var ink widget.Ink
	for x := 0; x < len(values); x += across {
		if next := c.ink(slices.Max(values[x : x+across])); next != ink {
			row.WriteString(ink.Text(run.String()))
			run.Reset()
			ink = next
		}
		run.WriteString(cell(dots[x:x+across], base, up))
	}
	return row.String() + ink.Text(run.String())
}

// A stroke is which dots of a column are set, counted from below.
type stroke struct{ from, to int }

// dots are the strokes of values in columns of a number of dots. What was measured
// leaves one.
func (c *chart) dots(values []float64, height int, top float64) []stroke {
	strokes := make([]stroke, len(values))
	last := unknown
	for i, v := range values {
		if v < 0 {
			last = unknown
			continue
		}
		n := max(min(int(math.Ceil(v/top*float64(height))), height), 1)
		strokes[i] = stroke{0, n}
		if c.line {
			strokes[i].from = n - 1
			if last != unknown && last < n-1 {
				strokes[i].from = last
			}
			if last > n {
				strokes[i].to = last - 1
			}
		}
		last = n
	}
	return strokes
}

// cell draws the strokes of one cell, whose lowest dot is base: as a braille
// pattern if there are two.
func cell(strokes []stroke, base, up int) string {
	bits := [2][4]rune{{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}} // from below
	pattern, n, highest := rune(0), 0, 0
	for x, s := range strokes {
		for y := range up {
			if dot := base + y; dot >= s.from && dot < s.to {
				pattern |= bits[x][y]
				n++
				highest = y
			}
		}
	}
	switch {
	case n == 0:
		return " "
	case len(strokes) == 2:
		return string(0x2800 + pattern)
	case n == 1:
		return [3]string{".", "-", "'"}[highest]
	}
	return [4]string{" ", ".", ":", "#"}[n]
}

// fine reports whether the terminal has more signs than ASCII's.
func fine(look *widget.Look) bool { return look.Glyphs.Levels[4] == "▇" }
