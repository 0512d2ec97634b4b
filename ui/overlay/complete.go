package overlay

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/panes/widget"
)

// A completion is what the text in a field may become.
type completion struct {
	field  int
	text   string   // of the field
	common string   // what all lines begin with
	lines  []string // what it may become
}

// maxNames is how many entries of a folder are offered.
const maxNames = 50

// lookUp finds out how the field can go on.
func (f *StartForm) lookUp() tea.Cmd {
	field, text, home := f.at, f.fields[f.at].Text(), f.Home
	switch f.at {
	case FieldCommand:
		folder := widget.ExpandHome(f.fields[FieldFolder].Text(), home)
		return func() tea.Msg {
			common, lines := commandsFrom(text, folder, home)
			return f.found(completion{field, text, common, lines})
		}
	case FieldFolder, FieldSandbox:
		if !strings.Contains(text, "/") {
			return nil
		}
		return func() tea.Msg {
			common, lines := pathsFrom(text, "", home, field == FieldFolder)
			return f.found(completion{field, text, common, lines})
		}
	}
	return nil
}

// found is a completion that was looked up. An earlier one can come after a later
// one.
func (f *StartForm) found(c completion) Answer {
	return Answer{Of: f, Do: func() tea.Cmd {
		if c.field == f.at && c.text == f.fields[f.at].Text() {
			f.matches = c
			if field, ok := f.fields[f.at].formLine.(*widget.Field); ok {
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
	if c.field != f.at || c.text != f.fields[f.at].Text() || len(c.common) <= len(c.text) {
		return false
	}
	f.fields[f.at].Set(c.common)
	return true
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

// commandsFrom are the lines that a command may become with another last word, a program
// or a file beside what it is run in, and what all of them begin with. Words with quotes
// are left alone.
func commandsFrom(text, folder, home string) (common string, lines []string) {
	word := text[strings.LastIndexByte(text, ' ')+1:]
	if word == "" || strings.ContainsAny(text, "'\"\\`$|&;<>()*?") {
		return "", nil
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
	for _, name := range names {
		if !strings.ContainsAny(name, " '\"\\`$|&;<>()*?") {
			lines = append(lines, head+dir+name)
		}
	}
	return CommonPrefix(lines), lines[:min(len(lines), maxNames)]
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
