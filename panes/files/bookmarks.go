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
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/list"
	"tandem/persist/datadir"
)

// BookmarksFile is the file of bookmarks in the data directory, one path per line.
const BookmarksFile = datadir.Bookmarks

func (f *Pane) bookmarksFile() string {
	return filepath.Join(f.env.News().Info.DataDir, BookmarksFile)
}

// ReadBookmarks returns the folders in a file of bookmarks; none if it does not exist.
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
		// A line break in a path would end its line.
		text.WriteString(strings.ReplaceAll(api.EscapePath(p), "\n", "%0A") + "\n")
	}
	return paths, e.WriteFile(ctx, file, []byte(text.String()), false)
}

// showBookmarks reads the bookmarks, possibly changed by another dashboard, and offers them.
func (f *Pane) showBookmarks() tea.Cmd {
	file := f.bookmarksFile()
	return panes.Ask(f.env.Context(), f.env, func(ctx context.Context, e panes.Engine) ([]string, error) {
		return ReadBookmarks(ctx, e, file)
	}, func(paths []string, err error) tea.Cmd {
		switch {
		case err != nil:
			return f.env.Say(panes.ErrorText(err), true)
		case len(paths) == 0:
			return f.env.Say("no bookmarks yet"+f.env.Bindings().WithKey("; press ", keymap.FilesKeep, " to bookmark this folder", keymap.ScopeFiles), false)
		}
		f.chooseBookmark(paths)
		return nil
	})
}

// bookmarkFolder adds the current folder to the bookmarks, or removes it.
func (f *Pane) bookmarkFolder() tea.Cmd { return f.toggleBookmark(f.folder.path) }

func (f *Pane) toggleBookmark(path string) tea.Cmd {
	file := f.bookmarksFile()
	return panes.Ask(f.env.Context(), f.env, func(ctx context.Context, e panes.Engine) ([]string, error) {
		paths, err := ReadBookmarks(ctx, e, file)
		if err != nil {
			return nil, err
		}
		return changeBookmark(ctx, e, file, paths, path)
	}, func(paths []string, err error) tea.Cmd {
		switch {
		case err != nil:
			return f.env.Say(panes.ErrorText(err), true)
		case slices.Contains(paths, path):
			return f.env.Say("bookmarked"+f.env.Bindings().WithKey("; press ", keymap.FilesMarks, " to open it", keymap.ScopeFiles), false)
		}
		return f.env.Say("bookmark removed", false)
	})
}

// chooseBookmark offers the bookmarks, to open or remove.
func (f *Pane) chooseBookmark(paths []string) {
	u := &dialog.Picker{Title: "Go to a bookmark", Wide: list.ChoicesWidth, Verb: func(list.Choice) string { return "go there" }}
	var choices []list.Choice
	for i, path := range paths {
		choices = append(choices, list.Choice{Text: f.displayPath(path), Number: i})
	}
	u.List.Set(choices)
	u.Pick = func(c list.Choice) tea.Cmd {
		f.GoFolder(paths[c.Number], "")
		return nil
	}
	u.Drop = func(c list.Choice) ([]list.Choice, tea.Cmd) {
		choices = slices.DeleteFunc(slices.Clone(choices), func(other list.Choice) bool { return other.Number == c.Number })
		return choices, f.toggleBookmark(paths[c.Number])
	}
	f.env.Ask(u)
}
