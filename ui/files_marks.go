package ui

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/panes"
)

// bookmarksFile is the file in the data folder that holds bookmarks, a path a
// line.
const bookmarksFile = "bookmarks"

// bookmarksRead are the bookmarks, and what they were read for.
type bookmarksRead struct {
	paths []string
	show  bool   // them
	keep  string // make this one, or none any more
	err   error
}

// withBookmarks reads the bookmarks, which other dashboards may have changed.
func (m *model) withBookmarks(msg bookmarksRead) tea.Cmd {
	file := filepath.Join(m.news.info.DataDir, bookmarksFile)
	return m.call(func(ctx context.Context, e engine) tea.Msg {
		if msg.paths, msg.err = readBookmarks(ctx, e, file); msg.err != nil {
			return msg
		}
		if msg.keep != "" {
			msg.paths, msg.err = changeBookmark(ctx, e, file, msg.paths, msg.keep)
		}
		return msg
	}, func(err error) tea.Msg { return bookmarksRead{err: err} })
}

// readBookmarks are the folders in the file of bookmarks; none if there is no
// such file.
func readBookmarks(ctx context.Context, e engine, file string) (paths []string, err error) {
	out, err := e.ReadFile(ctx, file, 0, 0)
	if err != nil && !isNotFound(err) {
		return nil, err
	}
	for line := range strings.Lines(out.Text) {
		if line = strings.TrimRight(line, "\n"); line != "" {
			paths = append(paths, api.UnescapePath(line))
		}
	}
	return paths, nil
}

func isNotFound(err error) bool { return api.AsError(err).Code == api.CodeNotFound }

func changeBookmark(ctx context.Context, e engine, file string, paths []string, path string) ([]string, error) {
	if i := slices.Index(paths, path); i >= 0 {
		paths = slices.Delete(paths, i, i+1)
	} else {
		paths = append(paths, path)
	}
	var text strings.Builder
	for _, p := range paths {
		text.WriteString(api.EscapePath(p) + "\n")
	}
	return paths, e.WriteFile(ctx, file, []byte(text.String()), false)
}

func (m *model) showBookmarks() tea.Cmd { return m.withBookmarks(bookmarksRead{show: true}) }

func (m *model) keepBookmark() tea.Cmd {
	if strings.ContainsRune(m.files.path, '\n') {
		return m.say("the path holds a line break", true)
	}
	return m.withBookmarks(bookmarksRead{keep: m.files.path})
}

func (m *model) takeBookmarks(msg bookmarksRead) tea.Cmd {
	switch {
	case msg.err != nil:
		return m.say(errorText(msg.err), true)
	case msg.keep != "" && slices.Contains(msg.paths, msg.keep):
		return m.say("bookmarked; b goes to it", false)
	case msg.keep != "":
		return m.say("no bookmark any more", false)
	case len(msg.paths) == 0:
		return m.say("no bookmark yet; B makes the folder one", false)
	}
	m.overlay = &bookmarks{paths: msg.paths}
	m.dirty = true
	return nil
}

// bookmarks lets the person choose one of them.
type bookmarks struct {
	paths  []string
	field  panes.Field
	cursor int
}

func (u *bookmarks) scopes() []keys.Scope { return []keys.Scope{keys.ScopePrompt} }

// shown are the bookmarks that hold what was typed.
func (u *bookmarks) shown() []string {
	typed := strings.ToLower(strings.TrimSpace(u.field.Text()))
	return slices.DeleteFunc(slices.Clone(u.paths), func(path string) bool {
		return !strings.Contains(strings.ToLower(path), typed)
	})
}

func (u *bookmarks) act(m *model, a keys.Action) tea.Cmd {
	m.overlay = nil
	if shown := u.shown(); a == keys.Accept && u.cursor < len(shown) {
		m.goFolder(shown[u.cursor], "")
	}
	return nil
}

func (u *bookmarks) typed(_ *model, k keys.Key) tea.Cmd {
	switch {
	case k.Phase == keys.Release:
	case k.Code == keys.Up:
		u.cursor = max(u.cursor-1, 0)
	case k.Code == keys.Down:
		u.cursor = max(min(u.cursor+1, len(u.shown())-1), 0)
	default:
		u.field.Type(k)
		u.cursor = 0
	}
	return nil
}

func (u *bookmarks) pasted(_ *model, text string) tea.Cmd {
	u.field.Insert(text)
	return nil
}

func (u *bookmarks) draw(m *model, screen rect) ([]string, int, int, int) {
	look := &m.look
	width := min(60, screen.w-8)
	field, x := u.field.Draw(width)
	rows := []string{look.Strong.Text(panes.Fit("Bookmarks", width)), look.Text.Text(field)}
	shown := u.shown()
	n := min(len(u.paths), max(screen.h-8, 3))
	top := max(u.cursor-n+1, 0)
	for i := top; i < top+n; i++ {
		switch {
		case i >= len(shown):
			rows = append(rows, panes.Spaces(width))
		case i == u.cursor:
			rows = append(rows, look.Selected.Text(panes.Fit(" "+panes.ClipLeft(panes.ShortPath(shown[i], m.list.Home), width-1), width)))
		default:
			rows = append(rows, look.Text.Text(panes.Fit(" "+panes.ClipLeft(panes.ShortPath(shown[i], m.list.Home), width-1), width)))
		}
	}
	hints := []panes.Hint{{Key: "enter", Does: "go"}, {Key: "↑ ↓", Does: "choose"}, {Key: "esc", Does: "cancel"}}
	line, used := panes.Hints(hints, width, 0, look.Key, look.Dim)
	return append(rows, panes.Spaces(width), line+panes.Spaces(width-used)), width, x, 1
}
