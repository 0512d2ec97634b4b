package files

import (
	"context"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/panestest"
)

// A findEngine has names below a folder, and one text for all files.
type findEngine struct {
	panes.Engine
	below    []string
	asked    []string            // patterns, in order
	text     string              // content of every file
	matching map[string][]string // by pattern
}

func (e *findEngine) FindFiles(_ context.Context, _, pattern string, limit int) (api.FilesFindOutput, error) {
	e.asked = append(e.asked, pattern)
	if pattern == "**" {
		return api.FilesFindOutput{Paths: e.below[:min(limit, len(e.below))], Limited: len(e.below) > limit}, nil
	}
	return api.FilesFindOutput{Paths: e.matching[pattern]}, nil
}

func (e *findEngine) SearchFiles(context.Context, api.FilesGrepInput) (api.FilesGrepOutput, error) {
	return api.FilesGrepOutput{Lines: []api.GrepLine{{Path: "main.go", Line: 3, Text: "\tsay(hello)", Match: true}}}, nil
}

func (e *findEngine) StatFile(_ context.Context, path string) (api.FileInfo, error) {
	return api.FileInfo{Name: "main.go", Path: path, Type: "file", Size: int64(len(e.text))}, nil
}

func (e *findEngine) ReadFile(context.Context, string, int64, int64) (api.FilesReadOutput, error) {
	return api.FilesReadOutput{Text: e.text, Size: int64(len(e.text))}, nil
}

// openFinder opens a search, types text and waits for the result.
func openFinder(t *testing.T, contents bool, engine panes.Engine, text string) (*fileFinder, *panestest.Env) {
	t.Helper()
	f, e := newShownPane("/d")
	e.API = engine
	e.Inks = look.Look{Found: "\x1b[7m", FoundHere: "\x1b[1;7m", Match: "\x1b[4m"}
	f.setListing("a")
	f.startFind(contents)
	u := f.finder
	for _, r := range text[1:] {
		u.field.Type(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	runAll(u.Type(e, tea.KeyPressMsg{Code: rune(text[0]), Text: text[:1]}))
	return u, e
}

// runAll runs a command and those following from it.
func runAll(cmd tea.Cmd) {
	for cmd != nil {
		then, _ := cmd().(panes.Result)
		if then == nil {
			return
		}
		cmd = then()
	}
}

func TestFindRanksNamesByLetters(t *testing.T) {
	engine := &findEngine{below: []string{"cmd/main_test.go", "maps/gone", "main.go", "doc/"}}
	u, _ := openFinder(t, false, engine, "gmn")
	u.field.Set("mngo")
	runAll(u.search())
	var got []string
	for _, f := range u.hits {
		got = append(got, f.path)
	}
	if want := []string{"main.go", "cmd/main_test.go"}; len(got) < 2 || !slices.Equal(got[:2], want) {
		t.Errorf("found %q", got)
	}
	if !slices.Equal(engine.asked, []string{"**"}) {
		t.Errorf("patterns %q, want the names listed once", engine.asked)
	}
	u.field.Set("*.go")
	runAll(u.search())
	if last := engine.asked[len(engine.asked)-1]; last != "*.go" {
		t.Errorf("the engine was asked for %q, want the glob", last)
	}
}

func TestFindAsksEngineIfThereAreTooManyNames(t *testing.T) {
	engine := &findEngine{below: make([]string, maxNames+1)}
	u, _ := openFinder(t, false, engine, "xyab")
	engine.matching = map[string][]string{"*im*5*": {"trim/5"}, "*i*m*5*": {"trim/5", "img5.txt"}}
	u.field.Set("im 5")
	runAll(u.search())
	if want := []fileHit{{path: "trim/5"}, {path: "img5.txt"}}; !slices.Equal(u.hits, want) || u.limited {
		t.Errorf("found %v, want names with the words and then names with the letters: %v; asked %q", u.hits, want, engine.asked)
	}
}

func TestFindMarksMatchesInListAndPreview(t *testing.T) {
	engine := &findEngine{text: "package main\n\n\tsay(hello)\n"}
	u, e := openFinder(t, true, engine, "hello")
	u.field.Set("hello")
	runAll(u.search())
	for _, size := range [][2]int{{200, 60}, {120, 36}, {80, 24}} {
		u.previewed = fileHit{}
		u.Draw(e, size[0], size[1])
		runAll(u.fetch())
		runAll(u.fetch())
		rows, width, _, _ := u.Draw(e, size[0], size[1])
		all := strings.Join(rows, "\n")
		if !strings.Contains(all, "main.go:3  say(\x1b[4mhello") {
			t.Errorf("at %v the list is %q", size, all)
		}
		if !strings.Contains(all, "say(\x1b[1;7mhello") {
			t.Errorf("at %v the preview is %q", size, all)
		}
		for _, row := range rows {
			if text.Width(row) != width {
				t.Errorf("at %v a row has %d cells of %d: %q", size, text.Width(row), width, row)
			}
		}
	}
}

// A listEngine lists its entries.
type listEngine struct {
	panes.Engine
	entries []api.FileInfo
}

func (e listEngine) ListFiles(context.Context, string, string, int) (api.FilesListOutput, error) {
	return api.FilesListOutput{Entries: e.entries}, nil
}

func TestFolderPreviewUsesOrderOfList(t *testing.T) {
	source := fileSource{listEngine{panestest.NewEngine(), makeEntries("part10", "part9", "z/")}}
	all, _, err := source.List(context.Background(), "/d", 10)
	if err != nil || len(all) != 3 || all[0].Name != "z" || all[1].Name != "part9" {
		t.Errorf("listed %+v, %v", all, err)
	}
}
