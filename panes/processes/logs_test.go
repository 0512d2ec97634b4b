package processes

import (
	"context"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/panestest"
	"tandem/themes"
)

func TestToggleMergedTakesMarkedProcessesOrTheProject(t *testing.T) {
	project := func(p *api.Process) {
		p.Project = &api.ProjectEntry{File: "/shop/tandem.yaml", Project: "storefront", Name: p.Name}
	}
	p, e := newTestPane(service("1", "api", project), service("2", "db", nil), service("3", "web", project))
	texts := map[string]string{"1": "a 0\n", "2": "d 0\n", "3": "w 0\n"}
	panestest.On(e.API.(*panestest.Engine), api.ProcessLog, func(_ context.Context, in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		out := panestest.LogOf(texts[in.ID], in)
		out.State = api.StateExited
		return out, nil
	})
	show := func() string {
		for range 20 {
			size := p.arrangement.layout().log
			cmd := p.logs.fetch(size.W, size.H)
			if cmd == nil {
				break
			}
			cmd().(panes.Result)()
		}
		return ansi.Strip(strings.Join(p.Draw(), "\n"))
	}
	e.Inks.Glyphs = themes.UnicodeGlyphs()
	p.Select("2")
	panestest.Press(t, p.Actions(), keymap.ProcessLogs)
	if p.logs.merged || !strings.Contains(e.Said, "mark") {
		t.Errorf("without a project or marks: %q", e.Said)
	}
	p.Select("1")
	panestest.Press(t, p.Actions(), keymap.ProcessLogs)
	if got := show(); !p.arrangement.logFocused || !strings.Contains(got, "api │ a 0") || !strings.Contains(got, "web │ w 0") || strings.Contains(got, "d 0") || !strings.Contains(got, "logs storefront") {
		t.Errorf("the project's: %s", got)
	}
	panestest.Press(t, p.Actions(), keymap.LogLeave)
	if p.logs.merged || p.arrangement.logFocused {
		t.Error("esc does not lead back to the table")
	}
	p.Select("1")
	p.table.ToggleMark()
	p.table.Select("2")
	p.table.ToggleMark()
	panestest.Press(t, p.Actions(), keymap.ProcessLogs)
	if got := show(); !strings.Contains(got, "api │ a 0") || !strings.Contains(got, "db  │ d 0") || strings.Contains(got, "w 0") || !strings.Contains(got, "logs api, db") {
		t.Errorf("the marked ones: %s", got)
	}
	panestest.Press(t, p.Actions(), keymap.ProcessLogs)
	if p.logs.merged {
		t.Error("the key does not show one log again")
	}
}
