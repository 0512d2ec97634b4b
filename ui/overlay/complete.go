package overlay

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/panes/widget"
)

// A completion is what the text in a field may go on with.
type completion struct {
	field int
	text  string   // of the field
	names []string // of its last part, a folder's with a slash behind it
	lines []string // what the text becomes with each
	whole string   // the text as far as all of them agree
}

// maxNames is how many entries of a folder are offered.
const maxNames = 50

// lookUp finds out how the field can go on.
func (f *StartForm) lookUp() tea.Cmd {
	field, text, home := f.at, f.fields[f.at].Text(), f.Home
	switch f.at {
	case FieldCommand:
		folder := widget.ExpandHome(f.fields[FieldFolder].Text(), home)
		return func() tea.Msg { return f.found(completeCommand(text, folder, home)) }
	case FieldFolder, FieldSandbox:
		return func() tea.Msg { return f.found(completePath(field, text, home)) }
	}
	return nil
}

// found is a completion that was looked up. An earlier one can come after a later
// one.
func (f *StartForm) found(c completion) Answer {
	return Answer{Of: f, Do: func() tea.Cmd {
		if c.field == f.at && c.text == f.fields[f.at].Text() {
			f.matches = c
			if field, ok := f.fields[f.at].(*widget.Field); ok {
				field.Suggest(c.lines)
			}
		}
		return nil
	}}
}

// complete takes over what the present completion adds and reports whether
// that was anything.
func (f *StartForm) complete() bool {
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
	if folder, part := filepath.Split(text); folder != "" {
		c.offer(folder, entries(widget.ExpandHome(folder, home), part, field == FieldFolder))
	}
	return c
}

// pathsFrom are the paths that a text may become, and what all of them begin with.
func pathsFrom(text, base, home string, onlyFolders bool) (common string, lines []string) {
	dir, part := filepath.Split(text)
	folder := widget.ExpandHome(dir, home)
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(base, folder)
	}
	for _, name := range entries(folder, part, onlyFolders) {
		lines = append(lines, dir+name)
	}
	return CommonPrefix(lines), lines[:min(len(lines), maxNames)]
}

// completeCommand looks up what the last word of a command may become: a
// program, or a file beside what it is run in. Words with quotes are left alone.
func completeCommand(text, folder, home string) completion {
	c := completion{field: FieldCommand, text: text, whole: text}
	word := text[strings.LastIndexByte(text, ' ')+1:]
	if word == "" || strings.ContainsAny(text, "'\"\\`$|&;<>()*?") {
		return c
	}
	head := text[:len(text)-len(word)]
	dir, part := filepath.Split(word)
	var names []string
	if strings.TrimSpace(head) == "" && dir == "" {
		names = programs(part)
	} else {
		where := widget.ExpandHome(dir, home)
		if !filepath.IsAbs(where) {
			where = filepath.Join(folder, where)
		}
		names = entries(where, part, false)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.ContainsAny(name, " '\"\\`$|&;<>()*?") })
	c.offer(head+dir, names)
	return c
}

// offer takes names that the text may go on with behind a part of it.
func (c *completion) offer(before string, names []string) {
	if len(names) > 0 {
		c.whole = before + CommonPrefix(names)
	}
	c.names = names[:min(len(names), maxNames)]
	for _, name := range c.names {
		c.lines = append(c.lines, before+name)
	}
}

// entries are the names in a folder with a prefix, sorted, folders with a slash
// behind them. Hidden ones have to be asked for.
func entries(folder, prefix string, onlyFolders bool) (names []string) {
	all, _ := os.ReadDir(filepath.Clean(folder)) // of what cannot be read nothing is offered
	for _, e := range all {
		name := e.Name()
		if !strings.HasPrefix(name, prefix) || strings.HasPrefix(name, ".") && !strings.HasPrefix(prefix, ".") {
			continue
		}
		info, err := os.Stat(filepath.Join(folder, name))
		switch {
		case err != nil:
			continue
		case info.IsDir():
			name += "/"
		case onlyFolders:
			continue
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// programs are those of $PATH whose names begin so, sorted.
func programs(prefix string) (names []string) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		all, _ := os.ReadDir(dir) // as above
		for _, e := range all {
			if !strings.HasPrefix(e.Name(), prefix) {
				continue
			}
			if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				names = append(names, e.Name())
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
