package ui

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
)

func TestPaletteFindsActionsSessionsProcessesAndCommands(t *testing.T) {
	e := newFakeEngine()
	e.addSession("shell", "$ ")
	e.addProcess("web", "listening on 8080")
	e.history.AddRun("docker compose up")
	d := drive(t, e, 100, 30)
	d.waitText("$ ")
	d.pressKeys("ctrl+b", ":")
	d.waitText("Find anything")
	d.waitText("split: open a new session beside this one")
	d.waitMatch(`start a session +ctrl\+b c`)
	d.waitText("ctrl+b %")
	d.pressKeys("'docker")
	d.waitText("docker compose up")
	d.waitNoText("split: open")
	d.pressKeys("ctrl+u", "'web")
	d.waitMatch(`process +● web`)
	d.pressKeys("enter")
	d.waitText("listening on 8080")
	d.waitUntil("the log of web has the keyboard", func() bool {
		p, ok := d.m.processes.Selected()
		return d.m.views.action() == keymap.ViewProcesses && d.onLog() && ok && p.Name == "web"
	})
	d.pressKeys(":", "'ses shell", "enter")
	d.waitUntil("the session is shown", func() bool { return d.m.views.action() == keymap.ViewSessions && d.m.dialog.open == nil })
}

func TestPaletteRunsChosenAction(t *testing.T) {
	e := newFakeEngine()
	e.addSession("shell", "$ ")
	d := drive(t, e, 100, 30)
	d.waitText("$ ")
	d.pressKeys("ctrl+b", ":", "'start session", "enter")
	d.waitStarted(2)
	d.pressKeys("ctrl+b", ":", "'beside", "enter")
	d.waitStarted(3)
	d.waitMatch(`^\$ +│\$ `)
	d.pressKeys("ctrl+b", ":", "'zzzz")
	d.waitText("nothing matches")
	d.waitText("ctrl+u clear")
	d.waitNoText("choose")
	d.pressKeys("enter", "ctrl+u")
	d.waitNoText("nothing matches")
	d.pressKeys("'zzzz")
	d.waitText("nothing matches")
	d.pressKeys("esc")
	d.waitNoText("nothing matches")
	if d.m.dialog.open != nil {
		t.Error("the palette is still open")
	}
}

func TestPaletteInsertsCommandAtPrompt(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("shell", "$ ")
	e.history.AddRun("make all and test")
	d := drive(t, e, 100, 30)
	d.waitText("$ ")
	d.pressKeys("ctrl+b", ":", "'make te")
	d.waitMatch(`command +\$ make all and test`)
	d.pressKeys("enter")
	d.waitTyped(s, "make all and test")
	d.waitText("$ make all and test")
}

func TestPaletteHandlesClicks(t *testing.T) {
	e := newFakeEngine()
	e.addSession("shell", "$ ")
	d := drive(t, e, 100, 30)
	d.waitText("$ ")
	d.pressKeys("ctrl+b", ":", "'start a session")
	d.waitText("start a session")
	for y, line := range strings.Split(d.screenText(), "\n") {
		if strings.Contains(line, "action") && strings.Contains(line, "start a session  ") {
			d.click(d.m.frame.box.X+10, y)
			break
		}
	}
	d.waitStarted(2)
	for _, key := range []string{":", "?", "T"} {
		d.pressKeys("ctrl+b", key)
		if d.m.dialog.open == nil {
			t.Fatalf("%s opens nothing", key)
		}
		d.screenText()
		if d.click(0, 29); d.m.dialog.open != nil {
			t.Errorf("a click beside what %s opens does not close it", key)
		}
	}
}

func TestPaletteListsOnlyAvailableActions(t *testing.T) {
	e := newFakeEngine()
	e.addSession("shell", "$ ")
	d := drive(t, e, 100, 30)
	d.waitText("$ ")
	d.pressKeys("ctrl+b", ":")
	for _, c := range d.m.dialog.open.(*palette).actions {
		if strings.Contains(c.Also, string(keymap.ProcessKill)) || strings.Contains(c.Also, string(keymap.Palette)) {
			t.Errorf("the palette of a terminal has %q", c.Text)
		}
	}
	d.m.dialog.Close()
	d.pressKeys("alt+2")
	d.pressKeys("ctrl+b", ":")
	if first := d.m.dialog.open.(*palette).actions[0]; !strings.Contains(first.Also, string(keymap.ProcessNew)) {
		t.Errorf("the palette of processes begins with %q", first.Text)
	}
}

func TestHelpStartsWithCurrentScopeAndIsSearchable(t *testing.T) {
	e := newFakeEngine()
	e.addSession("shell", "$ ")
	e.addProcess("web", "npm run dev")
	d := drive(t, e, 100, 24)
	d.waitText("$ ")
	d.pressKeys("alt+2")
	d.waitText("following")
	d.pressKeys("tab")
	d.waitText("wrap")
	d.pressKeys("?")
	d.waitText("follow the output")
	screen := d.screenText()
	if strings.Index(screen, "follow the output") > strings.Index(screen, "show the sessions") && strings.Contains(screen, "show the sessions") {
		t.Errorf("general keys come before those of the log:\n%s", screen)
	}
	d.pressKeys("/", "'sideways")
	d.waitText("wrap long lines, or scroll sideways")
	d.waitNoText("follow the output")
	d.pressKeys("esc")
	d.waitText("follow the output")
	d.pressKeys("/", "'zzz", "enter")
	d.waitText("no key with that")
	d.pressKeys("q")
	d.waitNoText("no key with that")
}

func TestThemePickerPreviewsSelection(t *testing.T) {
	e := newFakeEngine()
	e.addSession("shell", "$ ")
	d := drive(t, e, 100, 30)
	kept := 0
	d.m.o.KeepTheme = func(string) (string, error) {
		if kept++; kept > 1 {
			return "", errors.New("the disk is full")
		}
		return "/home/ann/config.toml", nil
	}
	d.waitText("$ ")
	before := d.m.theme.look
	d.pressKeys("ctrl+b", "T")
	d.waitText("follows the terminal")
	d.pressKeys("'nord")
	d.waitMatch(`▌.*nord`)
	if d.m.theme.look == before {
		t.Error("nord looks as before")
	}
	d.pressKeys("esc")
	if d.m.theme.look != before {
		t.Error("the look did not come back")
	}
	if kept > 0 {
		t.Error("a theme is saved that was not chosen")
	}
	d.pressKeys("ctrl+b", "T", "'nord", "enter")
	d.waitText("saved theme nord to ~/config.toml")
	d.changeSettings(func(s *Settings) { s.Theme = "nord" })
	d.waitText("saved theme nord to ~/config.toml")
	nord := d.m.theme.look
	d.pressKeys("ctrl+b", "T", "'latte", "enter")
	d.waitText("for this run only: the disk is full")
	if d.m.theme.look == nord {
		t.Error("what was chosen does not hold")
	}
}

func TestChangedSettingsApplyAtOnce(t *testing.T) {
	e := newFakeEngine()
	e.addSession("shell", "$ ")
	d := drive(t, e, 100, 30)
	d.waitText("$ ")
	bindings, err := keymap.DefaultBindings().Rebind(map[keymap.Action][]string{keymap.Prefix: {"ctrl+a"}})
	if err != nil {
		t.Fatal(err)
	}
	before := d.m.theme.look
	d.changeSettings(func(s *Settings) { s.Bindings, s.Theme, s.Mouse = bindings, "nord", false })
	d.waitText("config reloaded")
	if d.m.theme.look == before || d.m.mouseMode() != 0 {
		t.Error("look or mouse are as before")
	}
	d.update(settingsMsg{Fault: "config.toml line 3: there is no key"})
	d.waitText("config.toml line 3")
	d.pressKeys("ctrl+a", "c")
	d.waitStarted(2)
	d.changeSettings(func(s *Settings) { s.Theme = "nord" })
	d.waitText("config reloaded")
	if d.m.faultNote() != "" {
		t.Error("the fault is still told of")
	}
	d.pressKeys("ctrl+b", "c")
	d.waitStarted(3)
}

func TestTipsAreShownUntilHidden(t *testing.T) {
	e := newFakeEngine()
	e.addSession("shell", "$ ")
	d := drive(t, e, 80, 24)
	hidden := make(chan struct{})
	d.m.o.ShowTips, d.m.o.HideTips = true, func() { close(hidden) }
	d.m.relayout()
	d.waitText("New here?")
	for _, key := range []string{"ctrl+b, then  : find", "esc hide"} {
		d.waitText(key)
	}
	d.pressKeys("ctrl+b", "esc")
	d.waitNoText("New here?")
	<-hidden
	d.m.o.ShowTips, d.m.o.HideTips = true, nil
	d.m.relayout()
	d.waitText("New here?")
	d.click(3, 22)
	d.waitNoText("New here?")
	d.m.o.ShowTips = true
	d.m.setSize(80, 16)
	d.waitNoText("New here?")
}

func TestPaletteListsBookmarks(t *testing.T) {
	e := newFakeEngine()
	e.addSession("shell", "$ ")
	d := drive(t, e, 100, 30)
	d.waitText("$ ")
	d.pressKeys("ctrl+b", ":")
	u := d.m.dialog.open.(*palette)
	answer := func(a paletteAnswer) { d.update(panes.Result(func() tea.Cmd { return u.applyAnswer(a, nil) })) }
	answer(paletteAnswer{bookmarks: []string{"/home/ann/src/web"}})
	d.pressKeys("'fol web")
	d.waitText("~/src/web")
	d.pressKeys("enter")
	d.waitUntil("the files are shown", func() bool {
		return d.m.views.action() == keymap.ViewFiles && d.m.files.Folder() == "/home/ann/src/web"
	})
	answer(paletteAnswer{commands: []api.HistoryRow{{}}}) // its palette is closed by now
}

func TestPaletteReportsFailedSearchAndKeepsItsCommands(t *testing.T) {
	e := newFakeEngine()
	e.addSession("shell", "$ ")
	d := drive(t, e, 100, 30)
	d.waitText("$ ")
	d.pressKeys("ctrl+b", ":")
	u := d.m.dialog.open.(*palette)
	d.waitUntil("the first answer is there", func() bool { return u.answered })
	answer := func(a paletteAnswer, err error) {
		d.m.notices.toast.ClearMessage()
		d.update(panes.Result(func() tea.Cmd { return u.applyAnswer(a, err) }))
	}
	commands := []api.HistoryRow{{Command: api.Command{Command: "make test"}}}
	failed := api.Errorf(api.CodeUnavailable, "search history: disk I/O error")
	for _, first := range []bool{true, false} {
		u.answered, u.answer = !first, paletteAnswer{}
		answer(paletteAnswer{bookmarks: []string{"/src/web"}}, failed)
		if d.m.notices.toast.text != failed.Message || len(u.folders) != 1 || len(u.commands) != 0 {
			t.Errorf("first %v: said %q, %d folders, %d commands", first, d.m.notices.toast.text, len(u.folders), len(u.commands))
		}
		answer(paletteAnswer{commands: commands}, nil)
		u.stale = true
		answer(paletteAnswer{}, failed)
		if d.m.notices.toast.text != failed.Message || len(u.commands) != 1 {
			t.Errorf("first %v, later: said %q, %d commands", first, d.m.notices.toast.text, len(u.commands))
		}
		if !u.asking {
			t.Error("a change of the history during the failed search is lost")
		}
		d.waitUntil("the history is searched again", func() bool { return !u.asking })
	}
	d.pressKeys("esc")
	answer(paletteAnswer{}, failed)
	if text := d.m.notices.toast.text; text != "" {
		t.Errorf("said %q after the palette was closed", text)
	}
}

func TestStatusBarOfPresetShowsDirectKeysAndPrefix(t *testing.T) {
	e := newFakeEngine()
	e.addSession("shell", "$ ")
	d := drive(t, e, 80, 24)
	d.waitText("$ ")
	bindings, err := keymap.DefaultBindings().Preset("zellij", nil)
	if err != nil {
		t.Fatal(err)
	}
	d.changeSettings(func(s *Settings) { s.Bindings = bindings })
	d.m.notices.toast.ClearMessage()
	d.m.frame.redraw()
	for _, hint := range []string{"alt+n split", "alt+f zoom", "ctrl+g then", "t new", "q detach", "? keys"} {
		d.waitText(hint)
	}
}

func TestOpenPaletteAddsNewCommandsAndKeepsSelection(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("shell", "$ ")
	e.history.AddRun("make test")
	e.history.AddRun("make all")
	d := drive(t, e, 100, 30)
	d.waitText("$ ")
	d.pressKeys("ctrl+b", ":", "'make")
	d.waitText("make test")
	u := d.m.dialog.open.(*palette)
	chosen := func() string { c, _ := u.List.Selected(); return c.Text }
	for range 10 {
		if chosen() == "make test" {
			break
		}
		d.pressKeys("down")
	}
	e.history.AddRun("make it")
	e.history.AddRun("make so")
	d.waitText("make so")
	d.waitText("make it")
	if got := chosen(); got != "make test" {
		t.Errorf("the cursor is on %q", got)
	}
	d.pressKeys("enter")
	d.waitTyped(s, "make test")
}

func TestOpenPaletteAddsNewProcessesAndKeepsSelection(t *testing.T) {
	e := newFakeEngine()
	e.addSession("shell", "$ ")
	e.addProcess("web", "the first\n")
	second := e.addProcess("web", "the second\n")
	d := drive(t, e, 100, 30)
	d.waitText("$ ")
	d.pressKeys("ctrl+b", ":", "'web")
	u := d.m.dialog.open.(*palette)
	d.waitUntil("the engine has answered", func() bool { return u.answered })
	d.waitUntil("the cursor is on the second", func() bool {
		c, _ := u.List.Selected()
		if c.ID != second.process.ID {
			d.pressKeys("down")
		}
		return c.ID == second.process.ID
	})
	if _, err := api.ProcessStart.Call(t.Context(), e, api.ProcessStartInput{Command: []string{"web"}, Name: "web-three"}); err != nil {
		t.Fatal(err)
	}
	d.waitText("web-three")
	d.pressKeys("enter")
	d.waitText("the second")
}

func TestPaletteFindsActionsByNamesUsedElsewhere(t *testing.T) {
	e := newFakeEngine()
	e.addSession("shell", "$ ")
	d := drive(t, e, 100, 30)
	d.waitText("$ ")
	for words, want := range map[string]keymap.Action{
		"fullscreen": keymap.PaneZoom, "maximize": keymap.PaneZoom, "kill": keymap.SessionKill, "quit": keymap.Detach,
		"exit": keymap.Detach, "scrollback": keymap.ScrollMode, "copy-mode": keymap.ScrollMode, "vertical": keymap.SplitBeside, "vsplit": keymap.SplitBeside,
		"horizontal": keymap.SplitBelow, "detach-client": keymap.Detach, "rename-window": keymap.TabRename, "new-window": keymap.SessionNew,
		"last-window": keymap.SessionLast, "display-panes": keymap.PaneNumbers, "choose-tree": keymap.FocusList, "shortcuts": keymap.Help,
		"break-pane": keymap.PaneBreak, "colors": keymap.ThemePick, "select-layout": keymap.LayoutShow, "atuin": keymap.HistoryInsert,
	} {
		d.pressKeys("ctrl+b", ":", "'"+words)
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
		d.pressKeys("esc")
	}
	d.pressKeys("ctrl+b", ":", "'fullscreen")
	d.waitMatch(`▌ action +zoom the pane`)
	d.pressKeys("esc", "alt+2", ":", "'respawn")
	if c, ok := d.m.dialog.open.(*palette).List.Selected(); ok && c.ID != string(keymap.ProcessRestart) {
		t.Errorf("respawn finds %q", c.ID)
	}
}

func TestPaletteListsActionsBeforeExitedSessions(t *testing.T) {
	e := newFakeEngine()
	e.addSession("shell", "$ ")
	gone := e.addSession("config")
	status := 1
	gone.exitWith(api.StateExited, &status)
	gone.update(func(p *api.Process) { p.Command = "env XDG_CONFIG_HOME=/c settings" })
	d := drive(t, e, 100, 30)
	d.m.o.CreateConfig = func() (string, error) { return "/home/ann/.config/tandem/config.toml", nil }
	d.waitText("$ ")
	for query, want := range map[string]string{
		"config": "config.edit", "settings": "config.edit", "edit configuration": "config.edit", "engine log": "engine.log",
	} {
		d.pressKeys("ctrl+b", ":", "'"+query)
		if c, _ := d.m.dialog.open.(*palette).List.Selected(); c.ID != want {
			t.Errorf("%s finds %s %q first", query, c.Kind, c.Text)
		}
		d.pressKeys("esc")
	}
	d.pressKeys("ctrl+b", ":", "'config", "down")
	if c, _ := d.m.dialog.open.(*palette).List.Selected(); c.ID != gone.process.ID {
		t.Errorf("the exited session comes after %s %q", c.Kind, c.Text)
	}
}

func TestPaletteOpensConfigurationInEditor(t *testing.T) {
	t.Setenv("VISUAL", "vim")
	e := newFakeEngine()
	e.addSession("shell", "$ ")
	d := drive(t, e, 100, 30)
	var fault error
	d.m.o.CreateConfig = func() (string, error) { return "/home/ann/.config/tandem/config.toml", fault }
	d.waitText("$ ")
	d.pressKeys("alt+2", ":", "'settings", "enter")
	d.waitStarted(2)
	if got := e.started[0].Command; !slices.Equal(got, []string{"vim", "/home/ann/.config/tandem/config.toml"}) {
		t.Errorf("it starts %q", got)
	}
	fault = errors.New("write configuration: permission denied")
	d.pressKeys("ctrl+b", ":", "'settings", "enter")
	d.waitText("permission denied")
	d.waitStarted(2)
}

func TestPaletteShowsEndOfEngineLog(t *testing.T) {
	e := newFakeEngine()
	e.dataDir = t.TempDir()
	log := strings.Repeat("an old line\n", 20_000) + "the newest line\n"
	if err := os.WriteFile(filepath.Join(e.dataDir, "engine.log"), []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	e.addSession("shell", "$ ")
	d := drive(t, e, 100, 30)
	d.waitText("$ ")
	d.pressKeys("ctrl+b", ":", "'engine log", "enter")
	d.waitText("the newest line")
}

func TestPaletteListsRecentChoicesFirst(t *testing.T) {
	e := newFakeEngine()
	e.addSession("shell", "$ ")
	web := e.addProcess("web", "npm run dev")
	d := drive(t, e, 100, 30)
	d.waitText("$ ")
	kept := make(chan []string, 3)
	d.m.o.Recent, d.m.o.KeepRecent = []string{"session gone", "action layout.equal"}, func(names []string) { kept <- names }
	first := func(n int) (ids []string) {
		for _, c := range d.m.dialog.open.(*palette).orderChoices()[:n] {
			ids = append(ids, c.ID)
		}
		return ids
	}
	d.pressKeys("ctrl+b", ":")
	if got := first(1); got[0] != string(keymap.LayoutEqual) {
		t.Errorf("first is %q", got)
	}
	d.pressKeys("'zoom the pane", "enter", "ctrl+b", "z", "ctrl+b", ":", "'proc web", "enter")
	want := []string{"process " + web.process.ID, "action pane.zoom", "session gone", "action layout.equal"}
	var last []string
	d.waitUntil("it is kept", func() bool {
		select {
		case last = <-kept:
		default:
		}
		return slices.Equal(last, want)
	})
	d.pressKeys("alt+1", "ctrl+b", ":")
	d.waitMatch(`▌ process +● web.*\n.* action +zoom the pane`)
	if got := first(3); !slices.Equal(got, []string{web.process.ID, string(keymap.PaneZoom), string(keymap.LayoutEqual)}) {
		t.Errorf("first are %q", got)
	}
	if shown, all := d.m.dialog.open.(*palette).List.Len(); shown != all || all != len(d.m.dialog.open.(*palette).orderChoices()) {
		t.Errorf("%d of %d are shown", shown, all)
	}
}

func TestLargeDialogsLeaveNoStripsOfTheView(t *testing.T) {
	for key, size := range map[string][2]int{"?": {120, 36}, ":": {80, 16}} {
		e := newFakeEngine()
		e.addSession("shell", "$ ")
		d := drive(t, e, size[0], size[1])
		d.waitText("$ ")
		d.pressKeys("ctrl+b", key)
		rows := strings.Split(d.screenText(), "\n")
		for _, row := range rows[:len(rows)-1] { // without the status bar
			if beside := strings.Trim(row, " "); beside != "" && !strings.ContainsAny(beside[:3], "╭│╰") || strings.Contains(beside, "│ │") {
				t.Errorf("%s at %v leaves %q", key, size, row)
			}
		}
	}
}
