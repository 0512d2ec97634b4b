package files

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/text"
	"tandem/panes/panestest"
)

// A keepEngine holds one file.
type keepEngine struct {
	panes.Engine
	text string
}

func (e *keepEngine) ReadFile(context.Context, string, int64, int64) (api.FilesReadOutput, error) {
	return api.FilesReadOutput{Text: e.text}, nil
}

func (e *keepEngine) WriteFile(_ context.Context, _ string, data []byte, _ bool) error {
	e.text = string(data)
	return nil
}

func TestTabsKeepTheirOwnFolderAndCursor(t *testing.T) {
	f, e := newShownPane("/home/ann/a")
	f.setListing("x", "y")
	do := f.Actions()
	do[keymap.FilesTabNext]()
	if !strings.Contains(e.Said, "only tab") {
		t.Errorf("said %q", e.Said)
	}
	do[keymap.MoveDown]()
	do[keymap.FilesTab]()
	f.GoFolder("/b", "")
	f.setListing("z")
	do[keymap.FilesTab]()
	f.GoFolder("/c/a", "")
	f.setListing()
	if got := f.Draw()[0]; !strings.Contains(got, " 1 ann/a  2 b  3 c/a ") || text.Width(got) != 100 {
		t.Errorf("the tabs are %q", got)
	}
	do[keymap.FilesTabNext]()
	f.setListing("x", "y")
	if f.Folder() != "/home/ann/a" || f.folder.list.CursorPath() != "/home/ann/a/y" {
		t.Errorf("after the last tab comes %s on %s", f.Folder(), f.folder.list.CursorPath())
	}
	do[keymap.FilesTabBack]()
	do[keymap.FilesTabClose]()
	if f.Folder() != "/b" || len(f.tabs.all) != 2 {
		t.Errorf("after closing, %s is shown of %d tabs", f.Folder(), len(f.tabs.all))
	}
	f.setListing("z")
	do[keymap.FilesBack]()
	if f.Folder() != "/home/ann/a" {
		t.Errorf("back went to %s", f.Folder())
	}
}

func TestMouseShowsAndClosesTabs(t *testing.T) {
	f, _ := newShownPane("/a")
	f.setListing("x")
	for _, path := range []string{"/b", "/c"} {
		f.tabs.openTab()
		f.GoFolder(path, "")
		f.setListing("x")
	}
	f.Draw()
	press := func(x int, b keys.Button) { f.Mouse(keys.Mouse{Kind: keys.MouseDown, Button: b, X: x}) }
	if press(1, keys.ButtonLeft); f.Folder() != "/a" {
		t.Errorf("a click on the first shows %s", f.Folder())
	}
	if press(6, keys.ButtonMiddle); f.Folder() != "/a" || len(f.tabs.all) != 2 || f.tabs.all[1].path != "/c" {
		t.Errorf("the middle button leaves %+v", f.tabs.all)
	}
	f.Draw()
	if press(90, keys.ButtonLeft); f.Folder() != "/a" {
		t.Errorf("a click beside them shows %s", f.Folder())
	}
}

func TestNarrowScreenShowsCurrentTab(t *testing.T) {
	f, _ := newShownPane("/first")
	for range 30 {
		f.tabs.openTab()
	}
	f.GoFolder("/last", "")
	f.Resize(40, 20)
	for range 2 {
		if got := f.Draw(); !strings.Contains(got[0], " 31 last ") || text.Width(got[0]) != 40 || len(got) != 20 {
			t.Errorf("%d rows, the tabs are %q", len(got), got[0])
		}
		f.GoFolder("/last", "") // drawing twice gives the same
	}
	f.tabs.showTab(0)
	if got := f.Draw()[0]; !strings.Contains(got, " 1 first ") {
		t.Errorf("the tabs are %q", got)
	}
}

func TestTabsAreRestoredAtNextStart(t *testing.T) {
	engine := &keepEngine{}
	start := func(folder string) *Pane {
		e := &panestest.Env{SessionID: "1", SessionFolder: folder}
		e.API = engine
		e.Known.Connected, e.Known.Info.DataDir = true, "/data"
		f := New(e)
		f.Resize(100, 24)
		runAll(f.tabs.fetch())
		return f
	}
	f := start("/a")
	f.Show()
	runAll(f.tabs.fetch())
	if engine.text != "" {
		t.Errorf("a single tab was saved as %q", engine.text)
	}
	f.tabs.openTab()
	f.GoFolder("/odd\xff", "")
	runAll(f.tabs.fetch())

	again := start("/elsewhere")
	again.Show()
	if again.Folder() != "/odd\xff" || len(again.tabs.all) != 2 || again.tabs.all[0].path != "/a" {
		t.Errorf("the next start shows %q of %+v", again.Folder(), again.tabs.all)
	}
	again.tabs.closeCurrent()
	again.SaveTabs(t.Context())
	last := start("/session")
	last.Show()
	if last.Folder() != "/session" || last.tabs.hasSeveral() {
		t.Errorf("without tabs it shows %q", last.Folder())
	}
}

// A write may still be running when the user leaves. It must not replace the result of the final
// write, which is newer.
func TestLateWriteDoesNotReplaceFinalTabs(t *testing.T) {
	engine := &keepEngine{text: " /a\n>/b\n"}
	e := &panestest.Env{SessionID: "1", SessionFolder: "/session"}
	e.API = engine
	e.Known.Connected, e.Known.Info.DataDir = true, "/data"
	f := New(e)
	f.Resize(100, 24)
	runAll(f.tabs.fetch())
	f.Show()
	f.tabs.showTab(0)
	late := f.tabs.fetch()
	f.tabs.showTab(1)
	f.SaveTabs(t.Context())
	runAll(late)
	if engine.text != " /a\n>/b\n" {
		t.Errorf("saved %q", engine.text)
	}
}

func TestRestoringTabsKeepsVisibleFolder(t *testing.T) {
	f, _ := newShownPane("/session")
	f.tabs.restoreTabs(" /a\n>/b\n")
	if f.Folder() != "/session" || f.tabs.fileText() != " /a\n>/session\n" {
		t.Errorf("it shows %s with %q", f.Folder(), f.tabs.fileText())
	}
}

func TestViewWaitsForTabsOfLastStart(t *testing.T) {
	e := &panestest.Env{SessionID: "1", SessionFolder: "/session"}
	e.API = &keepEngine{text: " /a\n>/b\n"}
	e.Known.Connected, e.Known.Info.DataDir = true, "/data"
	f := New(e)
	f.Resize(100, 24)
	f.Show()
	f.Actions()[keymap.FilesHome]()
	if e.Pending == nil || f.Folder() != "" {
		t.Errorf("it shows %q", f.Folder())
	}
	runAll(f.tabs.fetch())
	f.Fetch()
	if f.Folder() != "/b" {
		t.Errorf("then it shows %q", f.Folder())
	}
	if e.RunPending(); e.Pending != nil || f.Folder() != e.Home() {
		t.Errorf("the action that has waited leads to %q", f.Folder())
	}
	e.Known.Connected = false
	f = New(e)
	f.Show()
	e.Known.Connected = true
	runAll(f.Fetch())
	if f.Fetch(); f.Folder() != "/b" {
		t.Errorf("shown before there was an engine, it shows %q", f.Folder())
	}
}

func TestOpenWithOffersInstalledPrograms(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "ed -s")
	there := func(name string) (string, error) { return "/bin/" + name, nil }
	none := func(string) (string, error) { return "", context.Canceled }
	desktop := func(name string) string { return map[string]string{"DISPLAY": ":0", "PAGER": "most -x"}[name] }
	bare := func(string) string { return "" }
	commands := func(programs []program) (all []string) {
		for _, p := range programs {
			all = append(all, strings.Join(p.command, "|"))
		}
		return all
	}
	own := []string{"mpv", "gimp {} &"}
	got := commands(programsFor([]string{"/d/a b"}, own, desktop, there))
	want := []string{"/bin/sh|-c|mpv '/d/a b'", "/bin/sh|-c|gimp '/d/a b' &", "ed|-s|/d/a b", "most|-x|/d/a b", "/bin/xdg-open|/d/a b"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = commands(programsFor([]string{"/a", "/b"}, nil, desktop, there))
	if diff := cmp.Diff([]string{"ed|-s|/a|/b", "most|-x|/a|/b"}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"ed|-s|/a"}, commands(programsFor([]string{"/a"}, nil, bare, none))); diff != "" {
		t.Error(diff)
	}
}

func TestOpenWithRunsProgramInSession(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "ed")
	f, e := newShownPane("/d")
	f.setListing("a")
	f.Actions()[keymap.FilesOpenWith]()
	e.Shown.Do(e, keymap.Accept)
	if diff := cmp.Diff([]string{"ed", "/d/a"}, e.Visited); diff != "" {
		t.Error(diff)
	}
}
