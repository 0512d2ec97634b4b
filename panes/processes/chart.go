package processes

import (
	"math"
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

const (
	// chartRows is the height of the charts of a process.
	chartRows = 6
	// minChartWidth is for a chart beside another one.
	minChartWidth = 30
	chartGap      = 3
	// minPlotWidth is for a plot with a scale.
	minPlotWidth = 12
)

// A chart shows the history of a value, the newest on the right.
type chart struct {
	name    string
	known   bool // whether now and history are known
	now     float64
	history history
	line    bool                       // draws a line instead of an area
	top     func(peak float64) float64 // of the scale
	label   func(float64) string
	ink     func(float64) look.Ink // color of a value
}

// isMeasured reports whether the CPU and memory use of a process are known.
func isMeasured(p *api.Process) bool { return p.Metrics != nil && p.PID != 0 }

// chartsHeight returns the height of a process's charts. If nothing is measured, there is only the
// timeline.
func chartsHeight(p *api.Process) int {
	if isMeasured(p) {
		return chartRows
	}
	return 1
}

// drawCharts draws the recent CPU and memory use of a process and, below, the timeline of its runs,
// in h rows of w cells. If the two charts do not fit beside each other, it draws only the CPU.
func drawCharts(p *api.Process, w, h int, now time.Time, look *look.Look) []string {
	rows := append(drawUse(p, w-2, h-1, look), drawTimeline(p, w-2, now, look))
	for i := range rows {
		rows[i] = " " + rows[i] + " "
	}
	return rows
}

func drawUse(p *api.Process, w, h int, style *look.Look) []string {
	cpu := chart{name: "cpu", top: cpuTop, label: chartPercent, ink: func(v float64) look.Ink { return cpuInk(v, style) }}
	mem := chart{name: "memory", line: true, top: memoryTop, label: func(v float64) string { return units.Bytes(int64(v)) },
		ink: func(float64) look.Ink { return style.Info }}
	if m := p.Metrics; isMeasured(p) {
		cpu.known, mem.known = true, true
		cpu.now, cpu.history = m.CPUPercent, cpuHistory(m)
		mem.now, mem.history = float64(m.RSSBytes), memoryHistory(m)
	}
	if w < 2*minChartWidth+chartGap {
		return cpu.draw(w, h, style)
	}
	left := (w - chartGap) / 2
	rows := cpu.draw(left, h, style)
	for i, row := range mem.draw(w-chartGap-left, h, style) {
		rows[i] += text.Spaces(chartGap) + row
	}
	return rows
}

func chartPercent(v float64) string {
	return cpuText(&api.Process{PID: 1, Metrics: &api.Metrics{CPUPercent: v}}) + "%"
}

// cpuInk returns the color for a CPU use in percent. The color warns near one whole core, which
// many programs cannot exceed.
func cpuInk(v float64, look *look.Look) look.Ink {
	switch {
	case v >= 90:
		return look.Bad
	case v >= 50:
		return look.Warn
	}
	return look.Accent
}

// cpuTop returns the top of a scale in percent for values up to peak. It is at least a quarter of a
// core, so that an idle process looks idle.
func cpuTop(peak float64) float64 {
	top := 25.0
	for top < peak {
		top *= 2
	}
	return top
}

// memoryTop returns the top of a scale in bytes for values up to peak: 1, 1.5, 2, 3, 4, 6 … MiB.
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

// peakValue returns the largest value of the history, or the current value if that is larger.
func (c *chart) peakValue() float64 { return slices.Max(append(slices.Clip(c.history.values), c.now)) }

// timeWindow returns the time span of the chart: the known history, rounded up.
func (c *chart) timeWindow() time.Duration {
	for _, m := range []time.Duration{1, 2, 5} {
		if c.history.duration() <= m*time.Minute {
			return m * time.Minute
		}
	}
	return 10 * time.Minute
}

// draw returns a heading row and below it the plot, with the scale on its left.
func (c *chart) draw(w, h int, look *look.Look) []string {
	if w <= 0 || h <= 0 {
		return make([]string, max(h, 0))
	}
	top := c.top(c.peakValue())
	rows := []string{c.drawHead(w, look)}
	topLabel := strings.Replace(c.label(top), ".0", "", 1)
	scale := max(text.Width(topLabel), 2) + 1
	if w < scale+minPlotWidth || h < 2 {
		scale = 0
	}
	for i, row := range c.drawPlot(w-scale, h-1, top, look) {
		label := ""
		switch i {
		case 0:
			label = topLabel
		case h - 2:
			label = "0"
		}
		if scale > 0 {
			row = look.Faint.Text(text.PadLeft(label, scale-1)+" ") + row
		}
		rows = append(rows, row)
	}
	return rows
}

// drawHead draws the name of a chart, its current value, its peak and its time span, as many of
// these as fit into w cells.
func (c *chart) drawHead(w int, look *look.Look) string {
	name := text.Clip(c.name+" ", w)
	now, peak, since := "", "", ""
	if c.known {
		now, peak, since = c.label(c.now), "  peak "+c.label(c.peakValue()), "last "+units.Age(c.timeWindow())
	}
	now = text.Clip(now, w-text.Width(name))
	left := w - text.Width(name) - text.Width(now)
	if text.Width(peak) > left {
		peak = ""
	}
	left -= text.Width(peak)
	if text.Width(since) >= left {
		since = ""
	}
	gap := text.Spaces(left - text.Width(since))
	return look.Dim.Text(name) + look.Strong.Text(now) + look.Dim.Text(peak) + gap + look.Faint.Text(since)
}

// drawPlot draws the values in h rows of w cells, each in the color of its value.
func (c *chart) drawPlot(w, h int, top float64, look *look.Look) []string {
	across, up := 2, 4 // dots per cell
	if !hasFineGlyphs(look) {
		across, up = 1, 3
	}
	values := c.history.sample(c.timeWindow(), w*across)
	dots := c.strokesFor(values, h*up, top)
	rows := make([]string, h)
	for i := range rows {
		rows[i] = c.drawRow(values, dots, (h-1-i)*up, up, across)
	}
	return rows
}

// drawRow draws one row of a plot. base is the number of the row's lowest dot, counted from the
// bottom of the plot.
func (c *chart) drawRow(values []float64, dots []stroke, base, up, across int) string {
	var row, run strings.Builder
	var ink look.Ink
	for x := 0; x < len(values); x += across {
		// One cell can have only one color, so the largest of its values decides.
		if next := c.ink(slices.Max(values[x : x+across])); next != ink {
			row.WriteString(ink.Text(run.String()))
			run.Reset()
			ink = next
		}
		run.WriteString(drawCell(dots[x:x+across], base, up))
	}
	return row.String() + ink.Text(run.String())
}

// A stroke is the range of dots set in a column, counted from below.
type stroke struct{ from, to int }

// strokesFor returns a stroke for each value, in columns that are height dots high. A known value
// has at least one dot.
func (c *chart) strokesFor(values []float64, height int, top float64) []stroke {
	strokes := make([]stroke, len(values))
	last := unknown
	for i, v := range values {
		// Break the line at an unknown value.
		if v < 0 {
			last = unknown
			continue
		}
		n := max(min(int(math.Ceil(v/top*float64(height))), height), 1)
		strokes[i] = stroke{0, n}
		if c.line {
			strokes[i].from = n - 1
			// Join the line to the dot before it.
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

// drawCell draws the part of strokes in one cell, which covers height dots from dot base upwards.
// Two strokes become a braille pattern, one an ASCII character.
func drawCell(strokes []stroke, base, height int) string {
	bits := [2][4]rune{{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}} // from below
	pattern, n, highest := rune(0), 0, 0
	for x, s := range strokes {
		for y := range height {
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

// hasFineGlyphs reports whether the terminal shows more than ASCII.
func hasFineGlyphs(look *look.Look) bool { return look.Glyphs.Levels[4] == "▇" }

// A history is how a value has changed up to now. It consists of spans with a constant value,
// oldest first.
type history struct {
	values  []float64
	seconds []int
}

func cpuHistory(m *api.Metrics) history { return history{m.CPUHistory, m.HistorySeconds} }

func memoryHistory(m *api.Metrics) history {
	p := history{seconds: m.HistorySeconds}
	for _, rss := range m.RSSHistory {
		p.values = append(p.values, float64(rss))
	}
	return p
}

func (p history) duration() (all time.Duration) {
	for i := range p.values {
		all += p.spanDuration(i)
	}
	return all
}

// spanDuration returns the duration of span i. Older engines do not send durations; each of their
// spans is a second.
func (p history) spanDuration(i int) time.Duration {
	if i < len(p.seconds) {
		return time.Duration(p.seconds[i]) * time.Second
	}
	return time.Second
}

// unknown is the value before a history began.
const unknown = -1

// sample divides the last part of the history, as long as window, into n parts. It returns the
// largest value in each part, so that no peak is lost.
func (p history) sample(window time.Duration, n int) []float64 {
	parts := make([]float64, n)
	for i := range parts {
		parts[i] = unknown
	}
	end := time.Duration(0) // before now
	for i := len(p.values) - 1; i >= 0 && end < window; i-- {
		begin := end + p.spanDuration(i)
		first := max(n-int((begin*time.Duration(n)+window-1)/window), 0)
		last := n - 1 - int(end*time.Duration(n)/window)
		for part := first; part <= last; part++ {
			parts[part] = max(parts[part], p.values[i])
		}
		end = begin
	}
	return parts
}
