package files

import (
	"context"
	"errors"
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

// BookmarksFile is the name of the file of bookmarks in the data directory. It contains one path
// per line.
const BookmarksFile = datadir.Bookmarks

// bookmarks are folders kept by the user.
type bookmarks struct {
	env     panes.Env
	folder  *folder
	toggles []string // folders to add or remove; the first is being saved
}

func (b *bookmarks) file() string {
	return filepath.Join(b.env.News().Info.DataDir, BookmarksFile)
}

// ReadBookmarks returns the folders in a file of bookmarks; none if it does not exist.
func ReadBookmarks(ctx context.Context, e panes.FileReader, file string) (paths []string, err error) {
	out, err := e.ReadFile(ctx, file, 0, 0)
	if err != nil && !errors.Is(err, api.CodeNotFound) {
		return nil, err
	}
	for line := range strings.Lines(out.Text) {
		if line = strings.TrimRight(line, "\n"); line != "" {
			paths = append(paths, api.UnescapePath(line))
		}
	}
	return paths, nil
}

func changeBookmark(ctx context.Context, e panes.FileWriter, file string, paths []string, path string) ([]string, error) {
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

// show lets the user choose a bookmark. It reads the file first, because another dashboard may have
// changed it.
func (b *bookmarks) show() tea.Cmd {
	file := b.file()
	return panes.Call(b.env.Context(), b.env, func(ctx context.Context, e panes.Engine) ([]string, error) {
		return ReadBookmarks(ctx, e, file)
	}, panes.ReportErrors(b.env.Say, func(paths []string) tea.Cmd {
		if len(paths) == 0 {
			return b.env.Say("no bookmarks yet"+b.env.Bindings().WithKey("; press ", keymap.FilesKeep, " to bookmark this folder", keymap.ScopeFiles), false)
		}
		b.choose(paths)
		return nil
	}))
}

// toggleCurrent adds the current folder to the bookmarks, or removes it if it is one.
func (b *bookmarks) toggleCurrent() tea.Cmd { return b.toggle(b.folder.path) }

// toggle adds a folder to the bookmarks, or removes it if it is bookmarked already. Each change
// rewrites the whole file, so a change waits until earlier ones are done.
func (b *bookmarks) toggle(path string) tea.Cmd {
	b.toggles = append(b.toggles, path)
	if len(b.toggles) > 1 {
		return nil
	}
	return b.saveNext()
}

// saveNext saves the first of the changes.
func (b *bookmarks) saveNext() tea.Cmd {
	if len(b.toggles) == 0 {
		return nil
	}
	file, path := b.file(), b.toggles[0]
	return panes.Call(b.env.Context(), b.env, func(ctx context.Context, e panes.Engine) ([]string, error) {
		paths, err := ReadBookmarks(ctx, e, file)
		if err != nil {
			return nil, err
		}
		return changeBookmark(ctx, e, file, paths, path)
	}, func(paths []string, err error) tea.Cmd {
		b.toggles = b.toggles[1:]
		note := "bookmark removed"
		switch {
		case err != nil:
			note = panes.ErrorText(err)
		case slices.Contains(paths, path):
			note = "bookmarked" + b.env.Bindings().WithKey("; press ", keymap.FilesMarks, " to open it", keymap.ScopeFiles)
		}
		return tea.Batch(b.env.Say(note, err != nil), b.saveNext())
	})
}

// choose offers the bookmarks, to open or remove.
func (b *bookmarks) choose(paths []string) {
	u := &dialog.Picker{Title: "Go to a bookmark", Wide: list.ChoicesWidth, Verb: func(list.Choice) string { return "go there" }}
	var choices []list.Choice
	for i, path := range paths {
		choices = append(choices, list.Choice{Text: displayPath(path, b.env.Home()), Number: i})
	}
	u.List.Set(choices)
	u.Pick = func(c list.Choice) tea.Cmd {
		b.folder.goTo(paths[c.Number], "")
		return nil
	}
	u.Drop = func(c list.Choice) ([]list.Choice, tea.Cmd) {
		choices = slices.DeleteFunc(slices.Clone(choices), func(other list.Choice) bool { return other.Number == c.Number })
		return choices, b.toggle(paths[c.Number])
	}
	b.env.Ask(u)
}
