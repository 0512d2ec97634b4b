package panes

import (
	"testing"

	"tandem/engine/api"
	"tandem/themes"

	"github.com/charmbracelet/x/ansi"
)

func charted() *api.Process {
	return &api.Process{PID: 1, Metrics: &api.Metrics{
		CPUPercent: 100, CPUHistory: []float64{0, 25, 50, 75}, RSSBytes: 8 << 20, RSSHistory: []int64{4 << 20, 8 << 20, 2 << 20}}}
}

func TestChartsShowHowUseWent(t *testing.T) {
	look := &Look{Glyphs: themes.UnicodeGlyphs()}
	check(t, drawn(DrawCharts(charted(), 75, 5, look)), []string{
		" cpu 100%                   top 100%   memory 8.0M                top 8.0M ",
		"                                   █                                   █ █ ",
		"                                  ██                                   █ █ ",
		"                                 ███                                  ██ █ ",
		"                               ▁████                                  ████ ",
	})
	check(t, drawn(DrawCharts(charted(), 40, 3, &Look{Glyphs: themes.ASCIIGlyphs()})), []string{
		" cpu 100%                      top 100% ",
		"                                     :# ",
		"                                  .:### ",
	})
}

func TestChartsFillTheirRoom(t *testing.T) {
	for _, p := range []*api.Process{charted(), {}, {PID: 1, Metrics: &api.Metrics{CPUHistory: make([]float64, 500)}}} {
		for w := 2; w < 200; w++ {
			for h := 1; h < 8; h++ {
				rows := DrawCharts(p, w, h, &Look{Glyphs: themes.UnicodeGlyphs()})
				if len(rows) != h {
					t.Fatalf("%d rows, want %d", len(rows), h)
				}
				for _, row := range rows {
					if got := ansi.StringWidth(row); got != w {
						t.Fatalf("row %q takes %d cells of %d", row, got, w)
					}
				}
			}
		}
	}
}
