package logs

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"
)

// Whatever a log contains, its pages make up the whole log, and searches page by page find the same
// as one search.
func FuzzReadLog(f *testing.F) {
	f.Add([]byte("one\ntwo\r\n\xff\xe2\x82\n\x00"), "o|\\x{FFFD}", int64(3), 2, true)
	f.Add([]byte("ä€𝄞"), "", int64(-2), 1, false)
	path := filepath.Join(f.TempDir(), "process.log")
	logs := New(slog.New(slog.DiscardHandler))
	f.Fuzz(func(t *testing.T, content []byte, expr string, since int64, limit int, ended bool) {
		if len(expr) > 50 || len(content) > 10_000 {
			return
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		p := Source{Path: path, State: func() api.State {
			if ended {
				return api.StateExited
			}
			return api.StateRunning
		}}
		if _, err := logs.Read(t.Context(), api.ProcessLogInput{Since: &since}, p); err != nil {
			t.Fatal(err)
		}
		limit = 1 + limit&7
		checkPages(t, logs, p, string(content), limit, ended)
		if expr != "" {
			checkMatches(t, logs, p, expr, limit)
		}
	})
}

// checkPages reads a log in pieces.
func checkPages(t *testing.T, logs *Logs, p Source, content string, most int, ended bool) {
	var got strings.Builder
	for since := int64(0); ; {
		out, err := logs.Read(t.Context(), api.ProcessLogInput{Since: &since, Max: most}, p)
		if err != nil || out.Start != since || out.NextCursor > out.End || out.End != int64(len(content)) {
			t.Fatalf("from %d of %d: %+v, %v", since, len(content), out, err)
		}
		got.WriteString(content[since:out.NextCursor])
		if out.NextCursor == since {
			break
		}
		since = out.NextCursor
	}
	if rest := content[got.Len():]; ended && rest != "" || len(rest) > 3 {
		t.Fatalf("%q was not given", rest)
	}
}

// checkMatches searches a log in pieces, forward and backward.
func checkMatches(t *testing.T, logs *Logs, p Source, expr string, limit int) {
	all, err := logs.Read(t.Context(), api.ProcessLogInput{Grep: expr, Limit: 10_000, Max: 1 << 20}, p)
	if err != nil {
		return
	}
	for _, backward := range []bool{false, true} {
		var found []int64
		in := api.ProcessLogInput{Grep: expr, Limit: limit, Backward: backward}
		for {
			out, err := logs.Read(t.Context(), in, p)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range out.Matches {
				found = append(found, m.Offset)
			}
			if len(out.Matches) == 0 || len(found) > len(all.Matches) {
				break
			}
			in.Since = &out.NextCursor
		}
		if len(found) != len(all.Matches) {
			t.Fatalf("backward %v: found %v of %+v", backward, found, all.Matches)
		}
		for i, m := range all.Matches {
			at := i
			if backward {
				at = len(found) - 1 - i
			}
			if found[at] != m.Offset {
				t.Fatalf("backward %v: found %v of %+v", backward, found, all.Matches)
			}
		}
	}
}
