package history

import (
	"context"
	"slices"
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

func TestPartialDeletionReportsDeletedRunsAndErrors(t *testing.T) {
	for name, test := range map[string]struct {
		offline     []string
		said        string
		stayMarked  []string
		deletedFrom []string
	}{
		"all":      {nil, "deleted 3 runs", nil, []string{"", "box", "far"}},
		"one away": {[]string{"box"}, "deleted 2 runs; box: away", []string{"box"}, []string{"", "far"}},
		"two away": {[]string{"box", "far"}, "deleted 1 run; box: away (and 1 more)", []string{"box", "far"}, []string{""}},
		"nothing":  {[]string{"", "box", "far"}, ": away (and 2 more)", []string{"", "box", "far"}, nil},
	} {
		for _, everyRun := range []bool{false, true} {
			p, e, _ := newTestPane()
			var deletedFrom []string
			engine := panestest.NewEngine()
			panestest.On(engine, api.HistoryRemove, func(_ context.Context, in api.HistoryRemoveInput) (out api.HistoryCount, _ error) {
				if slices.Contains(test.offline, in.Host) {
					return out, api.Errorf(api.CodeUnavailable, "%s: away", in.Host)
				}
				deletedFrom = append(deletedFrom, in.Host)
				return api.HistoryCount{Count: 1}, nil
			})
			e.API = engine
			p.finder.query.everyRun = everyRun
			p.finder.startSearch(0)
			r, _ := p.finder.list.NextRequest()
			out := api.HistorySearchOutput{Total: 3}
			for _, host := range []string{"", "box", "far"} {
				out.Rows = append(out.Rows, api.HistoryRow{Runs: 1, Command: api.Command{ID: 1, Command: "make", Host: host}})
			}
			p.finder.storeAnswer(r, out, nil)
			for range out.Rows {
				p.finder.list.ToggleMark()
			}
			p.act.askDeleteCommands(out.Rows)
			panestest.RunAll(e.Shown.(*dialog.Question).Then())
			var marked []string
			for _, row := range p.finder.list.marks.sortRows() {
				marked = append(marked, row.Host)
			}
			slices.Sort(marked)
			if !slices.Equal(marked, test.stayMarked) || !slices.Equal(deletedFrom, test.deletedFrom) || e.Said != test.said || e.SaidBad != (len(test.offline) > 0) {
				t.Errorf("%s, every run %v: said %q, marked %q, deleted from %q", name, everyRun, e.Said, marked, deletedFrom)
			}
		}
	}
}
