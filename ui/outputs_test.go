package ui

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/panes/panestest"
)

// searchable lets a fake engine search the logs of its sessions and processes.
func searchable(e *fakeEngine) {
	panestest.On(e.Engine, api.OutputSearch, func(_ context.Context, in api.OutputSearchInput) (out api.OutputSearchOutput, err error) {
		e.mu.Lock()
		defer e.mu.Unlock()
		re, err := in.Compile()
		if err != nil {
			return out, err
		}
		for _, s := range e.sessions {
			at := len(s.log)
			lines := strings.SplitAfter(s.log, "\n")
			for i := len(lines) - 1; i >= 0; i-- {
				if at -= len(lines[i]); re.MatchString(lines[i]) {
					hit := api.OutputHit{ID: s.process.ID, Name: s.process.Name, Kind: string(s.process.Kind), Actor: "person", State: s.process.State}
					hit.Text, hit.Offset = strings.TrimSuffix(lines[i], "\n"), int64(at)
					out.Hits = append(out.Hits, hit)
				}
			}
		}
		return out, nil
	})
}

func TestLineFoundIsShownInTheScrollbackOfItsSession(t *testing.T) {
	for _, size := range screenSizes() {
		e := newFakeEngine()
		searchable(e)
		e.addSession("other", "other$ ")
		s := e.addSession("bash", "$ ")
		for i := range 500 {
			row := fmt.Sprintf("row %d", i/2)
			s.old = append(s.old, plainLine(row))
			s.log += row + "\n"
		}
		s.log += "row 250 was cleared\n"
		d := drive(t, e, size[0], size[1])
		d.waitText("other$")
		d.pressKeys("ctrl+b", "/", "'row 12", "enter", "down", "enter")
		d.waitText("match") // of the pattern
		d.waitText("line 259/")
		if p := d.m.sessions.FocusedPane(); p == nil || p.ID != s.process.ID {
			t.Error("its session has no keyboard")
		}
		// The position is kept: the next line is the first of the two.
		d.pressKeys("n")
		d.waitText("line 258/")
		d.pressKeys("ctrl+b", "/", "ctrl+u", "'cleared", "enter", "enter")
		d.waitText("cpu%")
		d.waitUntil("its log has the keyboard", d.onLog)
		d.waitText("row 250 was cleared")
		d.waitTyped(s, "")
	}
}

func TestLineFoundIsShownInTheLogOfItsProcess(t *testing.T) {
	e := newFakeEngine()
	searchable(e)
	e.addSession("shell", "$ ")
	e.addProcess("web", strings.Repeat("hay\n", 30_000)+"the needle\n"+strings.Repeat("hay\n", 30_000))
	d := drive(t, e, 120, 36)
	d.waitText("$ ")
	for range 2 { // from the sessions, and from the log itself
		d.pressKeys("ctrl+b", "/", "ctrl+u", "'needle", "enter", "tab")
		d.waitText("─ web serve web ─")
		d.waitText("hay")
		d.pressKeys("?")
		d.waitText("copy the line, or all marked lines")
		d.pressKeys("esc", "esc", "enter")
		d.waitText("cpu%")
		d.waitText("the needle")
		d.waitText("/needle")
		d.pressKeys("G")
		d.waitNoText("the needle")
		d.pressKeys("N")
		d.waitText("the needle")
		d.pressKeys("G")
	}
}
