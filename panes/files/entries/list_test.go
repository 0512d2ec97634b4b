package entries

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/engine/base/cellwidth"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/tests/seed"
	"tandem/themes"
)

// makeEntries returns files with names, or folders for names ending in a slash.
func makeEntries(names ...string) (all []api.FileInfo) {
	for i, name := range names {
		f := api.FileInfo{Name: strings.TrimSuffix(name, "/"), Type: "file", Mode: "0644", Size: int64(i), Modified: noon.Add(time.Duration(i) * time.Minute)}
		if f.Name != name {
			f.Type = "dir"
		}
		all = append(all, f)
	}
	return all
}

func joinNames(r *Rows) string {
	var names []string
	for i := range r.Len() {
		names = append(names, r.At(i).Name)
	}
	return strings.Join(names, " ")
}

func TestArrangeSortsAndFiltersEntries(t *testing.T) {
	all := makeEntries("b", "part10", "A", "part9", "part09", "z/", "Docs/", ".git/", ".rc", "c.go")
	cases := []struct {
		order Order
		want  string
	}{
		{Order{}, "Docs z A b c.go part09 part9 part10"},
		{Order{Hidden: true}, ".git Docs z .rc A b c.go part09 part9 part10"},
		{Order{Reversed: true}, "z Docs part10 part9 part09 c.go b A"},
		{Order{By: BySize}, "Docs z c.go part09 part9 A part10 b"},
		{Order{By: ByTime, Reversed: true}, "z Docs b part10 A part9 part09 c.go"},
		{Order{By: ByExtension}, "Docs z A b part09 part9 part10 c.go"},
		{Order{Filter: "PART !10"}, "part09 part9"},
	}
	for _, c := range cases {
		if got := joinNames(Arrange(all, c.order)); got != c.want {
			t.Errorf("%+v: %s, want %s", c.order, got, c.want)
		}
	}
}

func TestNaturalOrderIsConsistent(t *testing.T) {
	name := rapid.StringMatching(`[a0-3]{0,6}`)
	seed.Check(t, func(t *rapid.T) {
		a, b, c := name.Draw(t, "a"), name.Draw(t, "b"), name.Draw(t, "c")
		if compareNatural(a, b) != -compareNatural(b, a) {
			t.Fatalf("%q and %q are each before the other", a, b)
		}
		if compareNatural(a, b) <= 0 && compareNatural(b, c) <= 0 && compareNatural(a, c) > 0 {
			t.Fatalf("%q, %q, %q go round", a, b, c)
		}
	})
}

func TestListCursorFollowsName(t *testing.T) {
	var l List
	l.Reset("/x", "c")
	l.SetRows(Arrange(makeEntries("a", "b", "c", "d"), Order{}))
	if got := l.CursorPath(); got != "/x/c" {
		t.Errorf("the cursor is on %s", got)
	}
	l.SetRows(Arrange(makeEntries("0", "1", "a", "c"), Order{}))
	if got := l.CursorPath(); got != "/x/c" {
		t.Errorf("after an insertion the cursor is on %s", got)
	}
	l.SetRows(Arrange(makeEntries("0", "1"), Order{}))
	if got := l.CursorPath(); got != "/x/1" {
		t.Errorf("after its removal the cursor is on %s", got)
	}
}

func TestListRowsFillTheirWidth(t *testing.T) {
	look := unicodeLook()
	all := makeEntries("a", "bad\xff", "line\nbreak", strings.Repeat("long", 80), "日本語ファイル", "dir/", "a"+strings.Repeat("\u0301", 127))
	var l List
	l.Reset("/x", "")
	l.Focused = true
	l.Git = map[string]string{"a": ".M", "dir": "??", "bad\xff": "x"}
	l.Marks = Marks{"/x/a": true}
	l.SetRows(Arrange(all, Order{}))
	for _, w := range []int{1, 5, 20, 33, 60, 100} {
		rows := l.Draw(w, 9, noon, look)
		if len(rows) != 9 {
			t.Fatalf("%d rows", len(rows))
		}
		for _, row := range rows {
			if got := text.Width(row); got != w && w >= 5 {
				t.Errorf("a row for %d cells is %d wide: %q", w, got, row)
			}
		}
	}
}

func TestListCursorWaitsForNameInLaterPage(t *testing.T) {
	var l List
	l.Reset("/x", "d")
	l.More = true
	l.SetRows(Arrange(makeEntries("a", "b"), Order{}))
	l.More = false
	l.SetRows(Arrange(makeEntries("a", "b", "c", "d", "e"), Order{}))
	if got := l.CursorPath(); got != "/x/d" {
		t.Errorf("the cursor is on %s", got)
	}
}

func TestListCursorWaitsForNewNameUntilMoved(t *testing.T) {
	for _, moved := range []bool{false, true} {
		var l List
		l.Reset("/x", "")
		l.SetRows(Arrange(makeEntries("a", "b"), Order{}))
		l.Select("new")
		l.SetRows(Arrange(makeEntries("a", "b", "c"), Order{}))
		want := "/x/new"
		if moved {
			l.Move(1)
			want = "/x/b"
		}
		l.SetRows(Arrange(makeEntries("a", "b", "new"), Order{}))
		if got := l.CursorPath(); got != want {
			t.Errorf("the cursor is on %s, not %s", got, want)
		}
	}
}

func TestSetReturnsEntriesUnchanged(t *testing.T) {
	first := append(makeEntries("a", "dir/", "bad\xff", strings.Repeat("x", 255)), api.FileInfo{
		Name: "link", Type: "link", Target: "dir", ToDir: true, Mode: "0777", Size: 1 << 40}, api.FileInfo{Name: "gone", Type: "link", Target: "no", Broken: true, Mode: "0777"})
	second := append(makeEntries("later"), api.FileInfo{Name: "odd", Type: "something"})
	set := (*Set)(nil).With(first)
	all := set.With(second)
	if set.Len() != len(first) || all.Len() != len(first)+len(second) || all.LastName() != "odd" || !all.Has("link") || set.Has("later") {
		t.Fatalf("sets of %d and %d entries", set.Len(), all.Len())
	}
	if diff := cmp.Diff(append(first, second...), all.entries); diff != "" {
		t.Error(diff)
	}
	if (*Set)(nil).Len() != 0 || (*Set)(nil).Arrange(Order{}).Len() != 0 {
		t.Error("no set has entries")
	}
}

func TestListShowsNumberOfOmittedEntries(t *testing.T) {
	look := unicodeLook()
	var l List
	l.Reset("/x", "")
	l.Omitted = 50_000
	l.SetRows(Arrange(makeEntries("a", "b", "c", "d"), Order{}))
	l.Move(1 << 30)
	rows := l.Draw(50, 3, noon, look)
	if !strings.Contains(rows[1], "d") || !strings.Contains(rows[2], "and 50000 more") {
		t.Errorf("%q", rows)
	}
}

func TestGitMarkOfFolderAppliesToItsEntries(t *testing.T) {
	look := unicodeLook()
	var l List
	l.Reset("/x", "")
	l.GitAll, l.Git = "??", map[string]string{"b": "!!"}
	l.SetRows(Arrange(makeEntries("a", "b"), Order{}))
	rows := l.Draw(20, 2, noon, look)
	if !strings.Contains(ansi.Strip(rows[0]), "? a") || strings.Contains(ansi.Strip(rows[1]), "?") {
		t.Errorf("%q", rows)
	}
}

func TestTargetsAreInNaturalOrder(t *testing.T) {
	l := List{Marks: Marks{"/x/img10": true, "/x/IMG2": true, "/x/img1": true}}
	if diff := cmp.Diff([]string{"/x/img1", "/x/IMG2", "/x/img10"}, l.Targets()); diff != "" {
		t.Error(diff)
	}
}

func TestIconsAreOneCellWide(t *testing.T) {
	look := unicodeLook()
	all := makeEntries("a.go", "b.png", "c.tar", "Makefile", "d", ".git/", "dir/", "e.md", "f.json")
	all = append(all, api.FileInfo{Name: "fifo", Type: "fifo"}, api.FileInfo{Name: "sock", Type: "socket"}, api.FileInfo{Name: "dev", Type: "device"},
		api.FileInfo{Name: "link", Type: "link"}, api.FileInfo{Name: "gone", Type: "link", Broken: true}, api.FileInfo{Name: "run", Type: "file", Mode: "0755"})
	seen := map[string]bool{}
	for i := range all {
		icon := fileIcon(&all[i])
		if ansi.StringWidth(icon) != 1 || cellwidth.PerCodePoint(icon) != 1 {
			t.Errorf("the icon of %s is not one cell", all[i].Name)
		}
		seen[icon] = true
	}
	if len(seen) != len(all) {
		t.Errorf("%d icons for %d kinds", len(seen), len(all))
	}
	var l List
	l.Reset("/x", "")
	l.Icons = true
	l.SetRows(Arrange(all, Order{Hidden: true}))
	for _, row := range l.Draw(40, len(all), noon, look) {
		if got := text.Width(row); got != 40 {
			t.Errorf("%q is %d wide", row, got)
		}
	}
}

func BenchmarkListOf100000(b *testing.B) {
	look := unicodeLook()
	names := make([]string, 100_000)
	for i := range names {
		names[i] = fmt.Sprintf("file-%d.txt", i*7919%100_000)
	}
	all := makeEntries(names...)
	b.Run("arrange", func(b *testing.B) {
		for b.Loop() {
			Arrange(all, Order{})
		}
	})
	var l List
	l.Reset("/x", "")
	l.SetRows(Arrange(all, Order{}))
	b.Run("key and draw", func(b *testing.B) {
		for b.Loop() {
			l.Move(1)
			l.Draw(80, 50, noon, look)
		}
	})
	b.Run("set rows", func(b *testing.B) {
		rows := Arrange(all, Order{})
		l.Go(99_999)
		for b.Loop() {
			l.SetRows(rows)
		}
	})
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func unicodeLook() *look.Look { return &look.Look{Glyphs: themes.UnicodeGlyphs()} }

func TestFileColorDependsOnKind(t *testing.T) {
	style := &look.Look{Text: "text", Dim: "dim", Accent: "accent", Good: "good", Bad: "bad", Info: "info", Warn: "warn"}
	for want, all := range map[look.Ink][]api.FileInfo{
		"accent": {{Name: "x.zip", Type: "dir"}, {Name: "l", Type: "link", ToDir: true}},
		"good":   {{Name: "run", Type: "file", Mode: "0755"}},
		"info":   {{Name: "l", Type: "link"}, {Name: "A.PNG", Type: "file"}, {Name: "a.mp3", Type: "file"}},
		"bad":    {{Name: "l", Type: "link", Broken: true}},
		"warn":   {{Name: "p", Type: "fifo"}, {Name: "a.tar.gz", Type: "file"}},
		"dim":    {{Name: "a.go~", Type: "file"}, {Name: "a.o", Type: "file"}},
		"text":   {{Name: "a.go", Type: "file"}},
	} {
		for i := range all {
			if got := fileColor(&all[i], style); got != want {
				t.Errorf("%+v has %q, not %q", all[i], got, want)
			}
		}
	}
}
