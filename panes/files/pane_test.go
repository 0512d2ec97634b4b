package files

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/files/entries"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/field"
	"tandem/panes/panestest"
	"tandem/tests/seed"
)

// newShownPane returns a visible pane whose folder is still being listed.
func newShownPane(folder string) (*Pane, *panestest.Env) {
	e := &panestest.Env{SessionID: "1", SessionFolder: folder}
	e.Known.Connected = true
	f := New(e)
	f.Resize(100, 24)
	f.Show()
	return f, e
}

// makeEntries returns files with names, or folders for names ending in a slash.
func makeEntries(names ...string) (all []api.FileInfo) {
	for _, name := range names {
		f := api.FileInfo{Name: strings.TrimSuffix(name, "/"), Type: "file"}
		if f.Name != name {
			f.Type = "dir"
		}
		all = append(all, f)
	}
	return all
}

// setListing completes the listing.
func (f *Pane) setListing(names ...string) {
	set := (*entries.Set)(nil).With(makeEntries(names...))
	f.folder.handleListing(listing{entries: set, rows: set.Arrange(f.folder.order)}, nil)
	f.env.(*panestest.Env).RunPending()
}

func TestViewStartsInFolderOfSession(t *testing.T) {
	f, _ := newShownPane("/home/ann/src")
	f.setListing("a", "b")
	if f.Folder() != "/home/ann/src" {
		t.Errorf("shown folder is %s", f.Folder())
	}
	if got := strings.Join(f.Draw(), "\n"); !strings.Contains(got, "~/src") {
		t.Errorf("drew %q", got)
	}
}

func TestEditRunsEditorInSession(t *testing.T) {
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", "ed")
	f, e := newShownPane("/d")
	f.setListing("a")
	f.Actions()[keymap.FilesEdit]()
	if diff := cmp.Diff([]string{"ed", "/d/a"}, e.Visited); diff != "" {
		t.Error(diff)
	}
}

func TestHintsNameOnlyBoundKeys(t *testing.T) {
	f, e := newShownPane("/d")
	b, err := keymap.DefaultBindings().Rebind(map[keymap.Action][]string{keymap.Accept: {}, keymap.Cancel: {"f6"}})
	if err != nil {
		t.Fatal(err)
	}
	e.Keys = &b
	for _, o := range []dialog.Overlay{f.folder.newPathPrompt("x", "", nil), &fileFinder{env: e}, &dialog.Question{Replies: []dialog.Reply{{Key: "s"}}}} {
		for _, h := range o.(interface {
			Hints(dialog.Host) []keymap.Hint
		}).Hints(e) {
			if strings.Contains(h.Key, "enter") || strings.Contains(h.Key, "esc") {
				t.Errorf("%T offers %q for %q", o, h.Key, h.Does)
			}
		}
	}
}

func TestResultOfEarlierSearchIsIgnored(t *testing.T) {
	f, e := newShownPane("/d")
	f.setListing("a")
	v := &f.viewer
	v.startSearch("first", regexp.MustCompile("first"))
	first := v.search.serial
	v.startSearch("second", regexp.MustCompile("second"))
	v.showHits(first, []int64{2, 3}, nil)
	if v.search.stop == nil || v.preview.NextHit(false) {
		t.Error("the first result was used")
	}
	v.showHits(v.search.serial, nil, nil)
	if v.search.stop != nil || e.Said != "no match" {
		t.Errorf("said %q", e.Said)
	}
}

func TestPathSuggestionsBelongToTypedFolder(t *testing.T) {
	f, e := newShownPane("/d")
	p := f.folder.newPathPrompt("Go to", "/d/o", nil)
	e.Shown = p
	p.Look()
	p.setPath("/")
	p.Look() // the answer comes late
	p.setPath("/d/od")
	p.Look()
	p.setNames("/d/", []string{"odd/", "other"})
	p.setNames("/", []string{"tmp/"})
	if got, _ := p.Field.Suggestions(); len(got) != 1 || got[0] != "/d/odd/" {
		t.Errorf("suggestions %q", got)
	}
}

func TestPathPromptRejectsOverlongPath(t *testing.T) {
	f, _ := newShownPane("/d")
	p := f.folder.newPathPrompt("Go to", "", nil)
	if p.setPath("/" + strings.Repeat("\xff", 4000) + "/"); p.Field.Text() != "" {
		t.Errorf("%d bytes of it were set", len(p.Field.Text()))
	}
	if p.setPath("/a\xff"); p.Field.Text() != `/a\xff` {
		t.Errorf("the short path became %q", p.Field.Text())
	}
}

func TestCommonPrefixHasWholeCharacters(t *testing.T) {
	for want, names := range map[string][]string{"x": {"xé", "xè"}, "a\xff": {"a\xff1", "a\xff2"}, "": {"a", "b"}, "same": {"same"}, "é": {"é1", "é"}} {
		if got := field.CommonPrefix(names); got != want {
			t.Errorf("%q have %q in common, not %q", names, got, want)
		}
	}
}

func TestShellWordSurvivesAnyBytes(t *testing.T) {
	for _, name := range []string{"bad\xff", "a\nb", "it's \\ here", "$(touch x)", "\x1b[2J", "é", "-n", "%s%%", " a ", "\u202ex", "\xc3", `\0101`} {
		out, err := exec.Command("/bin/sh", "-c", "printf %s "+shellWord("/"+name)).Output()
		if err != nil || string(out) != "/"+name {
			t.Errorf("%q as %s is read as %q, %v", name, shellWord("/"+name), out, err)
		}
	}
}

func TestShellWordHasVisibleCharacters(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		name := string(rapid.SliceOf(rapid.ByteRange(1, 255)).Draw(t, "name"))
		for _, c := range shellWord(name) {
			if c < 0x20 || c == 0x7f || c == '\ufffd' && !strings.ContainsRune(name, '\ufffd') {
				t.Fatalf("%q is written %q", name, shellWord(name))
			}
		}
	})
}

func TestOrderedRenamesReachTheirNames(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.IntRange(0, 12), 0, 10, rapid.ID).Draw(t, "names")
		become := rapid.SliceOfNDistinct(rapid.IntRange(0, 12), len(names), len(names), rapid.ID).Draw(t, "become")
		have, want := map[string]string{}, map[string]string{}
		var items []api.FileMove
		for i, name := range names {
			from, to := fmt.Sprintf("/d/%d", name), fmt.Sprintf("/d/%d", become[i])
			have[from], want[to] = from, from
			if from != to {
				items = append(items, api.FileMove{Path: from, To: to})
			}
		}
		for _, move := range orderRenames(items) {
			if have[move.To] != "" || have[move.Path] == "" {
				t.Fatalf("%+v of %v with %v", move, items, have)
			}
			have[move.To] = have[move.Path]
			delete(have, move.Path)
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestCycleOfRenamesUsesTemporaryName(t *testing.T) {
	moves := orderRenames([]api.FileMove{{Path: "/a", To: "/b"}, {Path: "/b", To: "/c"}, {Path: "/c", To: "/a"}, {Path: "/d", To: "/e"}})
	have := map[string]string{"/a": "a", "/b": "b", "/c": "c", "/d": "d"}
	for _, move := range moves {
		if have[move.To] != "" {
			t.Fatalf("%+v: the name is taken", move)
		}
		have[move.To] = have[move.Path]
		delete(have, move.Path)
	}
	for path, want := range map[string]string{"/b": "a", "/c": "b", "/a": "c", "/e": "d"} {
		if have[path] != want {
			t.Errorf("%s is %q, want %q", path, have[path], want)
		}
	}
	for _, text := range []string{"x\n", "x\nx\n", "x\n\n"} {
		if _, err := parseRenames("/", []string{"/a", "/b"}, text, false); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestConfirmRenamesShowsTypedPaths(t *testing.T) {
	f, e := newShownPane("/d")
	f.setListing("img1.txt", "img2.txt")
	items, err := parseRenames("/d", []string{"/d/img1.txt", "/d/img2.txt"}, "sub/img1.txt\n../up.txt\n", false)
	if err != nil {
		t.Fatal(err)
	}
	f.act.confirmRenames(items)
	q, ok := e.Shown.(*dialog.Question)
	if !ok || !slices.Equal(q.Lines, []string{"img1.txt → sub/img1.txt", "img2.txt → /up.txt"}) {
		t.Errorf("asked %+v", e.Shown)
	}
}

func TestFailedEditorRenamesNothing(t *testing.T) {
	list := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(list, []byte("a\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	edit := renameEditor(list, []string{"sh", "-c", `echo changed >"$0"; exit 1`, list})
	if err := exec.CommandContext(t.Context(), edit[0], edit[1:]...).Run(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	f, e := newShownPane("/d")
	items, err := parseRenames("/d", []string{"/d/a", "/d/b"}, string(text), false)
	if f.act.confirmRenames(items); len(items) > 0 || err != nil || e.Said != "nothing renamed" {
		t.Errorf("%v, %v, %q", items, err, e.Said)
	}
}

func TestSlowFolderShowsNote(t *testing.T) {
	f, _ := newShownPane("/d")
	f.folder.saySlow()
	if f.folder.list.Note != "reading the folder…" {
		t.Errorf("said %q", f.folder.list.Note)
	}
	f.setListing("a")
	if f.folder.list.Note != "" {
		t.Errorf("still shows the note %q", f.folder.list.Note)
	}
}

func TestClearRemovesFilterBeforeMarks(t *testing.T) {
	f, _ := newShownPane("/d")
	f.setListing("a", "b", "c")
	f.Actions()[keymap.Mark]()
	f.folder.order.Filter = "b"
	f.Actions()[keymap.Clear]()
	if len(f.folder.list.Marks) != 1 || f.folder.order.Filter != "" {
		t.Errorf("%d are marked, the filter is %q", len(f.folder.list.Marks), f.folder.order.Filter)
	}
	f.Actions()[keymap.Clear]()
	if len(f.folder.list.Marks) != 0 {
		t.Error("the mark stays")
	}
}

func TestMarkWaitsUntilFolderIsListed(t *testing.T) {
	f, e := newShownPane("/d")
	f.Actions()[keymap.Mark]()
	if e.Pending == nil || len(f.folder.list.Marks) != 0 || f.folder.list.Note != "reading the folder…" {
		t.Errorf("waits %v, %v are marked, it says %q", e.Pending != nil, f.folder.list.Marks, f.folder.list.Note)
	}
	f.setListing("a", "b", "c")
	if diff := cmp.Diff([]string{"/d/a"}, f.folder.list.Marks.Sorted()); diff != "" || e.Pending != nil {
		t.Error(diff)
	}
}

func TestMarkAllWaitsForWholeFolder(t *testing.T) {
	f, _ := newShownPane("/d")
	part := (*entries.Set)(nil).With(makeEntries("a", "b"))
	f.folder.handleListing(listing{entries: part, rows: part.Arrange(f.folder.order), omitted: 1, partial: true}, nil)
	if note, _ := f.Note(); note != "reading the folder…" {
		t.Errorf("said %q", note)
	}
	f.Actions()[keymap.FilesMarkAll]()
	if len(f.folder.list.Marks) != 0 {
		t.Errorf("%v are marked already", f.folder.list.Marks)
	}
	f.setListing("a", "b", "c")
	if len(f.folder.list.Marks) != 3 {
		t.Errorf("%v are marked", f.folder.list.Marks)
	}
}

func TestPendingActionIsDroppedWhenFolderIsLeft(t *testing.T) {
	for name, end := range map[string]func(*Pane){
		"left":       func(f *Pane) { f.GoFolder("/e", "") },
		"hidden":     (*Pane).Hide,
		"unreadable": func(f *Pane) { f.folder.handleListing(listing{}, os.ErrPermission) },
	} {
		f, e := newShownPane("/d")
		f.folder.list.Marks["/x"] = true
		f.Actions()[keymap.FilesErase]()
		end(f)
		e.RunPending()
		if e.Pending != nil || e.Shown != nil {
			t.Errorf("%s: it waits %v, and asks %v", name, e.Pending != nil, e.Shown)
		}
	}
}

func TestMoveLastWaitsForWholeFolder(t *testing.T) {
	f, e := newShownPane("/d")
	part := (*entries.Set)(nil).With(makeEntries("a", "b"))
	f.folder.handleListing(listing{entries: part, rows: part.Arrange(f.folder.order), omitted: 1, partial: true}, nil)
	f.Actions()[keymap.MoveLast]()
	e.RunPending()
	if e.Pending == nil {
		t.Fatal("it does not wait for the rest of the folder")
	}
	f.setListing("a", "b", "c", "d")
	if got := f.folder.list.CursorPath(); got != "/d/d" {
		t.Errorf("the cursor is on %s", got)
	}
}

func TestPartlyListedFolderIsNotCalledEmpty(t *testing.T) {
	f, _ := newShownPane("/d")
	part := (*entries.Set)(nil).With(makeEntries(".a"))
	f.folder.handleListing(listing{entries: part, rows: part.Arrange(f.folder.order), omitted: 1, partial: true}, nil)
	if f.folder.list.Note != "reading the folder…" {
		t.Errorf("said %q", f.folder.list.Note)
	}
}

func TestAnswerForEarlierFolderIsDropped(t *testing.T) {
	f, _ := newShownPane("/d")
	answer := onVisit(&f.folder, func(context.Context, panes.Engine) (int, error) { return 1, nil }, func(int, error) tea.Cmd {
		t.Error("the answer was used")
		return nil
	})
	later := f.folder.visit.runAfter(0, func() { t.Error("the delayed function ran") })
	f.GoFolder("/e", "")
	answer().(panes.Result)()
	later().(panes.Result)()
}

func TestRightArrowAcceptsPathSuggestion(t *testing.T) {
	f, e := newShownPane("/d")
	p := f.folder.newPathPrompt("Go to", "/d/o", nil)
	e.Shown = p
	p.Look()
	p.setNames("/d/", []string{"odd/", "other"})
	p.Type(e, tea.KeyPressMsg{Code: tea.KeyDown})
	p.Type(e, tea.KeyPressMsg{Code: tea.KeyRight})
	if got := p.Field.Text(); got != "/d/other" {
		t.Errorf("the path is %q", got)
	}
	p.setPath("/d/o")
	p.Look()
	p.Type(e, tea.KeyPressMsg{Code: tea.KeyLeft})
	p.Type(e, tea.KeyPressMsg{Code: tea.KeyRight}) // moves the cursor to the end
	if got := p.Field.Text(); got != "/d/o" {
		t.Errorf("inside the path it becomes %q", got)
	}
}

func TestFilterSuggestsNamesOfFolder(t *testing.T) {
	f, e := newShownPane("/d")
	f.setListing("main.go", "main_test.go", "a b")
	f.folder.askFilter()
	p := e.Shown.(*dialog.Prompt)
	for _, r := range "main_" {
		p.Type(e, tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	p.Type(e, tea.KeyPressMsg{Code: tea.KeyTab})
	if f.folder.order.Filter != "main_test.go" {
		t.Errorf("the filter is %q", f.folder.order.Filter)
	}
}

func TestPathPromptNamesMachineAsTheTitleDoes(t *testing.T) {
	f, e := newShownPane("/box:/src")
	e.Known.Machines = []panes.Machine{{Machine: api.Machine{Name: "box"}}}
	for path, want := range map[string]string{"/box:/src/": "box:/src/", "/box:": "box:/", "/crate:/x": "/crate:/x", "/src": "/src"} {
		if got := f.folder.newPathPrompt("Go to", path, nil).Field.Text(); got != want {
			t.Errorf("%s is shown as %s, not %s", path, got, want)
		}
	}
	p := f.folder.newPathPrompt("Go to", "", nil)
	for typed, want := range map[string]string{"box:/src/": "/box:/src/", "/box:/src": "/box:/src", "box:": "/box:/", "crate:": "/box:/src/crate:"} {
		if got, err := p.absolutePath(typed); got != want || err != nil {
			t.Errorf("%s leads to %s, %v, not %s", typed, got, err, want)
		}
	}
	e.Shown = p
	p.setPath("box:")
	p.Look()
	p.setNames("/box:/", []string{"etc/"})
	if got, _ := p.Field.Suggestions(); len(got) != 1 || got[0] != "box:/etc/" {
		t.Errorf("suggestions %q", got)
	}
}
