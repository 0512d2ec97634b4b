package files

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

const (
	// findRest is how long typing has to rest before a search begins.
	findRest = 120 * time.Millisecond
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
	serial   int
	stop     context.CancelFunc
	text     string  // that the results are for
	rest     tea.Cmd // searches large files too
}

// A foundFile is a result.
type foundFile struct {
	path string // relative; a folder's ends in a slash
	line int64
	text string
}

// filesFound are the results of a search.
type filesFound struct {
	finder  *fileFinder
	serial  int
	text    string
	found   []foundFile
	limited bool
	passed  bool // large files were left for later
	err     error
}

func (f *Pane) showFileFinder(contents bool) tea.Cmd {
	f.env.Ask(&fileFinder{f: f, folder: f.path, contents: contents})
	return nil
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
		u.f.goFile(filepath.Dir(path), filepath.Base(path))
		u.f.line = chosen.line
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
}

func (u *fileFinder) Type(_ overlay.Host, k tea.KeyPressMsg) tea.Cmd {
	switch {
	case k.Code == tea.KeyUp:
		u.cursor = max(u.cursor-1, 0)
	case k.Code == tea.KeyDown:
		u.cursor = max(min(u.cursor+1, len(u.found)-1), 0)
	case k.Code == tea.KeyPgUp:
		u.cursor = max(u.cursor-10, 0)
	case k.Code == tea.KeyPgDown:
		u.cursor = max(min(u.cursor+10, len(u.found)-1), 0)
	case k.Code == tea.KeyTab:
		u.contents = !u.contents
		return u.search()
	default:
		u.field.Type(k)
		return u.search()
	}
	return nil
}

func (u *fileFinder) Paste(_ overlay.Host, text string) tea.Cmd {
	u.field.Paste(text)
	return u.search()
}

// search begins a search for what was typed and ends the one before.
func (u *fileFinder) search() tea.Cmd {
	text := u.field.Text()
	u.end()
	u.serial++
	if strings.TrimSpace(text) == "" {
		u.found, u.note, u.busy, u.cursor = nil, "", false, 0
		return nil
	}
	u.busy = true
	ctx, cancel := context.WithCancel(u.f.env.Context())
	u.stop = cancel
	serial, folder, contents := u.serial, u.folder, u.contents
	find := func(mostBytes int64) tea.Msg {
		e, err := u.f.env.Engine(ctx)
		if err != nil {
			return nil
		}
		msg := filesFound{finder: u, serial: serial, text: text}
		if contents {
			msg.found, msg.limited, msg.passed, msg.err = searchContents(ctx, e, folder, text, mostBytes)
		} else {
			msg.found, msg.limited, msg.err = findNames(ctx, e, folder, text)
		}
		if ctx.Err() != nil {
			return nil
		}
		return msg
	}
	u.rest = func() tea.Msg { return find(0) }
	return func() tea.Msg {
		if !rest(ctx, findRest) {
			return nil
		}
		return find(smallFile)
	}
}

// findNames finds names that hold the words that were typed, in their order.
func findNames(ctx context.Context, e panes.Engine, folder, text string) ([]foundFile, bool, error) {
	pattern := text
	if !strings.ContainsAny(text, "*?[{") {
		pattern = "*" + strings.Join(strings.Fields(text), "*") + "*"
		if strings.Contains(text, "/") {
			pattern = "**/" + pattern
		}
	}
	out, err := e.FindFiles(ctx, folder, pattern, mostFound)
	found := make([]foundFile, len(out.Paths))
	for i, path := range out.Paths {
		found[i].path = path
	}
	return found, out.Limited, err
}

// searchContents searches files of a size at most, or of any with 0; passed says
// whether there are larger ones.
func searchContents(ctx context.Context, e panes.Engine, folder, text string, mostBytes int64) (found []foundFile, limited, passed bool, err error) {
	smart := strings.IndexFunc(text, unicode.IsUpper) < 0
	out, err := e.SearchFiles(ctx, api.FilesGrepInput{Pattern: text, Path: folder, IgnoreCase: smart, Limit: mostFound, MostBytes: mostBytes})
	found = make([]foundFile, 0, len(out.Lines))
	for _, l := range out.Lines {
		if l.Match {
			found = append(found, foundFile{l.Path, l.Line, l.Text})
		}
	}
	return found, out.Limited, out.Passed > 0, err
}

func (f *Pane) takeFound(msg filesFound) tea.Cmd {
	u := msg.finder
	if !f.env.Shows(u) || msg.serial != u.serial {
		return nil
	}
	u.busy, u.note, u.bad = false, "", false
	if msg.err != nil {
		u.found, u.note, u.bad = nil, widget.Clean(api.AsError(msg.err).Message), true
		return nil
	}
	u.show(msg)
	if msg.passed && !msg.limited {
		u.busy = true
		return u.rest
	}
	if len(u.found) == 0 {
		u.note = "nothing found"
	}
	return nil
}

// show puts results in the place of others. More of the same leave the cursor
// where it is.
func (u *fileFinder) show(msg filesFound) {
	var on foundFile
	if u.cursor < len(u.found) {
		on = u.found[u.cursor]
	}
	at := slices.Index(msg.found, on)
	if u.text != msg.text || u.cursor == 0 || at < 0 {
		at, u.top = 0, 0
	}
	u.found, u.limited, u.text, u.cursor = msg.found, msg.limited, msg.text, at
}

// hints are the keys of the search.
func (u *fileFinder) Hints(_ overlay.Host) []widget.Hint {
	other := "in contents"
	if u.contents {
		other = "by name"
	}
	return []widget.Hint{panes.HintIn(u.f.env.Bindings(), keymap.Accept, "show", keymap.ScopePrompt), {Key: "↑ ↓", Does: "choose"}, {Key: "tab", Does: other},
		panes.HintIn(u.f.env.Bindings(), keymap.Cancel, "cancel", keymap.ScopePrompt)}
}

func (u *fileFinder) Draw(h overlay.Host, w, height int) (rows []string, width, x, y int) {
	look := u.f.env.Look()
	width = min(max(w*4/5, 56), w-6)
	height = max(min(height-8, 30), 5)
	title := "Find a file below "
	if u.contents {
		title = "Search in the files below "
	}
	title += u.f.shownPath(u.folder)
	field, x := u.field.Draw(width)
	rows = []string{look.Strong.Text(widget.Fit(title, width)), look.Text.Text(field), look.Rule.Text(strings.Repeat("─", width))}
	if u.cursor < u.top {
		u.top = u.cursor
	}
	u.top = max(u.top, u.cursor-height+1)
	for i := u.top; i < u.top+height; i++ {
		switch {
		case i < len(u.found):
			rows = append(rows, u.drawFound(i, width, look))
		case i == u.top && u.note != "" && u.bad:
			rows = append(rows, look.Bad.Text(widget.Fit(" "+u.note, width)))
		case i == u.top && u.note != "":
			rows = append(rows, look.Dim.Text(widget.Fit(" "+u.note, width)))
		default:
			rows = append(rows, widget.Spaces(width))
		}
	}
	note := u.count(h.Spinner())
	line, used := widget.Hints(u.Hints(h), max(width-widget.Width(note)-2, 0), 0, look.Key, look.Dim)
	rows = append(rows, line+widget.Spaces(width-used-widget.Width(note))+look.Dim.Text(note))
	return rows, width, x, 1
}

// Busy reports whether a search is under way.
func (u *fileFinder) Busy() bool { return u.busy }

func (u *fileFinder) count(spinner string) string {
	switch {
	case u.busy && len(u.found) > 0:
		return fmt.Sprintf("%s%d found, searching…", spinner, len(u.found))
	case u.busy:
		return spinner + "searching…"
	case len(u.found) == 0:
		return ""
	case u.limited:
		return fmt.Sprintf("%d of more", len(u.found))
	}
	return fmt.Sprintf("%d found", len(u.found))
}

func (u *fileFinder) drawFound(i, width int, look *widget.Look) string {
	f := u.found[i]
	path := widget.FileName(f.path)
	if f.line == 0 {
		if i == u.cursor {
			return look.Selected.Text(widget.Fit(" "+widget.ClipLeft(path, width-1), width))
		}
		dir, base := filepath.Split(strings.TrimSuffix(path, "/"))
		if strings.HasSuffix(path, "/") {
			base += "/"
		}
		dir = widget.ClipLeft(dir, max(width-1-widget.Width(base), 0))
		return " " + look.Dim.Text(dir) + look.Text.Text(widget.Fit(base, width-1-widget.Width(dir)))
	}
	place := widget.ClipLeft(fmt.Sprintf("%s:%d", path, f.line), width*2/5)
	text := widget.Clip(strings.TrimSpace(widget.FileName(strings.ReplaceAll(f.text, "\t", " "))), max(width-widget.Width(place)-3, 0))
	if i == u.cursor {
		return look.Selected.Text(widget.Fit(" "+place+"  "+text, width))
	}
	return " " + look.Dim.Text(place) + "  " + look.Text.Text(widget.Pad(text, width-widget.Width(place)-3))
}

// mostHits is how many matches of a file are known at a time.
const mostHits = 5000

// A fileSearch is a search in one file that is under way.
type fileSearch struct {
	path, pattern string
	stop          context.CancelFunc
}

// fileSearched are the lines of a file that match.
type fileSearched struct {
	of   *fileSearch
	hits []int64
	err  error
}

// askPreviewSearch searches the file that is shown.
func (f *Pane) askPreviewSearch() tea.Cmd {
	path := f.preview.Path()
	f.env.Ask(overlay.NewPrompt("Search", "", func(pattern string) tea.Cmd {
		f.endFileSearch()
		if pattern == "" {
			f.preview.Search(nil)
			return nil
		}
		return f.searchFile(path, pattern)
	}))
	return nil
}

func (f *Pane) searchFile(path, pattern string) tea.Cmd {
	ctx, cancel := context.WithCancel(f.env.Context())
	search := &fileSearch{path, pattern, cancel}
	f.search = search
	smart := strings.IndexFunc(pattern, unicode.IsUpper) < 0
	return panes.Call(f.env, func(_ context.Context, e panes.Engine) tea.Msg {
		defer cancel()
		out, err := e.SearchFiles(ctx, api.FilesGrepInput{Pattern: pattern, Path: path, IgnoreCase: smart, Limit: mostHits})
		msg := fileSearched{of: search, err: err}
		for _, l := range out.Lines {
			msg.hits = append(msg.hits, l.Line)
		}
		return msg
	}, func(err error) tea.Msg { return fileSearched{of: search, err: err} })
}

// endFileSearch ends the search in a file, if there is one.
func (f *Pane) endFileSearch() {
	if f.search != nil {
		f.search.stop()
		f.search = nil
	}
}

func (f *Pane) takeSearched(msg fileSearched) tea.Cmd {
	if f.search != msg.of {
		return nil
	}
	f.search = nil
	if msg.err != nil {
		return f.env.Say(panes.ErrorText(msg.err), true)
	}
	f.preview.Search(msg.hits)
	if !f.preview.NextHit(false) {
		return f.env.Say("no line matches “"+widget.Clean(msg.of.pattern)+"”", false)
	}
	return nil
}

// nextHit goes to another match, or asks what to search for.
func (f *Pane) nextHit(back bool) tea.Cmd {
	if !f.preview.NextHit(back) {
		return f.askPreviewSearch()
	}
	return nil
}
