package ui

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/keys/keymap"
)

func TestThePaletteFindsActionsSessionsProcessesAndCommands(t *testing.T) {
	e := newFakeEngine()
	e.add("shell", "$ ")
	e.addProcess("web", "npm run dev")
	e.ran("docker compose up")
	d := drive(t, e, 100, 30)
	d.shows("$ ")
	d.press("ctrl+b", ":")
	d.shows("Find anything")
	d.shows("split: open a new session beside this one")
	d.shows("ctrl+b %")
	d.press("'docker")
	d.shows("docker compose up")
	d.lacks("split: open")
	d.press("ctrl+u", "'web")
	d.shows("process")
	d.press("enter")
	d.until("the log of web has the keyboard", func() bool {
		p, ok := d.m.processes.Selected()
		return d.m.view == viewProcesses && d.onLog() && ok && p.Name == "web"
	})
	d.press(":", "'ses shell", "enter")
	d.until("the session is shown", func() bool { return d.m.view == viewSessions && d.m.dialog.open == nil })
}

func TestAnActionOfThePaletteIsDone(t *testing.T) {
	e := newFakeEngine()
	e.add("shell", "$ ")
	d := drive(t, e, 100, 30)
	d.shows("$ ")
	d.press("ctrl+b", ":", "'start session", "enter")
	d.hasStarted(2)
	d.press("ctrl+b", ":", "'zzzz")
	d.shows("nothing matches")
	d.shows("ctrl+u clear")
	d.lacks("choose")
	d.press("enter", "ctrl+u")
	d.lacks("nothing matches")
	d.press("esc")
	if d.m.dialog.open != nil {
		t.Error("the palette is still open")
	}
}

func TestACommandOfThePaletteGoesOntoThePrompt(t *testing.T) {
	e := newFakeEngine()
	s := e.add("shell", "$ ")
	e.ran("make test")
	d := drive(t, e, 100, 30)
	d.shows("$ ")
	d.press("ctrl+b", ":", "'make t")
	d.shows("make test")
	d.press("enter")
	d.typedInto(s, "make test")
}

func TestThePaletteIsClicked(t *testing.T) {
	e := newFakeEngine()
	e.add("shell", "$ ")
	d := drive(t, e, 100, 30)
	d.shows("$ ")
	d.press("ctrl+b", ":", "'start a session")
	d.shows("start a session")
	for y, line := range strings.Split(d.screen(), "\n") {
		if strings.Contains(line, "action") && strings.Contains(line, "start a session") {
			d.click(d.m.dialog.at.X+10, y)
			break
		}
	}
	d.hasStarted(2)
	for _, key := range []string{":", "?", "T"} {
		d.press("ctrl+b", key)
		if d.m.dialog.open == nil {
			t.Fatalf("%s opens nothing", key)
		}
		d.screen()
		if d.click(0, 29); d.m.dialog.open != nil {
			t.Errorf("a click beside what %s opens does not close it", key)
		}
	}
}

func TestThePaletteShowsOnlyWhatCanBeDoneHere(t *testing.T) {
	e := newFakeEngine()
	e.add("shell", "$ ")
	d := drive(t, e, 100, 30)
	d.shows("$ ")
	u := &palette{over: d.m.input.scopes()}
	for _, c := range u.actionChoices(d.m) {
		if strings.Contains(c.Also, string(keymap.ProcessKill)) || strings.Contains(c.Also, string(keymap.Palette)) {
			t.Errorf("the palette of a terminal has %q", c.Text)
		}
	}
	d.press("alt+2")
	u = &palette{over: d.m.input.scopes()}
	if first := u.actionChoices(d.m)[0]; !strings.Contains(first.Also, string(keymap.ProcessNew)) {
		t.Errorf("the palette of processes begins with %q", first.Text)
	}
}

func TestHelpBeginsWithThePlaceAndIsSearched(t *testing.T) {
	e := newFakeEngine()
	e.add("shell", "$ ")
	e.addProcess("web", "npm run dev")
	d := drive(t, e, 100, 24)
	d.shows("$ ")
	d.press("alt+2", "tab", "?")
	d.shows("follow the output")
	screen := d.screen()
	if strings.Index(screen, "follow the output") > strings.Index(screen, "show the sessions") && strings.Contains(screen, "show the sessions") {
		t.Errorf("general keys come before those of the log:\n%s", screen)
	}
	d.press("/", "'sideways")
	d.shows("wrap long lines, or scroll sideways")
	d.lacks("follow the output")
	d.press("esc")
	d.shows("follow the output")
	d.press("/", "'zzz", "enter")
	d.shows("no key with that")
	d.press("q")
	d.lacks("no key with that")
}

func TestThemesAreSeenWhileTheyAreChosen(t *testing.T) {
	e := newFakeEngine()
	e.add("shell", "$ ")
	d := drive(t, e, 100, 30)
	kept := ""
	d.m.o.KeepTheme = func(name string) (string, error) {
		if kept != "" {
			return "", errors.New("the disk is full")
		}
		kept = name
		return "/home/ann/config.toml", nil
	}
	d.shows("$ ")
	before := d.m.theme.look
	d.press("ctrl+b", "T", "'nord")
	if d.m.theme.look == before {
		t.Error("nord looks as before")
	}
	d.press("esc")
	if d.m.theme.look != before {
		t.Error("the look did not come back")
	}
	d.press("ctrl+b", "T", "'nord", "enter")
	d.shows(`theme = "nord" is in ~/config.toml now`)
	d.update(settingsMsg{Theme: "nord"})
	d.shows(`theme = "nord" is in ~/config.toml now`)
	nord := d.m.theme.look
	d.press("ctrl+b", "T", "'latte", "enter")
	d.shows("for this run only: the disk is full")
	if d.m.theme.look == nord {
		t.Error("what was chosen does not hold")
	}
}

func TestNewSettingsHoldAtOnce(t *testing.T) {
	e := newFakeEngine()
	e.add("shell", "$ ")
	d := drive(t, e, 100, 30)
	d.shows("$ ")
	bindings, err := keymap.DefaultBindings().Rebind(map[keymap.Action][]string{keymap.Prefix: {"ctrl+a"}})
	if err != nil {
		t.Fatal(err)
	}
	before := d.m.theme.look
	d.update(settingsMsg{Bindings: bindings, Theme: "nord", NoMouse: true})
	d.shows("config reloaded")
	if d.m.theme.look == before || d.m.mouseMode() != 0 {
		t.Error("look or mouse are as before")
	}
	d.update(settingsMsg{Fault: "config.toml line 3: there is no key"})
	d.shows("config.toml line 3")
	d.press("ctrl+a", "c")
	d.hasStarted(2)
	d.update(settingsMsg{Theme: "nord"})
	d.shows("config reloaded")
	if d.m.faultNote() != "" {
		t.Error("the fault is still told of")
	}
	d.press("ctrl+b", "c")
	d.hasStarted(3)
}

func TestTipsAreThereUntilTheyAreHidden(t *testing.T) {
	e := newFakeEngine()
	e.add("shell", "$ ")
	d := drive(t, e, 80, 24)
	hidden := make(chan struct{})
	d.m.o.Tips, d.m.o.HideTips = true, func() { close(hidden) }
	d.m.relayout()
	d.shows("New here?")
	for _, key := range []string{"ctrl+b, then  : find", "esc hide"} {
		d.shows(key)
	}
	d.press("ctrl+b", "esc")
	d.lacks("New here?")
	<-hidden
	d.m.o.Tips, d.m.o.HideTips = true, nil
	d.m.relayout()
	d.shows("New here?")
	d.click(3, 22)
	d.lacks("New here?")
	d.m.o.Tips = true
	d.m.resize(80, 16)
	d.lacks("New here?")
}

func TestBookmarksAreInThePalette(t *testing.T) {
	e := newFakeEngine()
	e.add("shell", "$ ")
	d := drive(t, e, 100, 30)
	d.shows("$ ")
	d.press("ctrl+b", ":")
	u := d.m.dialog.open.(*palette)
	d.update(paletteMsg{palette: u, bookmarks: []string{"/home/ann/src/web"}})
	d.press("'fol web")
	d.shows("~/src/web")
	d.press("enter")
	d.until("the files are shown", func() bool { return d.m.view == viewFiles && d.m.files.Folder() == "/home/ann/src/web" })
	d.update(paletteMsg{palette: u, commands: []api.HistoryRow{{}}}) // it came too late
}

func TestTheBarOfAPresetTellsDirectKeysAndThePrefix(t *testing.T) {
	e := newFakeEngine()
	e.add("shell", "$ ")
	d := drive(t, e, 80, 24)
	d.shows("$ ")
	bindings, err := keymap.DefaultBindings().Preset("zellij", nil)
	if err != nil {
		t.Fatal(err)
	}
	d.update(settingsMsg{Bindings: bindings})
	d.m.notices.unsay()
	d.m.dirty = true
	for _, hint := range []string{"alt+n split", "alt+f zoom", "ctrl+g then", "t new", "q detach", "? keys"} {
		d.shows(hint)
	}
}

func TestCommandsThatAreRunMeanwhileAreOfferedAndTheChoiceStays(t *testing.T) {
	e := newFakeEngine()
	s := e.add("shell", "$ ")
	e.ran("make test")
	e.ran("make all")
	d := drive(t, e, 100, 30)
	d.shows("$ ")
	d.press("ctrl+b", ":", "'make")
	d.shows("make test")
	u := d.m.dialog.open.(*palette)
	chosen := func() string { c, _ := u.List.Selected(); return c.Text }
	for range 10 {
		if chosen() == "make test" {
			break
		}
		d.press("down")
	}
	e.ran("make it")
	e.ran("make so")
	d.shows("make so")
	d.shows("make it")
	if got := chosen(); got != "make test" {
		t.Errorf("the cursor is on %q", got)
	}
	d.press("enter")
	d.typedInto(s, "make test")
}

func TestProcessesThatAreStartedMeanwhileAreOfferedAndTheChoiceStays(t *testing.T) {
	e := newFakeEngine()
	e.add("shell", "$ ")
	e.addProcess("web", "the first\n")
	second := e.addProcess("web", "the second\n")
	d := drive(t, e, 100, 30)
	d.shows("$ ")
	d.press("ctrl+b", ":", "'web")
	u := d.m.dialog.open.(*palette)
	d.until("the engine has answered", func() bool { return u.known })
	d.until("the cursor is on the second", func() bool {
		c, _ := u.List.Selected()
		if c.ID != second.process.ID {
			d.press("down")
		}
		return c.ID == second.process.ID
	})
	if _, err := api.ProcessStart.Call(t.Context(), e, api.ProcessStartInput{Command: []string{"web"}, Name: "web-three"}); err != nil {
		t.Fatal(err)
	}
	d.shows("web-three")
	d.press("enter")
	d.shows("the second")
}

func TestThePaletteKnowsTheWordsOfOtherPrograms(t *testing.T) {
	e := newFakeEngine()
	e.add("shell", "$ ")
	d := drive(t, e, 100, 30)
	d.shows("$ ")
	for words, want := range map[string]keymap.Action{
		"fullscreen": keymap.PaneZoom, "maximize": keymap.PaneZoom, "kill": keymap.SessionEnd, "quit": keymap.Detach,
		"exit": keymap.Detach, "scrollback": keymap.ScrollMode, "copy-mode": keymap.ScrollMode, "vertical": keymap.SplitBeside, "vsplit": keymap.SplitBeside,
		"horizontal": keymap.SplitBelow, "detach-client": keymap.Detach, "rename-window": keymap.SessionRename, "new-window": keymap.SessionNew,
		"last-window": keymap.SessionLast, "display-panes": keymap.PaneNumbers, "choose-tree": keymap.FocusList, "shortcuts": keymap.Help,
		"break-pane": keymap.PaneBreak, "colors": keymap.ThemePick, "select-layout": keymap.LayoutShow, "atuin": keymap.HistoryInsert,
	} {
		d.press("ctrl+b", ":", "'"+words)
		var found []string
		u := d.m.dialog.open.(*palette)
		for range 3 {
			if c, ok := u.List.Selected(); ok {
				found = append(found, c.ID)
			}
			u.List.Move(1)
		}
		if !slices.Contains(found, string(want)) {
			t.Errorf("%s finds %q first, not %s", words, found, want)
		}
		d.press("esc")
	}
	d.press("alt+2", ":", "'respawn")
	if c, ok := d.m.dialog.open.(*palette).List.Selected(); ok && c.ID != string(keymap.ProcessRestart) {
		t.Errorf("respawn finds %q", c.ID)
	}
}

func TestPaletteListsActionsBeforeExitedSessions(t *testing.T) {
	e := newFakeEngine()
	e.add("shell", "$ ")
	gone := e.add("config")
	status := 1
	gone.end(api.StateExited, &status)
	gone.change(func(p *api.Process) { p.Command = "env XDG_CONFIG_HOME=/c settings" })
	d := drive(t, e, 100, 30)
	d.m.o.CreateConfig = func() (string, error) { return "/home/ann/.config/tandem/config.toml", nil }
	d.shows("$ ")
	for query, want := range map[string]string{
		"config": "config.edit", "settings": "config.edit", "edit configuration": "config.edit", "engine log": "engine.log",
	} {
		d.press("ctrl+b", ":", "'"+query)
		if c, _ := d.m.dialog.open.(*palette).List.Selected(); c.ID != want {
			t.Errorf("%s finds %s %q first", query, c.Kind, c.Text)
		}
		d.press("esc")
	}
	d.press("ctrl+b", ":", "'config", "down")
	if c, _ := d.m.dialog.open.(*palette).List.Selected(); c.ID != gone.process.ID {
		t.Errorf("the exited session comes after %s %q", c.Kind, c.Text)
	}
}

func TestPaletteEditsTheConfiguration(t *testing.T) {
	t.Setenv("VISUAL", "vim")
	e := newFakeEngine()
	e.add("shell", "$ ")
	d := drive(t, e, 100, 30)
	var fault error
	d.m.o.CreateConfig = func() (string, error) { return "/home/ann/.config/tandem/config.toml", fault }
	d.shows("$ ")
	d.press("alt+2", ":", "'settings", "enter")
	d.hasStarted(2)
	if got := e.started[0].Command; !slices.Equal(got, []string{"vim", "/home/ann/.config/tandem/config.toml"}) {
		t.Errorf("it starts %q", got)
	}
	fault = errors.New("write configuration: permission denied")
	d.press("ctrl+b", ":", "'settings", "enter")
	d.shows("permission denied")
	d.hasStarted(2)
}

func TestPaletteShowsTheEndOfTheEngineLog(t *testing.T) {
	e := newFakeEngine()
	e.dataDir = t.TempDir()
	log := strings.Repeat("an old line\n", 20_000) + "the newest line\n"
	if err := os.WriteFile(filepath.Join(e.dataDir, "engine.log"), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	e.add("shell", "$ ")
	d := drive(t, e, 100, 30)
	d.shows("$ ")
	d.press("ctrl+b", ":", "'engine log", "enter")
	d.shows("the newest line")
}

func TestThePaletteHasWhatWasChosenLatelyFirst(t *testing.T) {
	e := newFakeEngine()
	e.add("shell", "$ ")
	web := e.addProcess("web", "npm run dev")
	d := drive(t, e, 100, 30)
	d.shows("$ ")
	kept := make(chan []string, 3)
	d.m.o.Recent, d.m.o.KeepRecent = []string{"session gone", "action layout.equal"}, func(names []string) { kept <- names }
	first := func(n int) (ids []string) {
		for _, c := range d.m.dialog.open.(*palette).all()[:n] {
			ids = append(ids, c.ID)
		}
		return ids
	}
	d.press("ctrl+b", ":")
	if got := first(1); got[0] != string(keymap.LayoutEqual) {
		t.Errorf("first is %q", got)
	}
	d.press("'zoom the pane", "enter", "ctrl+b", "z", "ctrl+b", ":", "'proc web", "enter")
	want := []string{"process " + web.process.ID, "action pane.zoom", "session gone", "action layout.equal"}
	var last []string
	d.until("it is kept", func() bool {
		select {
		case last = <-kept:
		default:
		}
		return slices.Equal(last, want)
	})
	d.press("alt+1", "ctrl+b", ":")
	if got := first(3); !slices.Equal(got, []string{web.process.ID, string(keymap.PaneZoom), string(keymap.LayoutEqual)}) {
		t.Errorf("first are %q", got)
	}
	if shown, all := d.m.dialog.open.(*palette).List.Len(); shown != all || all != len(d.m.dialog.open.(*palette).all()) {
		t.Errorf("%d of %d are shown", shown, all)
	}
}
