package processes

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/panes/widget"
	"tandem/themes"
)

func charted() *api.Process {
	ran := func(from, to time.Duration, code int) api.ProcessRun {
		end := noon.Add(-to)
		return api.ProcessRun{StartedAt: noon.Add(-from), EndedAt: &end, ExitCode: &code}
	}
	return &api.Process{PID: 1, Supervision: &api.Supervision{Runs: []api.ProcessRun{
		ran(time.Hour, 45*time.Minute, 7), ran(40*time.Minute, 30*time.Minute, 0), {StartedAt: noon.Add(-10 * time.Minute)},
	}}, Metrics: &api.Metrics{
		CPUPercent: 100, CPUHistory: []float64{0, 25, 50, 75}, RSSBytes: 8 << 20, RSSHistory: []int64{4 << 20, 8 << 20, 2 << 20}}}
}

func TestChartsShowHowUseWent(t *testing.T) {
	look := &widget.Look{Glyphs: themes.UnicodeGlyphs()}
	check(t, drawn(DrawCharts(charted(), 75, 6, noon, look)), []string{
		" cpu 100%                   top 100%   memory 8.0M                top 8.0M ",
		"                                   █                                   █ █ ",
		"                                  ██                                   █ █ ",
		"                                 ███                                  ██ █ ",
		"                               ▁████                                  ████ ",
		" runs ────────────✗    ────────○                ───────── 1h00m ago to now ",
	})
	check(t, drawn(DrawCharts(charted(), 40, 4, noon, &widget.Look{Glyphs: themes.ASCIIGlyphs()})), []string{
		" cpu 100%                      top 100% ",
		"                                     :# ",
		"                                  .:### ",
		" runs ----X---o    --- 1h00m ago to now ",
	})
}

func TestTheEndThatSomebodyAskedForIsNoFailureInATimeline(t *testing.T) {
	p := charted()
	end := noon.Add(-time.Minute)
	p.State, p.Supervision.Runs[2].EndedAt, p.Supervision.Runs[2].ExitSignal = api.StateStopped, &end, "SIGTERM"
	rows := drawn(DrawCharts(p, 75, 6, noon, &widget.Look{Glyphs: themes.UnicodeGlyphs()}))
	if got := rows[5]; strings.Count(got, "✗") != 1 || strings.Count(got, "■") != 1 {
		t.Errorf("%q", got)
	}
}

func TestChartsFillTheirRoom(t *testing.T) {
	for _, p := range []*api.Process{charted(), {}, {PID: 1, Metrics: &api.Metrics{CPUHistory: make([]float64, 500)}}} {
		for w := 2; w < 200; w++ {
			for h := 1; h < 8; h++ {
				rows := DrawCharts(p, w, h, noon, &widget.Look{Glyphs: themes.UnicodeGlyphs()})
				if len(rows) != h {
					t.Fatalf("%d rows, want %d", len(rows), h)
				}
				for _, row := range rows {
					if got := widget.Width(row); got != w {
						t.Fatalf("row %q takes %d cells of %d", row, got, w)
					}
				}
			}
		}
	}
}

func check(t *testing.T, got, want []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
func drawn(rows []string) (out []string) {
	for _, r := range rows {
		out = append(out, ansi.Strip(r))
	}
	return out
}
