package pick

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/panes/kit/text"
	"tandem/panes/panestest"
)

// newTestModel returns a picker over commands, newest first, and its last request.
func newTestModel(t *testing.T, query string, lines ...string) (*model, *api.HistorySearchInput) {
	asked := &api.HistorySearchInput{}
	e := panestest.NewEngine()
	panestest.On(e, api.HistorySearch, func(_ context.Context, in api.HistorySearchInput) (out api.HistorySearchOutput, err error) {
		*asked = in
		for i, line := range lines {
			if strings.Contains(line, in.Query) {
				out.Rows = append(out.Rows, api.HistoryRow{Command: api.Command{ID: int64(i + 1), Command: line, DurationMS: -1}, Runs: 1})
			}
		}
		out.Total = len(out.Rows)
		return out, nil
	})
	m := newModel(t.Context(), Options{Query: query, Folder: "/src", Home: "/home/me"}, e, colorprofile.ASCII)
	m.answered = true
	_, cmd := m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	runCommand(m, cmd)
	return m, asked
}

// runCommand runs a command and everything that follows from it, and reports whether the
// picker quits.
func runCommand(m *model, cmd tea.Cmd) (quit bool) {
	if cmd == nil {
		return false
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, one := range msg {
			quit = runCommand(m, one) || quit
		}
	case tea.QuitMsg:
		return true
	case rowsMsg:
		_, next := m.Update(msg)
		return runCommand(m, next)
	}
	return quit
}

func pressKey(m *model, k tea.Key) (quit bool) {
	_, cmd := m.Update(tea.KeyPressMsg(k))
	return runCommand(m, cmd)
}

func TestChosenCommandIsRunOrEdited(t *testing.T) {
	for _, c := range []struct {
		keys []tea.Key
		want Choice
	}{
		{[]tea.Key{{Code: tea.KeyEnter}}, Choice{"make test", true}},
		{[]tea.Key{{Code: tea.KeyTab}}, Choice{"make test", false}},
		{[]tea.Key{{Code: tea.KeyDown}, {Code: tea.KeyEnter}}, Choice{"git push", true}},
		{[]tea.Key{{Code: 'r', Mod: tea.ModCtrl}, {Code: tea.KeyTab}}, Choice{"git push", false}},
		{[]tea.Key{{Code: 'p', Text: "p"}, {Code: tea.KeyEnter}}, Choice{"git push", true}},
		{[]tea.Key{{Code: tea.KeyDown}, {Code: tea.KeyEscape}}, Choice{}},
		{[]tea.Key{{Code: 'c', Mod: tea.ModCtrl}}, Choice{}},
	} {
		m, _ := newTestModel(t, "", "make test", "git push", "git status")
		quit := false
		for _, k := range c.keys {
			quit = pressKey(m, k)
		}
		if m.chosen != c.want || !quit {
			t.Errorf("%v: chosen is %+v, the end %v", c.keys, m.chosen, quit)
		}
	}
}

func TestEnterWaitsForResultsOfEarlierKeys(t *testing.T) {
	m, _ := newTestModel(t, "", "make test", "git push")
	_, late := m.Update(tea.KeyPressMsg{Code: 'g', Text: "g"})
	if _, cmd := m.Update(tea.KeyPressMsg{Code: tea.KeyEnter}); cmd != nil {
		t.Error("enter does not wait")
	}
	if !runCommand(m, late) || m.chosen != (Choice{"git push", true}) {
		t.Errorf("chosen is %+v", m.chosen)
	}
	if m, _ = newTestModel(t, "nothing like it", "make"); pressKey(m, tea.Key{Code: tea.KeyEnter}) {
		t.Error("with nothing found, enter ends it")
	}
}

func TestPickerStartsWithLineAndFilters(t *testing.T) {
	m, asked := newTestModel(t, "git", "make test", "git push")
	if asked.Query != "git" || !asked.Unique || asked.CWD != "" {
		t.Errorf("asked for %+v", *asked)
	}
	pressKey(m, tea.Key{Code: 'h', Mod: tea.ModAlt})
	pressKey(m, tea.Key{Code: 'e', Mod: tea.ModAlt})
	if asked.CWD != "/src" || !asked.Failed {
		t.Errorf("asked for %+v", *asked)
	}
	for w := minWidth; w < 120; w += 9 {
		m.Update(tea.WindowSizeMsg{Width: w, Height: 12})
		rows := strings.Split(ansi.Strip(m.View().Content), "\n")
		for _, row := range rows {
			if text.Width(row) > w {
				t.Fatalf("%d cells: %q", w, row)
			}
		}
		if len(rows) != 12 {
			t.Fatalf("%d rows", len(rows))
		}
	}
}

func TestBashAcceptsItsHook(t *testing.T) {
	check := exec.Command("bash", "-n")
	check.Stdin = strings.NewReader(ReadHook("bash"))
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	for _, shell := range Shells() {
		if !strings.Contains(ReadHook(shell), "tandem history pick") || !strings.Contains(ReadHook(shell), "tandem init "+shell) {
			t.Errorf("the hook of %s: %s", shell, ReadHook(shell))
		}
	}
}

func TestPickerStaysUntilTerminalHasAnswered(t *testing.T) {
	m, _ := newTestModel(t, "", "make")
	m.answered, m.queriedAt = false, time.Now().Add(time.Hour)
	if _, cmd := m.Update(tea.KeyPressMsg{Code: tea.KeyEnter}); cmd == nil || !m.leaving {
		t.Fatal("enter does nothing")
	}
	if pressKey(m, tea.Key{Code: tea.KeyEscape}) {
		t.Error("the answer is left to the shell")
	}
	_, cmd := m.Update(uv.PrimaryDeviceAttributesEvent{62})
	if !runCommand(m, cmd) || m.chosen.Line != "make" {
		t.Errorf("the terminal has answered, but %+v", m.chosen)
	}
}
