package files

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/base/sleep"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/field"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

const (
	// findDelay is how long typing must rest before a search starts.
	findDelay = 120 * time.Millisecond
	// maxNames is the maximum number of names that the dashboard ranks itself. If there are more,
	// the engine searches them.
	maxNames = 50_000
	// maxFound is the maximum number of results.
	maxFound = 500
	// maxFirstPass is the maximum size in bytes of the files searched in the first pass. Larger
	// ones may take long.
	maxFirstPass = 8 << 20
)

// A fileFinder searches below a folder as you type, by name or by content.
type fileFinder struct {
	env         panes.Env
	open        func(path string, line int64, match *regexp.Regexp) // shows a result
	folder      string
	contents    bool
	field       field.Field
	cursor      int
	top         int
	hits        []fileHit
	limited     bool
	note        string // shown instead of results
	bad         bool
	busy        bool
	searching   panes.LatestCall
	text        string  // text of the results
	searchLarge tea.Cmd // second pass, including large files
	names       nameSearch
	query       list.Query     // query for names
	match       *regexp.Regexp // pattern for lines; nil if unknown
	viewer      viewer         // shows the current result
	previewed   fileHit
	readingType panes.LatestCall // of previewed
	preview     look.Rect        // area of the preview in the last drawing
}

// A fileHit is a result.
type fileHit struct {
	path string // relative path, with a slash after a folder's
	line int64
	text string
}

// A findResult is the result of a search.
type findResult struct {
	files        []fileHit
	limited      bool
	skippedLarge bool        // large files are still to be searched
	names        *nameSearch // with the names it has listed; nil of a search in contents
}

func (u *fileFinder) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopePrompt} }

func (u *fileFinder) Do(h dialog.Host, a keymap.Action) tea.Cmd {
	if a == keymap.Accept && u.cursor >= len(u.hits) {
		return nil
	}
	u.endSearch()
	h.Close()
	if a != keymap.Accept {
		return nil
	}
	chosen := u.hits[u.cursor]
	u.open(u.folder+"/"+chosen.path, chosen.line, u.match)
	return nil
}

func (u *fileFinder) endSearch() {
	u.searching.Cancel()
	u.readingType.Cancel()
}

func (u *fileFinder) Type(_ dialog.Host, k tea.KeyPressMsg) tea.Cmd {
	by := map[rune]int{tea.KeyUp: -1, tea.KeyDown: 1, tea.KeyPgUp: -10, tea.KeyPgDown: 10}[k.Code]
	switch {
	case by != 0:
		u.cursor = max(min(u.cursor+by, len(u.hits)-1), 0)
		return nil
	case k.Code == tea.KeyTab:
		u.contents = !u.contents
	default:
		u.field.Type(k)
	}
	return u.search()
}

func (u *fileFinder) Paste(_ dialog.Host, text string) tea.Cmd {
	u.field.Paste(text)
	return u.search()
}

// search starts a search for the typed text and cancels the previous one.
func (u *fileFinder) search() tea.Cmd {
	text := u.field.Text()
	u.endSearch()
	if strings.TrimSpace(text) == "" {
		u.hits, u.note, u.busy, u.cursor = nil, "", false, 0
		return nil
	}
	u.busy = true
	ctx := u.searching.Begin(u.env.Context())
	folder, contents, names := u.folder, u.contents, u.names
	find := func(rest time.Duration, maxBytes int64) tea.Cmd {
		return panes.Call(ctx, u.env, func(ctx context.Context, e panes.Engine) (findResult, error) {
			_ = sleep.For(ctx, rest)
			if contents {
				return searchContents(ctx, e, folder, text, maxBytes)
			}
			return names.findNames(ctx, e, folder, text)
		}, func(out findResult, err error) tea.Cmd {
			if ctx.Err() != nil {
				return nil
			}
			return u.showResult(text, out, err)
		})
	}
	// Search small files first: large ones may take long, and often enough is found without them.
	u.searchLarge = find(0, 0)
	return find(findDelay, maxFirstPass)
}

// A nameSearch finds names below a folder. If there are not too many, it fetches them once and
// matches them fuzzily; otherwise the engine searches them.
type nameSearch struct {
	below  []string // all names; nil if unknown or too many
	listed bool     // below is known, or known to be too many
}

func (n nameSearch) findNames(ctx context.Context, e panes.Engine, folder, text string) (out findResult, err error) {
	if !n.listed {
		all, err := e.FindFiles(ctx, folder, "**", maxNames)
		if err != nil {
			return out, err
		}
		if n.listed = true; !all.Limited {
			// Make below non-nil even if there are no names, because nil means that there are too
			// many.
			n.below = append([]string{}, all.Paths...)
		}
	}
	if n.below == nil || strings.ContainsAny(text, "*?[{") {
		out, err = searchNames(ctx, e, folder, text)
	} else {
		query := list.NewQuery(text)
		ranked := query.RankPaths(n.below)
		out.limited = len(ranked) > maxFound
		for _, i := range ranked[:min(len(ranked), maxFound)] {
			out.files = append(out.files, fileHit{path: n.below[i]})
		}
	}
	out.names = &n
	return out, err
}

// searchNames asks the engine for names that contain the words of a query, and then for names that
// contain its letters in order. A query with glob characters is a pattern instead.
func searchNames(ctx context.Context, e panes.FileFinder, folder, text string) (findResult, error) {
	if strings.ContainsAny(text, "*?[{") {
		return globNames(ctx, e, folder, text)
	}
	words := "*" + strings.Join(strings.Fields(text), "*") + "*"
	if strings.Contains(text, "/") {
		return globNames(ctx, e, folder, "**/"+words)
	}
	out, err := globNames(ctx, e, folder, words)
	if err != nil || out.limited || strings.Contains(text, `\`) {
		return out, err
	}
	letters := strings.Split(strings.Join(strings.Fields(text), ""), "")
	more, err := globNames(ctx, e, folder, "*"+strings.Join(letters, "*")+"*")
	for _, f := range more.files {
		if !slices.Contains(out.files, f) && len(out.files) < maxFound {
			out.files = append(out.files, f)
		}
	}
	out.limited = more.limited
	return out, err
}

func globNames(ctx context.Context, e panes.FileFinder, folder, pattern string) (findResult, error) {
	out, err := e.FindFiles(ctx, folder, pattern, maxFound)
	names := findResult{files: make([]fileHit, len(out.Paths)), limited: out.Limited}
	for i, path := range out.Paths {
		names.files[i].path = path
	}
	return names, err
}

// searchContents searches the contents of files of at most maxBytes bytes, or of any size if
// maxBytes is 0.
func searchContents(ctx context.Context, e panes.FileFinder, folder, text string, maxBytes int64) (findResult, error) {
	out, err := e.SearchFiles(ctx, api.FilesGrepInput{Pattern: text, Path: folder, IgnoreCase: ignoresCase(text), Limit: maxFound, MaxBytes: maxBytes})
	lines := findResult{limited: out.Limited, skippedLarge: out.Passed > 0}
	for _, l := range out.Lines {
		if l.Match {
			lines.files = append(lines.files, fileHit{l.Path, l.Line, l.Text})
		}
	}
	return lines, err
}

// showResult shows the result of a search.
func (u *fileFinder) showResult(query string, out findResult, err error) tea.Cmd {
	u.busy, u.note, u.bad = false, "", false
	// Names listed once serve all further searches.
	if out.names != nil {
		u.names = *out.names
	}
	if err != nil {
		u.hits, u.note, u.bad = nil, text.Clean(api.AsError(err).Message), true
		return nil
	}
	u.setHits(query, out)
	if out.skippedLarge && !out.limited {
		u.busy = true
		return u.searchLarge
	}
	if len(u.hits) == 0 {
		u.note = "nothing found"
	}
	return nil
}

// setHits replaces the results. If they are for the same text as before, the cursor stays on its
// result.
func (u *fileFinder) setHits(text string, out findResult) {
	var on fileHit
	if u.cursor < len(u.hits) {
		on = u.hits[u.cursor]
	}
	at := slices.Index(out.files, on)
	if u.text != text || u.cursor == 0 || at < 0 {
		at, u.top = 0, 0
	}
	u.hits, u.limited, u.text, u.cursor = out.files, out.limited, text, at
	u.query, u.match = list.NewQuery(text), nil
	if u.contents {
		u.match = contentMatcher(text)
	}
}

// ignoresCase reports whether a pattern ignores case, because it has no capitals.
func ignoresCase(pattern string) bool { return strings.IndexFunc(pattern, unicode.IsUpper) < 0 }

// contentMatcher compiles the pattern of a content search, to mark its matches. It returns nil if
// only the engine understands the pattern.
func contentMatcher(pattern string) *regexp.Regexp {
	if ignoresCase(pattern) {
		pattern = "(?i)" + pattern
	}
	match, err := regexp.Compile(pattern)
	if err != nil {
		return nil
	}
	return match
}

// fetch reads the preview of the current result.
func (u *fileFinder) fetch() tea.Cmd {
	if u.preview.W == 0 || u.cursor >= len(u.hits) {
		return nil
	}
	chosen := u.hits[u.cursor]
	if chosen == u.previewed {
		return u.viewer.fetch(u.preview.W, u.preview.H)
	}
	path := filepath.Join(u.folder, chosen.path)
	same := u.previewed.path == chosen.path && u.viewer.preview.Path() == path
	u.previewed = chosen
	u.readingType.Cancel()
	// If the preview has the file already, only move to another line.
	if same {
		u.viewer.preview.GoLine(chosen.line)
		return u.viewer.fetch(u.preview.W, u.preview.H)
	}
	ctx := u.readingType.Begin(u.env.Context())
	return panes.Call(ctx, u.env, func(ctx context.Context, e panes.Engine) (api.FileInfo, error) {
		_ = sleep.For(ctx, previewDelay)
		return e.StatFile(ctx, path)
	}, func(info api.FileInfo, err error) tea.Cmd {
		if ctx.Err() != nil || err != nil { // deleted meanwhile
			return nil
		}
		u.viewer.line, u.viewer.mark = chosen.line, u.match
		u.viewer.showFile(path, &info)
		return u.viewer.fetch(u.preview.W, u.preview.H)
	})
}
