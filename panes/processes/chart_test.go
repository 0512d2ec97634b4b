package processes

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/panestest"
	"tandem/themes"
)

func processWithHistory() *api.Process {
	ran := func(from, to time.Duration, code int) api.ProcessRun {
		end := noon.Add(-to)
		return api.ProcessRun{StartedAt: noon.Add(-from), EndedAt: &end, ExitCode: &code}
	}
	return &api.Process{PID: 1, Supervision: &api.Supervision{Runs: []api.ProcessRun{
		ran(time.Hour, 45*time.Minute, 7), ran(40*time.Minute, 30*time.Minute, 0), {StartedAt: noon.Add(-10 * time.Minute)},
	}}, Metrics: &api.Metrics{
		CPUPercent: 100, CPUHistory: []float64{0, 10, 60, 20, 100}, RSSBytes: 8 << 20,
		RSSHistory: []int64{2 << 20, 4 << 20, 10 << 20, 4 << 20, 8 << 20}, HistorySeconds: []int{240, 60, 60, 60, 60}}}
}

func TestChartsShowCPUAndMemoryOverTime(t *testing.T) {
	style := &look.Look{Glyphs: themes.UnicodeGlyphs()}
	panestest.CompareRows(t, panestest.PlainRows(drawCharts(processWithHistory(), 75, 6, noon, style)), []string{
		" cpu 100%  peak 100%        last 10m   memory 8.0M  peak 10M      last 10m ",
		" 100%                            ⣿⣿⣿   12M                      ⢠⠤⠤⠤⡀      ",
		"                           ⣤⣤⣤   ⣿⣿⣿                            ⢸   ⡇ ⢰⠒⠒⠒ ",
		"                           ⣿⣿⣿   ⣿⣿⣿                         ⢠⠤⠤⠜   ⠧⠤⠜    ",
		"    0       ⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣤⣤⣤⣿⣿⣿⣿⣿⣿⣿⣿⣿     0       ⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠊             ",
		" runs ────────────✗    ────────○                ───────── 1h00m ago to now ",
	})
	ascii := panestest.PlainRows(drawCharts(processWithHistory(), 40, 4, noon, &look.Look{Glyphs: themes.ASCIIGlyphs()}))
	for i, row := range ascii {
		ascii[i] = themes.ASCII(row) // as for the whole screen
	}
	panestest.CompareRows(t, ascii, []string{
		" cpu 100%  peak 100%           last 10m ",
		" 100%                        ....  #### ",
		"    0       .................####::#### ",
		" runs ----X---o    --- 1h00m ago to now ",
	})
}

func TestChartColumnHasTheColorOfItsValue(t *testing.T) {
	look := &look.Look{Glyphs: themes.UnicodeGlyphs(), Accent: "<low>", Warn: "<half>", Bad: "<full>"}
	row := drawCharts(processWithHistory(), 40, 6, noon, look)[4]
	low, half, full := strings.Index(row, "<low>"), strings.Index(row, "<half>"), strings.Index(row, "<full>")
	if low < 0 || half < low || full < half {
		t.Errorf("%q", row)
	}
}

func TestChartKeepsShortPeaks(t *testing.T) {
	p := history{values: []float64{1, 90, 1}, seconds: []int{290, 5, 305}}
	got := p.sample(10*time.Minute, 10)
	if diff := cmp.Diff([]float64{1, 1, 1, 1, 90, 1, 1, 1, 1, 1}, got); diff != "" {
		t.Error(diff)
	}
	if got := p.sample(20*time.Minute, 4); got[0] != unknown || got[1] != unknown || got[2] != 90 {
		t.Errorf("before it began: %v", got)
	}
}

func TestChartOfAYoungProcessFillsItsWidth(t *testing.T) {
	p := &api.Process{PID: 1, Metrics: &api.Metrics{CPUHistory: []float64{5, 7}, HistorySeconds: []int{50, 5}}}
	if got := panestest.PlainRows(drawCharts(p, 40, 6, noon, &look.Look{Glyphs: themes.UnicodeGlyphs()}))[0]; !strings.Contains(got, "last 1m") {
		t.Errorf("%q", got)
	}
}

func TestTimelineDoesNotShowAStopAsAFailure(t *testing.T) {
	p := processWithHistory()
	end := noon.Add(-time.Minute)
	p.State, p.Supervision.Runs[2].EndedAt, p.Supervision.Runs[2].ExitSignal = api.StateStopped, &end, "SIGTERM"
	rows := panestest.PlainRows(drawCharts(p, 75, 6, noon, &look.Look{Glyphs: themes.UnicodeGlyphs()}))
	if got := rows[5]; strings.Count(got, "✗") != 1 || strings.Count(got, "■") != 1 {
		t.Errorf("%q", got)
	}
}

func TestChartsFillTheirSize(t *testing.T) {
	for _, p := range []*api.Process{processWithHistory(), {}, {PID: 1, Metrics: &api.Metrics{CPUHistory: make([]float64, 500)}}} {
		for w := 2; w < 200; w++ {
			for h := 1; h < 8; h++ {
				rows := drawCharts(p, w, h, noon, &look.Look{Glyphs: themes.UnicodeGlyphs()})
				if len(rows) != h {
					t.Fatalf("%d rows, want %d", len(rows), h)
				}
				for _, row := range rows {
					if got := text.Width(row); got != w {
						t.Fatalf("row %q takes %d cells of %d", row, got, w)
					}
				}
			}
		}
	}
}
