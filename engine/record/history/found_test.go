package history

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/persist/histdb"
	"tandem/tests/seed"
)

// plainSearch is the reference for a search: it runs fzf's algorithm on each row.
func plainSearch(rows []histdb.Row, in api.HistorySearchInput) (ids []int64, total int) {
	type found struct {
		row   histdb.Row
		score int32
	}
	m := newMatcher(parseQuery(in.Query))
	var all []found
	seen := make(map[string]bool)
	for _, r := range slices.Backward(rows) {
		score, ok := m.score([]byte(r.Command))
		if !ok || in.CWD != "" && r.CWD != in.CWD || in.Process != "" && r.Process != in.Process || in.Unique && seen[r.Command] {
			continue
		}
		seen[r.Command] = true
		all = append(all, found{r, score})
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Compare(b.score, a.score) })
	for _, f := range all[min(in.Offset, len(all)):] {
		if len(ids) < in.Limit {
			ids = append(ids, f.row.ID)
		}
	}
	return ids, len(all)
}

// Cached results of earlier queries must not change anything, even if rows are added and removed in
// between.
func TestSearchMatchesPlainSearch(t *testing.T) {
	line := rapid.Custom(func(t *rapid.T) string {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"git", "Commit", "status", "a", "B", "/usr/lib", "caf\u00e9", "x_y", "README.md", "\u212a", "--all", "go", " "}), 1, 4)
		text := ""
		for i, word := range words.Draw(t, "words") {
			if i > 0 {
				text += rapid.SampledFrom([]string{" ", "-", "", "/"}).Draw(t, "between")
			}
			text += word
		}
		return text
	})
	key := rapid.SampledFrom([]string{"g", "i", "t", "a", "C", "R", "s", "k", "/", " ", "'", "!", "^", "$", "|", "\\", "e", "\u00e9", "go", " | ", " !", "<", "<"})
	seed.Check(t, func(t *rapid.T) {
		x := newHistoryIndex()
		var rows []histdb.Row
		next := int64(1)
		query := ""
		add := func() {
			at := time.Unix(rapid.Int64Range(0, 50).Draw(t, "at"), 0)
			r := histdb.Row{ID: next, Command: line.Draw(t, "line"), StartedAt: at, CWD: rapid.SampledFrom([]string{"/a", "/b"}).Draw(t, "cwd"),
				Process: rapid.SampledFrom([]string{"", "0123456789ab", "0123456789ac", "web", "A123456789ab"}).Draw(t, "process")}
			next++
			x.insertRow(r)
			rows = append(rows, r)
			slices.SortStableFunc(rows, func(a, b histdb.Row) int {
				return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ID, b.ID))
			})
		}
		for range rapid.IntRange(0, 150).Draw(t, "rows") {
			add()
		}
		for range rapid.IntRange(1, 20).Draw(t, "keys") {
			switch k := key.Draw(t, "key"); {
			case k == "<":
				query = query[:max(0, len(query)-1)]
			default:
				query += k
			}
			switch rapid.IntRange(0, 9).Draw(t, "meanwhile") {
			case 0:
				add()
			case 1:
				if len(rows) > 0 {
					gone := rapid.SampledFrom(rows).Draw(t, "gone").Command
					x.removeRows(func(e *historyEntry) bool { return x.texts.line(e.text) == gone })
					rows = slices.DeleteFunc(rows, func(r histdb.Row) bool { return r.Command == gone })
				}
			}
			in := api.HistorySearchInput{Query: query, Unique: rapid.Bool().Draw(t, "unique"), Limit: rapid.IntRange(1, 30).Draw(t, "limit"),
				Offset: rapid.SampledFrom([]int{0, 0, 5}).Draw(t, "offset"), CWD: rapid.SampledFrom([]string{"", "", "/a"}).Draw(t, "in"),
				Process: rapid.SampledFrom([]string{"", "", "0123456789ab", "web"}).Draw(t, "of")}
			out, err := x.search(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			var ids []int64
			for _, r := range out.Rows {
				ids = append(ids, r.ID)
			}
			want, total := plainSearch(rows, in)
			if fmt.Sprint(ids) != fmt.Sprint(want) || out.Total != total {
				t.Fatalf("%+v: %v of %d, want %v of %d", in, ids, out.Total, want, total)
			}
		}
	})
}

// Only the newest hits are ranked. The others follow, newest first, so that none is missing or
// listed twice.
func TestSearchRanksNewestHits(t *testing.T) {
	x := newHistoryIndex()
	const older = 500
	for i := range maxRanked + older {
		line := fmt.Sprintf("xt-%d", i)
		if i == older-1 || i == older+100 {
			line = fmt.Sprintf("t%d", i)
		}
		x.appendRow(&histdb.Row{ID: int64(i), Command: line, StartedAt: time.Unix(int64(i), 0)})
	}
	seen := make(map[int64]bool)
	for offset := 0; offset < maxRanked+older; offset += 1000 {
		out, err := x.search(t.Context(), api.HistorySearchInput{Query: "t", Unique: true, Limit: 1000, Offset: offset})
		if err != nil || out.Total != maxRanked+older {
			t.Fatalf("%d found, error %v", out.Total, err)
		}
		for i, r := range out.Rows {
			if seen[r.ID] {
				t.Fatalf("%d comes twice", r.ID)
			}
			seen[r.ID] = true
			if best := offset+i == 0; best != (r.ID == older+100) {
				t.Fatalf("%d is number %d", r.ID, offset+i)
			}
			if first := offset+i == maxRanked; first != (r.ID == older-1) {
				t.Fatalf("%d is number %d", r.ID, offset+i)
			}
		}
	}
	if len(seen) != maxRanked+older {
		t.Errorf("%d were listed", len(seen))
	}
}

func TestRemovedCommandsLeaveMemory(t *testing.T) {
	x := newHistoryIndex()
	for i, line := range []string{"keep", "export Token", "keep"} {
		x.insertRow(histdb.Row{ID: int64(i + 1), Command: line, StartedAt: time.Unix(int64(i), 0)})
	}
	x.removeRows(func(e *historyEntry) bool { return e.id == 2 })
	if bytes.Contains(x.texts.all, []byte("oken")) {
		t.Errorf("still in memory: %q", x.texts.all)
	}
	out, err := x.search(t.Context(), api.HistorySearchInput{Query: "e", Unique: true})
	if err != nil || out.Total != 1 || out.Rows[0].Command.Command != "keep" || out.Rows[0].Runs != 2 {
		t.Errorf("found %+v, error %v", out, err)
	}
}

func TestAlternativesScoreAsInFZF(t *testing.T) {
	x := newHistoryIndex()
	for i, line := range []string{"make test", "ls"} {
		x.insertRow(histdb.Row{ID: int64(i + 1), Command: line, StartedAt: time.Unix(int64(i), 0)})
	}
	out, err := x.search(t.Context(), api.HistorySearchInput{Query: "!git | make"})
	if err != nil || out.Total != 2 || out.Rows[0].Command.Command != "make test" || len(out.Rows[0].Matched) != len("make") {
		t.Errorf("found %+v, error %v", out, err)
	}
}

func TestCommandLinesAreStoredUnchanged(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		texts := newHistoryTexts(0, 0)
		numbers := make(map[string]uint32)
		for range rapid.IntRange(0, 200).Draw(t, "lines") {
			line := rapid.StringMatching(`[A-Zaz\x{e9}\x{c9} ]{0,90}`).Draw(t, "line")
			n := texts.internLine(line)
			if known, ok := numbers[line]; ok && known != n || !ok && int(n) != len(numbers) {
				t.Fatalf("%q has number %d", line, n)
			}
			numbers[line] = n
		}
		for line, n := range numbers {
			if got := texts.line(n); got != line {
				t.Fatalf("%q became %q", line, got)
			}
			if found, ok := texts.findLine(line); !ok || found != n {
				t.Fatalf("%q is not found", line)
			}
		}
	})
}
