package ui

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
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
	file := filepath.Join(m.news.Info.DataDir, bookmarksFile)
	return m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
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
func readBookmarks(ctx context.Context, e panes.Engine, file string) (paths []string, err error) {
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

func changeBookmark(ctx context.Context, e panes.Engine, file string, paths []string, path string) ([]string, error) {
	if i := slices.Index(paths, path); i >= 0 {
		paths = slices.Delete(paths, i, i+1)
	} else {
		paths = append(paths, path)
	}
	var text strings.Builder
	for _, p := range paths {
		text.WriteString(strings.ReplaceAll(api.EscapePath(p), "\n", "%0A") + "\n")
	}
	return paths, e.WriteFile(ctx, file, []byte(text.String()), false)
}

func (m *model) showBookmarks() tea.Cmd { return m.withBookmarks(bookmarksRead{show: true}) }

func (m *model) keepBookmark() tea.Cmd { return m.withBookmarks(bookmarksRead{keep: m.files.path}) }

func (m *model) takeBookmarks(msg bookmarksRead) tea.Cmd {
	switch {
	case msg.err != nil:
		return m.say(panes.ErrorText(msg.err), true)
	case msg.keep != "" && slices.Contains(msg.paths, msg.keep):
		return m.say("bookmarked"+m.withKey("; ", keymap.FilesMarks, " goes to it", keymap.ScopeFiles), false)
	case msg.keep != "":
		return m.say("no bookmark any more", false)
	case len(msg.paths) == 0:
		return m.say("no bookmark yet"+m.withKey("; ", keymap.FilesKeep, " makes the folder one", keymap.ScopeFiles), false)
	}
	m.chooseBookmark(msg.paths)
	return nil
}

// chooseBookmark lets the person choose a bookmark, or remove some.
func (m *model) chooseBookmark(paths []string) {
	u := &overlay.Picker{Title: "Go to the bookmark", Wide: choiceWidth, Verb: func(widget.Choice) string { return "go there" }}
	var choices []widget.Choice
	for i, path := range paths {
		choices = append(choices, widget.Choice{Text: m.shownPath(path), Number: i})
	}
	u.List.Set(choices)
	u.Pick = func(c widget.Choice) tea.Cmd {
		m.goFolder(paths[c.Number], "")
		return nil
	}
	u.Drop = func(c widget.Choice) ([]widget.Choice, tea.Cmd) {
		choices = slices.DeleteFunc(slices.Clone(choices), func(other widget.Choice) bool { return other.Number == c.Number })
		return choices, m.withBookmarks(bookmarksRead{keep: paths[c.Number]})
	}
	m.overlay = u
	m.dirty = true
}
