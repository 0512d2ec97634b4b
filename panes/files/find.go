package files

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

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

// found are the results of a search.
type found struct {
	files   []foundFile
	limited bool
	passed  bool // large files were left for later
}

// find opens the search for names below the folder, or for contents.
func (f *Pane) find(contents bool) {
	f.env.Ask(&fileFinder{f: f, folder: f.folder.path, contents: contents})
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
		u.f.viewer.line = chosen.line
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
	folder, contents := u.folder, u.contents
	find := func(rest time.Duration, mostBytes int64) tea.Cmd {
		return panes.Ask(ctx, u.f.env, func(ctx context.Context, e panes.Engine) (found, error) {
			panes.Pause(ctx, rest)
			if contents {
				return searchContents(ctx, e, folder, text, mostBytes)
			}
			return findNames(ctx, e, folder, text)
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

// findNames finds names that hold the words that were typed, in their order.
func findNames(ctx context.Context, e panes.Engine, folder, text string) (found, error) {
	pattern := text
	if !strings.ContainsAny(text, "*?[{") {
		pattern = "*" + strings.Join(strings.Fields(text), "*") + "*"
		if strings.Contains(text, "/") {
			pattern = "**/" + pattern
		}
	}
	out, err := e.FindFiles(ctx, folder, pattern, mostFound)
	names := found{files: make([]foundFile, len(out.Paths)), limited: out.Limited}
	for i, path := range out.Paths {
		names.files[i].path = path
	}
	return names, err
}

// searchContents searches files of a size at most, or of any with 0.
func searchContents(ctx context.Context, e panes.Engine, folder, text string, mostBytes int64) (found, error) {
	out, err := e.SearchFiles(ctx, api.FilesGrepInput{Pattern: text, Path: folder, IgnoreCase: ignoresCase(text), Limit: mostFound, MostBytes: mostBytes})
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
	title := "Find files in "
	if u.contents {
		title = "Search file contents in "
	}
	title += u.f.shownPath(u.folder)
	field, x := u.field.Draw(width)
	rows = []string{look.Strong.Text(widget.Fit(title, width)), look.Text.Text(field), look.Rule.Text(strings.Repeat("─", width))}
	u.top = widget.Follow(u.top, u.cursor, len(u.found), height)
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
