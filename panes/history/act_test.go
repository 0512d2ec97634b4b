package history

import (
	"context"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/panestest"
	"tandem/themes"
)

func TestShowStatsListsCounts(t *testing.T) {
	p, e, answer := newTestPane("make test")
	answer()
	out := api.HistoryStatsOutput{}
	engine := panestest.NewEngine()
	panestest.On(engine, api.HistoryStats, func(context.Context, api.HistoryStatsInput) (api.HistoryStatsOutput, error) { return out, nil })
	e.API = engine
	show := func() {
		p.Actions()[keymap.HistoryStats]()().(panes.Result)()
		if next := e.RunPending(); next != nil {
			next()
		}
	}
	if show(); e.Shown != nil {
		t.Errorf("without commands: dialog %+v", e.Shown)
	}
	out = api.HistoryStatsOutput{Total: 1200, Unique: 3, Failed: 2,
		Commands: []api.NameCount{{Name: "make test", Count: 1000}, {Name: "ls\x1b[31m", Count: 200}},
		Failures: []api.NameCount{{Name: "make test", Count: 2}}, Days: []api.NameCount{{Name: "2026-11-23", Count: 7}}}
	show()
	counts, ok := e.Shown.(*dialog.Counts)
	if !ok {
		t.Fatalf("dialog: %+v", e.Shown)
	}
	look := &look.Look{Glyphs: themes.UnicodeGlyphs()}
	for _, size := range []tea.WindowSizeMsg{{Width: 60, Height: 15}, {Width: 80, Height: 24}, {Width: 200, Height: 60}} {
		rows, w, _, _ := counts.Draw(countsHost{look: look}, size.Width, size.Height)
		s := ansi.Strip(strings.Join(rows, "\n"))
		if !strings.Contains(s, "1,200 runs of 3 commands, 2 failed") || !strings.Contains(s, "   1,000  ▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃  make test") {
			t.Errorf("%v: %s", size, s)
		}
		for _, row := range rows {
			if text.Width(row) != w || w > size.Width-4 {
				t.Errorf("%v: %d cells of %d: %q", size, text.Width(row), w, row)
			}
		}
		if len(rows) > size.Height-2 {
			t.Errorf("%v: %d rows", size, len(rows))
		}
	}
}

type countsHost struct {
	dialog.Host
	look *look.Look
}

func (h countsHost) Look() *look.Look { return h.look }
