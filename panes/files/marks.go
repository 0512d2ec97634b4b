package files

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

// BookmarksFile is the file in the data folder that holds bookmarks, a path a
// line.
const BookmarksFile = "bookmarks"

// bookmarksRead are the bookmarks, and what they were read for.
type bookmarksRead struct {
	paths []string
	show  bool   // them
	keep  string // make this one, or none any more
	err   error
}

// withBookmarks reads the bookmarks, which other dashboards may have changed.
func (f *Pane) withBookmarks(msg bookmarksRead) tea.Cmd {
	file := filepath.Join(f.env.News().Info.DataDir, BookmarksFile)
	return panes.Call(f.env, func(ctx context.Context, e panes.Engine) tea.Msg {
		if msg.paths, msg.err = ReadBookmarks(ctx, e, file); msg.err != nil {
			return msg
		}
		if msg.keep != "" {
			msg.paths, msg.err = changeBookmark(ctx, e, file, msg.paths, msg.keep)
		}
		return msg
	}, func(err error) tea.Msg { return bookmarksRead{err: err} })
}

// ReadBookmarks are the folders in the file of bookmarks; none if there is no
// such file.
func ReadBookmarks(ctx context.Context, e panes.Engine, file string) (paths []string, err error) {
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

func (f *Pane) showBookmarks() tea.Cmd { return f.withBookmarks(bookmarksRead{show: true}) }

func (f *Pane) keepBookmark() tea.Cmd { return f.withBookmarks(bookmarksRead{keep: f.path}) }

func (f *Pane) takeBookmarks(msg bookmarksRead) tea.Cmd {
	switch {
	case msg.err != nil:
		return f.env.Say(panes.ErrorText(msg.err), true)
	case msg.keep != "" && slices.Contains(msg.paths, msg.keep):
		return f.env.Say("bookmarked"+panes.WithKey(f.env.Bindings(), "; ", keymap.FilesMarks, " goes to it", keymap.ScopeFiles), false)
	case msg.keep != "":
		return f.env.Say("bookmark removed", false)
	case len(msg.paths) == 0:
		return f.env.Say("no bookmark yet"+panes.WithKey(f.env.Bindings(), "; ", keymap.FilesKeep, " makes the folder one", keymap.ScopeFiles), false)
	}
	f.chooseBookmark(msg.paths)
	return nil
}

// chooseBookmark lets the person choose a bookmark, or remove some.
func (f *Pane) chooseBookmark(paths []string) {
	u := &overlay.Picker{Title: "Go to the bookmark", Wide: widget.ChoicesWidth, Verb: func(widget.Choice) string { return "go there" }}
	var choices []widget.Choice
	for i, path := range paths {
		choices = append(choices, widget.Choice{Text: f.shownPath(path), Number: i})
	}
	u.List.Set(choices)
	u.Pick = func(c widget.Choice) tea.Cmd {
		f.GoFolder(paths[c.Number], "")
		return nil
	}
	u.Drop = func(c widget.Choice) ([]widget.Choice, tea.Cmd) {
		choices = slices.DeleteFunc(slices.Clone(choices), func(other widget.Choice) bool { return other.Number == c.Number })
		return choices, f.withBookmarks(bookmarksRead{keep: paths[c.Number]})
	}
	f.env.Ask(u)
}
