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
	"tandem/engine/sleep"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

const (
	// findRest is how long typing has to rest before a search begins.
	findRest = 120 * time.Millisecond
	// mostNames is how many names below a folder are held and ranked here; where there are
	// more, the engine searches them.
	mostNames = 50_000
	// mostFound is how many results a search shows.
	mostFound = 500
	// smallFile is how many bytes a file has at most that is searched at first; in
	// larger ones it can take long.
	smallFile = 8 << 20
)

// A fileFinder finds files below a folder, by their names or by what they hold,
// while it is being typed.
type fileFinder struct {
	f        *Pane
	folder   string
	contents bool
	field    widget.Field
	cursor   int
	top      int
	found    []foundFile
	limited  bool
	note     string // instead of results
	bad      bool
	busy     bool
	stop     context.CancelFunc
	text     string         // that the results are for
	rest     tea.Cmd        // searches large files too
	below    []string       // all names below the folder; nil while they are not known, or too many
	listed   bool           // it is known which, or that they are too many
	query    widget.Query   // that names were found with
	match    *regexp.Regexp // that lines were found with; nil if that is not known
	viewer   viewer         // of what the cursor is on
	viewing  foundFile
	stat     context.CancelFunc // ends the question what it is
	preview  widget.Rect        // where it was drawn, with the size of both parts
}

// A foundFile is a result.
type foundFile struct {
	path string // relative; a folder's ends in a slash
	line int64
	text string
}

// found are the results of a search.
type found struct {
	files   []foundFile
	limited bool
	passed  bool      // large files were left for later
	below   *[]string // the names below the folder, if they were listed
}

// find opens the search for names below the folder, or for contents.
func (f *Pane) find(contents bool) {
	u := &fileFinder{f: f, folder: f.folder.path, contents: contents, viewer: viewer{env: f.env}}
	u.viewer.preview.Covered = true // it lies over everything
	f.finder = u
	f.env.Ask(u)
}

func (u *fileFinder) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopePrompt} }

func (u *fileFinder) Do(h overlay.Host, a keymap.Action) tea.Cmd {
	if a == keymap.Accept && u.cursor >= len(u.found) {
		return nil
	}
	u.end()
	h.Close()
	if a != keymap.Accept {
		return nil
	}
	chosen := u.found[u.cursor]
	path := filepath.Join(u.folder, chosen.path)
	if !strings.HasSuffix(chosen.path, "/") {
		u.f.goToEntry(filepath.Dir(path), filepath.Base(path))
		u.f.viewer.line, u.f.viewer.find = chosen.line, u.match
		return nil
	}
	u.f.GoFolder(path, "")
	return nil
}

func (u *fileFinder) end() {
	if u.stop != nil {
		u.stop()
		u.stop = nil
	}
	if u.stat != nil {
		u.stat()
		u.stat = nil
	}
}

func (u *fileFinder) Type(_ overlay.Host, k tea.KeyPressMsg) tea.Cmd {
	by := map[rune]int{tea.KeyUp: -1, tea.KeyDown: 1, tea.KeyPgUp: -10, tea.KeyPgDown: 10}[k.Code]
	switch {
	case by != 0:
		u.cursor = max(min(u.cursor+by, len(u.found)-1), 0)
		return nil
	case k.Code == tea.KeyTab:
		u.contents = !u.contents
	default:
		u.field.Type(k)
	}
	return u.search()
}

func (u *fileFinder) Paste(_ overlay.Host, text string) tea.Cmd {
	u.field.Paste(text)
	return u.search()
}

// search begins a search for what was typed and ends the one before.
func (u *fileFinder) search() tea.Cmd {
	text := u.field.Text()
	u.end()
	if strings.TrimSpace(text) == "" {
		u.found, u.note, u.busy, u.cursor = nil, "", false, 0
		return nil
	}
	u.busy = true
	ctx, cancel := context.WithCancel(u.f.env.Context())
	u.stop = cancel
	folder, contents, names := u.folder, u.contents, nameSearch{u.below, u.listed}
	find := func(rest time.Duration, mostBytes int64) tea.Cmd {
		return panes.Ask(ctx, u.f.env, func(ctx context.Context, e panes.Engine) (found, error) {
			_ = sleep.For(ctx, rest)
			if contents {
				return searchContents(ctx, e, folder, text, mostBytes)
			}
			return names.find(ctx, e, folder, text)
		}, func(out found, err error) tea.Cmd {
			if ctx.Err() != nil {
				return nil
			}
			return u.take(text, out, err)
		})
	}
	u.rest = find(0, 0)
	return find(findRest, smallFile)
}

// A nameSearch finds names below a folder: fuzzily if they can all be held.
type nameSearch struct {
	below  []string
	listed bool
}

func (n nameSearch) find(ctx context.Context, e panes.Engine, folder, text string) (out found, err error) {
	if !n.listed {
		all, err := e.FindFiles(ctx, folder, "**", mostNames)
		if err != nil {
			return out, err
		}
		if out.below = new([]string); !all.Limited {
			*out.below = append([]string{}, all.Paths...)
		}
		n.below = *out.below
	}
	if n.below == nil || strings.ContainsAny(text, "*?[{") {
		below := out.below
		out, err = searchNames(ctx, e, folder, text)
		out.below = below
		return out, err
	}
	query := widget.NewQuery(text)
	ranked := query.RankPaths(n.below)
	out.limited = len(ranked) > mostFound
	for _, i := range ranked[:min(len(ranked), mostFound)] {
		out.files = append(out.files, foundFile{path: n.below[i]})
	}
	return out, nil
}

// searchNames has the engine find names that contain the words of a text, and then names that
// contain its letters in order. A text with glob characters is a pattern instead.
func searchNames(ctx context.Context, e panes.Engine, folder, text string) (found, error) {
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
		if !slices.Contains(out.files, f) && len(out.files) < mostFound {
			out.files = append(out.files, f)
		}
	}
	out.limited = more.limited
	return out, err
}

func globNames(ctx context.Context, e panes.Engine, folder, pattern string) (found, error) {
	out, err := e.FindFiles(ctx, folder, pattern, mostFound)
	names := found{files: make([]foundFile, len(out.Paths)), limited: out.Limited}
	for i, path := range out.Paths {
		names.files[i].path = path
	}
	return names, err
}

// searchContents searches files of a size at most, or of any with 0.
func searchContents(ctx context.Context, e panes.Engine, folder, text string, mostBytes int64) (found, error) {
	out, err := e.SearchFiles(ctx, api.FilesGrepInput{Pattern: text, Path: folder, IgnoreCase: ignoresCase(text), Limit: mostFound, MaxBytes: mostBytes})
	lines := found{limited: out.Limited, passed: out.Passed > 0}
	for _, l := range out.Lines {
		if l.Match {
			lines.files = append(lines.files, foundFile{l.Path, l.Line, l.Text})
		}
	}
	return lines, err
}

// take shows what a search has found.
func (u *fileFinder) take(text string, out found, err error) tea.Cmd {
	u.busy, u.note, u.bad = false, "", false
	if out.below != nil {
		u.below, u.listed = *out.below, true
	}
	if err != nil {
		u.found, u.note, u.bad = nil, widget.Clean(api.AsError(err).Message), true
		return nil
	}
	u.show(text, out)
	if out.passed && !out.limited {
		u.busy = true
		return u.rest
	}
	if len(u.found) == 0 {
		u.note = "nothing found"
	}
	return nil
}

// show puts results in place of others. More of the same leave the cursor
// where it is.
func (u *fileFinder) show(text string, out found) {
	var on foundFile
	if u.cursor < len(u.found) {
		on = u.found[u.cursor]
	}
	at := slices.Index(out.files, on)
	if u.text != text || u.cursor == 0 || at < 0 {
		at, u.top = 0, 0
	}
	u.found, u.limited, u.text, u.cursor = out.files, out.limited, text, at
	u.query, u.match = widget.NewQuery(text), nil
	if u.contents {
		u.match = matcher(text)
	}
}

// ignoresCase reports whether a pattern without capitals finds them too.
func ignoresCase(pattern string) bool { return strings.IndexFunc(pattern, unicode.IsUpper) < 0 }

// matcher is the expression that a search of contents is for; nil if only the
// engine understands it.
func matcher(pattern string) *regexp.Regexp {
	if ignoresCase(pattern) {
		pattern = "(?i)" + pattern
	}
	match, err := regexp.Compile(pattern)
	if err != nil {
		return nil
	}
	return match
}

// fetch reads what the preview shows of the result under the cursor.
func (u *fileFinder) fetch() tea.Cmd {
	if u.preview.W == 0 || u.cursor >= len(u.found) {
		return nil
	}
	chosen := u.found[u.cursor]
	if chosen == u.viewing {
		return u.viewer.fetch(u.preview.W, u.preview.H)
	}
	path := filepath.Join(u.folder, chosen.path)
	same := u.viewing.path == chosen.path && u.viewer.preview.Path() == path
	u.viewing = chosen
	if u.stat != nil {
		u.stat()
	}
	if same {
		u.viewer.preview.GoLine(chosen.line)
		return u.viewer.fetch(u.preview.W, u.preview.H)
	}
	ctx, cancel := context.WithCancel(u.f.env.Context())
	u.stat = cancel
	return panes.Ask(ctx, u.f.env, func(ctx context.Context, e panes.Engine) (api.FileInfo, error) {
		_ = sleep.For(ctx, previewRest)
		return e.StatFile(ctx, path)
	}, func(info api.FileInfo, err error) tea.Cmd {
		if ctx.Err() != nil || err != nil { // of what is gone nothing is shown
			return nil
		}
		u.viewer.line, u.viewer.find = chosen.line, u.match
		u.viewer.show(path, &info)
		return u.viewer.fetch(u.preview.W, u.preview.H)
	})
}
