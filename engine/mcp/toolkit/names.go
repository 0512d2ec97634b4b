package toolkit

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/shell"
	"tandem/engine/vt/scan"
)

// QuotedNote stands below names of which some are quoted.
const QuotedNote = "\n[Names in double quotes have escapes as in Go: \\n, \\\\, \\xff for a byte. Pass them as they are here, quotes too.]"

// AsPlugin reports whether the tools that the profiles native and plugin share
// answer as is promised of plugin.
func (f *Agent) AsPlugin() bool {
	return slices.ContainsFunc(f.Options.Profiles, func(p Profile) bool { return p == Plugin || p == All })
}

// quotes reports whether file tools quote names that could be mistaken, and
// take them so.
func (f *Agent) quotes() bool { return !f.AsPlugin() }

// Path is a path that a call gives, as the file system has it.
func (f *Agent) Path(given string) string {
	if f.quotes() {
		if path, ok := api.UnquoteName(given); ok {
			return path
		}
	}
	return given
}

// At is the scope and the path of a call on files.
func (f *Agent) At(given string) (api.FileScope, string) {
	scope, path := f.scope(), f.Folder(f.Path(given))
	if scope.Escaped = f.quotes(); scope.Escaped {
		path = api.EscapePath(path)
	}
	return scope, path
}

// Named is a name or path that the engine gives, as the file system has it.
func (f *Agent) Named(given string) string {
	if f.quotes() {
		return api.UnescapePath(given)
	}
	return given
}

// Shown is a name or path on one line. Where names are quoted it can be told
// from every other.
func (f *Agent) Shown(name string) string {
	switch {
	case !f.quotes():
		return scan.Visible(name)
	case needsQuotes(name):
		return strconv.Quote(name)
	}
	return name
}

// needsQuotes reports whether a name holds what cannot be seen, or looks like a
// quoted one.
func needsQuotes(name string) bool {
	return !utf8.ValidString(name) || strings.HasPrefix(name, `"`) || strings.Trim(name, " ") != name ||
		strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) })
}

// NoteQuotes explains the quotes of rows that begin with names, if there are any.
func (f *Agent) NoteQuotes(rows []string) string {
	if f.quotes() && slices.ContainsFunc(rows, func(row string) bool { return strings.HasPrefix(row, `"`) }) {
		return QuotedNote
	}
	return ""
}

// ShellQuoted writes a word for a shell, and in a form that JSON can carry.
func ShellQuoted(s string) string {
	if !utf8.ValidString(s) {
		return shell.QuoteBytes(s)
	}
	return shell.Quote(s)
}

// Judged are the paths that the policy is asked about for one. On the way there
// bytes that are not UTF-8 are lost, and with them where links lead, so that
// such a path is told without links too.
func Judged(path string) []string {
	if utf8.ValidString(path) {
		return []string{path}
	}
	rest := ""
	for dir := path; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return []string{path, filepath.Join(real, rest)}
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
	return []string{path}
}
