package processes

import (
	"slices"
	"time"

	"tandem/engine/api"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// sparkParts returns the sparkline of a process, in parts that each have one ink.
func sparkParts(p *api.Process, look *look.Look) []sparkPart {
	if !isMeasured(p) {
		return []sparkPart{{text.Spaces(sparkCells), ""}}
	}
	return sparkline(cpuHistory(p.Metrics), sparkCells, look)
}

// A sparkPart is a part of a sparkline in one ink.
type sparkPart struct {
	bars string
	ink  look.Ink
}

// idlePercent is the CPU use, in percent of a core, up to which a process counts as idle.
const idlePercent = 0.5

// sparkline draws the recent CPU use in n cells of five seconds each. The top of its scale is the
// largest value, but at least a quarter of a core, so that an idle process looks idle. Cells
// without any use are faint.
func sparkline(p history, n int, look *look.Look) (parts []sparkPart) {
	values := p.sample(time.Duration(n)*sparkStep, n)
	top := max(25, slices.Max(values))
	for _, v := range values {
		part := sparkPart{" ", ""}
		switch {
		case v == unknown:
		case v < idlePercent:
			part = sparkPart{look.Glyphs.Level(0), look.Faint}
		default:
			part = sparkPart{look.Glyphs.Level(1 + int(v/top*3.99)), look.Accent}
		}
		if last := len(parts) - 1; last >= 0 && parts[last].ink == part.ink {
			parts[last].bars += part.bars
			continue
		}
		parts = append(parts, part)
	}
	return parts
}
