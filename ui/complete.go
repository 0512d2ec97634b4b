package ui

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// A completion is what the path in a field may go on with.
type completion struct {
	field int
	text  string   // of the field
	names []string // of the last part, a folder's with a slash behind it
	whole string   // the text as far as all of them agree
}

// completionMsg is a completion that was looked up.
type completionMsg struct {
	form *startForm
	completion
}

// maxNames is how many entries of a folder are offered.
const maxNames = 50

// lookUp finds out how the path in the field can go on.
func (f *startForm) lookUp(m *model) tea.Cmd {
	if f.at != fieldFolder && f.at != fieldSandbox {
		return nil
	}
	field, text, home := f.at, f.fields[f.at].Text(), m.list.Home
	return func() tea.Msg {
		return completionMsg{f, completePath(field, text, home)}
	}
}

func (m *model) completed(msg completionMsg) tea.Cmd {
	if m.overlay == overlay(msg.form) {
		msg.form.matches = msg.completion
		m.dirty = true
	}
	return nil
}

// complete takes over what the present completion adds and reports whether
// that was anything.
func (f *startForm) complete() bool {
	c := &f.matches
	if c.field != f.at || c.text != f.fields[f.at].Text() || len(c.whole) <= len(c.text) {
		return false
	}
	f.fields[f.at].Set(c.whole)
	return true
}

// completePath looks up the entries of a folder that the last part of a path
// may become: only folders, for a field that takes one.
func completePath(field int, text, home string) completion {
	c := completion{field: field, text: text, whole: text}
	folder, part := filepath.Split(text)
	if folder == "" {
		return c
	}
	entries, err := os.ReadDir(expandHome(filepath.Clean(folder), home))
	if err != nil {
		return c
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, part) || strings.HasPrefix(name, ".") && !strings.HasPrefix(part, ".") {
			continue
		}
		info, err := os.Stat(filepath.Join(expandHome(folder, home), name))
		switch {
		case err != nil:
			continue
		case info.IsDir():
			name += "/"
		case field == fieldFolder:
			continue
		}
		c.names = append(c.names, name)
	}
	slices.Sort(c.names)
	if len(c.names) > 0 {
		c.whole = folder + commonPrefix(c.names)
	}
	c.names = c.names[:min(len(c.names), maxNames)]
	return c
}

func commonPrefix(names []string) string {
	prefix := names[0]
	for _, name := range names[1:] {
		for !strings.HasPrefix(name, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	return strings.ToValidUTF8(prefix, "")
}
