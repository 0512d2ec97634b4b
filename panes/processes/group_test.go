package processes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/panestest"
	"tandem/themes"
)

// projectProcesses returns processes of two projects and one without a project.
func projectProcesses() []api.Process {
	of := func(file string, change func(*api.Process)) func(*api.Process) {
		return func(p *api.Process) {
			p.Project = &api.ProjectEntry{File: file, Name: p.Name}
			if change != nil {
				change(p)
			}
		}
	}
	seven, zero := 7, 0
	return []api.Process{
		service("1", "shell", func(p *api.Process) { p.Kind = api.KindSession }),
		service("2", "web", of("/home/ann/shop/tandem.yaml", nil)),
		service("3", "db", of("/home/ann/shop/tandem.yaml", func(p *api.Process) { p.State, p.PID, p.ExitCode = api.StateFailed, 0, &seven })),
		service("4", "migrate", of("/home/ann/shop/tandem.yaml", func(p *api.Process) { p.State, p.PID, p.ExitCode = api.StateExited, 0, &zero })),
		service("5", "docs", of("/home/ann/book/Procfile", nil)),
	}
}

func TestTableGroupsProcessesByProject(t *testing.T) {
	look := &look.Look{Glyphs: themes.UnicodeGlyphs()}
	table := tableOf(projectProcesses())
	table.Home = "/home/ann"
	panestest.CompareRows(t, panestest.PlainRows(table.Draw(80, 9, noon, look)), []string{
		"       name          state▲             cpu%    mem     up  command         1/5 ",
		"   ▾ book            1/1 up  ~/book                                             ",
		"▌  ●   docs          running             1.2    12M  1h30m  serve docs          ",
		"   ▾ shop            1/2 up, 1 failed  ~/shop                                   ",
		"   ✗   db            failed: exited 7                       serve db            ",
		"   ●   web           running             1.2    12M  1h30m  serve web           ",
		"   ○   migrate       exited 0                               serve migrate       ",
		"   ▾ no project      1/1 up                                                     ",
		"   ● ❯ shell         running             1.2    12M  1h30m  serve shell         ",
	})
	table.SortBy(columnName)
	table.Reverse()
	panestest.CompareRows(t, namesIn(table), []string{"book:", "docs", "shop:", "web", "migrate", "db", "no project:", "shell"})
	if table.setProcesses(projectProcesses()[:1]); slices.Contains(namesIn(table), "no project:") {
		t.Errorf("processes without a project have a header of their own: %v", namesIn(table))
	}
	for w := 20; w < 160; w++ {
		for _, row := range tableOf(projectProcesses()).Draw(w, 9, noon, look) {
			if got := text.Width(row); got != w {
				t.Fatalf("row %q takes %d cells of %d", row, got, w)
			}
		}
	}
}

func TestProjectHeaderShowsTheNameInItsFile(t *testing.T) {
	look := &look.Look{Glyphs: themes.UnicodeGlyphs()}
	all := projectProcesses()
	for i := range all {
		if p := &all[i]; p.Name == "web" {
			p.Project.Project, p.StartedAt = "storefront", noon
		} else if p.Name == "db" {
			p.Project.Project, p.StartedAt = "former name", noon.Add(-time.Hour)
		}
	}
	table := tableOf(all)
	panestest.CompareRows(t, namesIn(table), []string{"book:", "docs", "storefront:", "db", "web", "migrate", "no project:", "shell"})
	table.Select("2")
	table.Move(-2)
	if got := table.drawProjectHeading(60, look); !strings.Contains(got, "storefront") {
		t.Errorf("the heading of the log is %q", got)
	}
	table.SetFilter("STOREFRONT")
	panestest.CompareRows(t, namesIn(table), []string{"storefront:", "db", "web", "migrate"})
	table.SetFilter("book")
	panestest.CompareRows(t, namesIn(table), []string{"book:", "docs"})
}

func TestFilterMatchesProjectFolderAndStateAsShown(t *testing.T) {
	all := projectProcesses()
	yes := true
	for i := range all {
		switch p := &all[i]; p.Name {
		case "web":
			p.Supervision.Ready, p.CWD = &yes, "/srv/elsewhere"
		case "docs":
			p.State, p.Supervision.NextStart = api.StateBackoff, &noon
		}
	}
	table := tableOf(all)
	for filter, want := range map[string][]string{
		"shop":          {"shop:", "db", "web", "migrate"},
		"/ann/book":     {"book:", "docs"},
		"ann/shop !web": {"shop:", "db", "migrate"},
		"failed":        {"shop:", "db"},
		"ready":         {"shop:", "web"},
		"running":       {"shop:", "web", "no project:", "shell"},
		"restarts":      {"book:", "docs"},
	} {
		table.SetFilter(filter)
		panestest.CompareRows(t, namesIn(table), want)
	}
}

func TestFoldedProjectOpensForAFilterMatch(t *testing.T) {
	table := tableOf(projectProcesses())
	table.Select("3")
	table.ToggleFold()
	panestest.CompareRows(t, namesIn(table), []string{"book:", "docs", "shop:", "no project:", "shell"})
	if g := table.HeaderProject(); g == nil || g.name() != "shop" {
		t.Fatalf("the cursor is not on the header that was folded")
	}
	table.setProcesses(projectProcesses())
	panestest.CompareRows(t, namesIn(table), []string{"book:", "docs", "shop:", "no project:", "shell"})
	table.SetFilter("migrate")
	panestest.CompareRows(t, namesIn(table), []string{"shop:", "migrate"})
	table.SetFilter("")
	table.reveal("2")
	if p, _ := table.Selected(); p.Name != "web" {
		t.Errorf("the cursor is on %q", p.Name)
	}
	table.ToggleFold()
	table.ToggleFold()
	panestest.CompareRows(t, namesIn(table), []string{"book:", "docs", "shop:", "db", "web", "migrate", "no project:", "shell"})
}

func TestActionOnAHeaderAsksAndAppliesToItsProject(t *testing.T) {
	p, e := newTestPane(projectProcesses()...)
	panestest.On(e.API.(*panestest.Engine), api.ProcessRestart, func(_ context.Context, in api.ProcessRestartInput) (api.Process, error) {
		e.recordStop("restart " + in.ID)
		return api.Process{}, nil
	})
	p.table.Select(headerID("/home/ann/shop/tandem.yaml"))
	for _, c := range []struct {
		action      keymap.Action
		title, done string
	}{
		{keymap.ProcessStop, "Stop web of shop?", "2 "},
		{keymap.ProcessStart, "Start 2 processes of shop?", "restart 3, restart 4"},
		{keymap.ProcessRestart, "Restart 3 processes of shop?", "restart 2, restart 3, restart 4"},
	} {
		e.stopped = nil
		panestest.Press(t, p.Actions(), c.action)
		q, ok := e.Shown.(*dialog.Question)
		if !ok || q.Title != c.title {
			t.Fatalf("%s asks %+v", c.action, e.Shown)
		}
		panestest.RunAll(q.Then())
		slices.Sort(e.stopped)
		if got := strings.Join(e.stopped, ", "); got != c.done {
			t.Errorf("%s did %q, want %q", c.action, got, c.done)
		}
	}
	panestest.Press(t, p.Actions(), keymap.Mark)
	if got := p.table.MarkCount(); got != 3 {
		t.Errorf("%d are marked", got)
	}
	panestest.Press(t, p.Actions(), keymap.Mark)
	if got := p.table.MarkCount(); got != 0 {
		t.Errorf("%d are still marked", got)
	}
}

func TestHeaderFoldsByKeyAndMouse(t *testing.T) {
	p, _ := newTestPane(projectProcesses()...)
	p.Draw()
	rows := func() string { return fmt.Sprint(namesIn(p.table)) }
	whole, folded := rows(), "[book: shop: db web migrate no project: shell]"
	for how, fold := range map[string]func(){
		"f": func() { p.table.Select("5"); panestest.Press(t, p.Actions(), keymap.ProcessFold) },
		"enter": func() {
			panestest.Press(t, p.Actions(), keymap.MoveFirst)
			panestest.Press(t, p.Actions(), keymap.Open)
		},
		"click": func() { p.Mouse(keys.Mouse{X: 9, Y: 1, Kind: keys.MouseDown, Button: keys.ButtonLeft}) },
	} {
		if fold(); rows() != folded {
			t.Errorf("%s leaves %s", how, rows())
		}
		if fold(); rows() != whole {
			t.Errorf("%s again leaves %s", how, rows())
		}
	}
}
