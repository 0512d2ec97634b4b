package files

import (
	"context"
	"regexp"
	"strings"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/preview"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// previewRest is how long the cursor rests before a file is read.
const previewRest = 25 * time.Millisecond

// mostHits is how many matches of a file are known at a time.
const mostHits = 5000

// A viewer shows the file under the cursor and searches it.
type viewer struct {
	env     panes.Env
	preview preview.Preview
	line    int64              // of the file that is shown next, where a search found something
	find    *regexp.Regexp     // that is marked in it
	search  *fileSearch        // under way in the file; nil for none
	peek    context.CancelFunc // ends what is read
}

// show turns to a file.
func (v *viewer) show(path string, file *api.FileInfo) {
	v.preview.Colors = v.env.Colors()
	v.preview.Show(path, *file)
	if v.line > 0 {
		v.preview.GoLine(v.line)
		v.preview.Mark(v.find)
		v.line, v.find = 0, nil
	}
}

// fetch reads what is seen of the file in w by h cells.
func (v *viewer) fetch(w, h int) tea.Cmd {
	if v.search != nil && v.search.path != v.preview.Path() {
		v.endSearch()
	}
	v.preview.Resize(w, h)
	r, ok := v.preview.Next()
	if !ok {
		return nil
	}
	if v.peek != nil {
		v.peek()
	}
	ctx, cancel := context.WithCancel(v.env.Context())
	v.peek = cancel
	return panes.Ask(ctx, v.env, func(ctx context.Context, e panes.Engine) (preview.Part, error) {
		if r.Slow() {
			panes.Pause(ctx, previewRest)
		}
		return preview.Load(ctx, fileSource{e}, r), nil
	}, func(part preview.Part, err error) tea.Cmd {
		if ctx.Err() == nil && err == nil {
			v.preview.Take(part)
		}
		return nil
	})
}

// A fileSource reads the engine's files for a preview.
type fileSource struct{ engine panes.Engine }

func (s fileSource) ReadAt(ctx context.Context, path string, off, n int64) ([]byte, int64, error) {
	out, err := s.engine.ReadFile(ctx, path, off, n)
	return bytesOf(out), out.Size, err
}

// bytesOf is what was read of a file, which the API carries in one of two ways.
func bytesOf(out api.FilesReadOutput) []byte {
	if out.Data != nil {
		return out.Data
	}
	return []byte(out.Text)
}

func (s fileSource) List(ctx context.Context, path string, limit int) ([]api.FileInfo, int, error) {
	out, err := s.engine.ListFiles(ctx, path, "", limit)
	rows := Arrange(out.Entries, Order{Hidden: true})
	entries := make([]api.FileInfo, rows.Len())
	for i := range entries {
		entries[i] = *rows.At(i)
	}
	return entries, out.Omitted, err
}

// A fileSearch is a search in one file that is under way.
type fileSearch struct {
	path, pattern string
	stop          context.CancelFunc
}

// askSearch searches the file that is shown.
func (v *viewer) askSearch() tea.Cmd {
	path := v.preview.Path()
	v.env.Ask(overlay.NewPrompt("Search", "", func(pattern string) tea.Cmd {
		v.endSearch()
		if pattern == "" {
			v.preview.Search(nil)
			v.preview.Mark(nil)
			return nil
		}
		return v.searchFor(path, pattern)
	}))
	return nil
}

func (v *viewer) searchFor(path, pattern string) tea.Cmd {
	ctx, cancel := context.WithCancel(v.env.Context())
	search := &fileSearch{path, pattern, cancel}
	v.search = search
	return panes.Ask(ctx, v.env, func(ctx context.Context, e panes.Engine) (api.FilesGrepOutput, error) {
		return e.SearchFiles(ctx, api.FilesGrepInput{Pattern: pattern, Path: path, IgnoreCase: ignoresCase(pattern), Limit: mostHits})
	}, func(out api.FilesGrepOutput, err error) tea.Cmd { return v.searched(search, out.Lines, err) })
}

// ignoresCase reports whether a pattern without capitals finds them too.
func ignoresCase(pattern string) bool { return strings.IndexFunc(pattern, unicode.IsUpper) < 0 }

// endSearch ends the search in a file, if there is one.
func (v *viewer) endSearch() {
	if v.search != nil {
		v.search.stop()
		v.search = nil
	}
}

func (v *viewer) searched(search *fileSearch, lines []api.GrepLine, err error) tea.Cmd {
	if v.search != search {
		return nil
	}
	v.endSearch()
	if err != nil {
		return v.env.Say(panes.ErrorText(err), true)
	}
	var hits []int64
	for _, l := range lines {
		hits = append(hits, l.Line)
	}
	v.preview.Search(hits)
	v.preview.Mark(matcher(search.pattern))
	if !v.preview.NextHit(false) {
		return v.env.Say("no line matches “"+widget.Clean(search.pattern)+"”", false)
	}
	return nil
}

// nextHit goes to another match, or asks what to search for.
func (v *viewer) nextHit(back bool) tea.Cmd {
	if !v.preview.NextHit(back) {
		return v.askSearch()
	}
	return nil
}
