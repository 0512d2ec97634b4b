package dialog

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/panes/kit/field"
	"tandem/panes/kit/text"
)

// A completion holds the ways to complete a field.
type completion struct {
	field  int
	text   string   // content of the field when they were looked up
	common string   // common prefix of all lines
	lines  []string // possible contents
}

// maxNames is the maximum number of completions shown.
const maxNames = 50

// findCompletions returns a command that looks up completions of the focused field; nil if
// it has none.
func (f *StartForm) findCompletions() tea.Cmd {
	field, s, home := f.focused, f.fields[f.focused].Text(), f.Home
	switch f.focused {
	case FieldCommand:
		folder := text.ExpandHome(f.fields[FieldFolder].Text(), home)
		return func() tea.Msg {
			common, lines := completeCommand(s, folder, home)
			return f.completionAnswer(completion{field, s, common, lines})
		}
	case FieldFolder, FieldSandbox:
		if !strings.Contains(s, "/") {
			return nil
		}
		return func() tea.Msg {
			common, lines := completePath(s, "", home, field == FieldFolder)
			return f.completionAnswer(completion{field, s, common, lines})
		}
	}
	return nil
}

// completionAnswer wraps a completion for the host. The lookups run concurrently, so an
// outdated one may arrive last; it is dropped.
func (f *StartForm) completionAnswer(c completion) Answer {
	return Answer{Of: f, Do: func() tea.Cmd {
		if c.field == f.focused && c.text == f.fields[f.focused].Text() {
			f.completion = c
			if field, ok := f.fields[f.focused].formInput.(*field.Field); ok {
				field.Suggest(c.lines)
			}
		}
		return nil
	}}
}

// applyCompletion inserts the common prefix of all completions. It reports whether that
// added anything.
func (f *StartForm) applyCompletion() bool {
	c := &f.completion
	if c.field != f.focused || c.text != f.fields[f.focused].Text() || len(c.common) <= len(c.text) {
		return false
	}
	f.fields[f.focused].Set(c.common)
	return true
}

// completePath returns the paths starting with s, at most maxNames, and the common
// prefix of all.
func completePath(s, base, home string, onlyFolders bool) (common string, lines []string) {
	dir, part := filepath.Split(s)
	folder := text.ExpandHome(dir, home)
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(base, folder)
	}
	for _, name := range listEntries(folder, part, onlyFolders) {
		lines = append(lines, dir+name)
	}
	return CommonPrefix(lines), lines[:min(len(lines), maxNames)]
}

// completeCommand completes the last word of a command line: the first word with a program
// in $PATH, any other with a file relative to folder. Words with quotes are not completed.
func completeCommand(s, folder, home string) (common string, lines []string) {
	word := s[strings.LastIndexByte(s, ' ')+1:]
	if word == "" || strings.ContainsAny(s, "'\"\\`$|&;<>()*?") {
		return "", nil
	}
	head := s[:len(s)-len(word)]
	dir, part := filepath.Split(word)
	var names []string
	if strings.TrimSpace(head) == "" && dir == "" {
		names = listPrograms(part)
	} else {
		where := text.ExpandHome(dir, home)
		if !filepath.IsAbs(where) {
			where = filepath.Join(folder, where)
		}
		names = listEntries(where, part, false)
	}
	for _, name := range names {
		if !strings.ContainsAny(name, " '\"\\`$|&;<>()*?") {
			lines = append(lines, head+dir+name)
		}
	}
	return CommonPrefix(lines), lines[:min(len(lines), maxNames)]
}

// listEntries returns the sorted names in a directory with the given prefix, directories
// with a slash appended. Hidden entries are included only if prefix starts with a dot.
func listEntries(folder, prefix string, onlyFolders bool) (names []string) {
	// An unreadable directory has no completions.
	all, _ := os.ReadDir(filepath.Clean(folder))
	for _, e := range all {
		name := e.Name()
		if !strings.HasPrefix(name, prefix) || strings.HasPrefix(name, ".") && !strings.HasPrefix(prefix, ".") {
			continue
		}
		// Stat, unlike the entry's own type, follows links to directories.
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

// listPrograms returns the sorted names of the executables in $PATH with the given prefix.
func listPrograms(prefix string) (names []string) {
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
