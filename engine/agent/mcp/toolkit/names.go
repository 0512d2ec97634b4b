package toolkit

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/base/shell"
	"tandem/engine/screen/vt/scan"
)

// QuotedNote explains quoted names in a result.
const QuotedNote = "\n[Names in double quotes have escapes as in Go: \\n, \\\\, \\xff for a byte. Pass them as they are here, quotes too.]"

// UsesPluginFormat reports whether tools shared by the profiles native and plugin use the plugin
// profile's output format.
func (f *Agent) UsesPluginFormat() bool {
	return slices.ContainsFunc(f.Options.Profiles, func(p Profile) bool { return p == Plugin || p == All })
}

// quotesNames reports whether file tools quote ambiguous names and accept quoted ones.
func (f *Agent) quotesNames() bool { return !f.UsesPluginFormat() }

// ParsePath returns the path given in a call as the file system has it.
func (f *Agent) ParsePath(given string) string {
	if f.quotesNames() {
		if path, ok := api.UnquoteName(given); ok {
			return path
		}
	}
	return given
}

// PathInScope returns the scope and the path for an operation on files.
func (f *Agent) PathInScope(given string) (api.FileScope, string) {
	scope, path := f.fileScope(), f.Folder(f.ParsePath(given))
	if scope.Escaped = f.quotesNames(); scope.Escaped {
		path = api.EscapePath(path)
	}
	return scope, path
}

// DecodeName returns a name or path from the engine as the file system has it.
func (f *Agent) DecodeName(given string) string {
	if f.quotesNames() {
		return api.UnescapePath(given)
	}
	return given
}

// DisplayName returns a name or path on one line. If names are quoted, the result is unambiguous.
func (f *Agent) DisplayName(name string) string {
	switch {
	case !f.quotesNames():
		return scan.Visible(name)
	case needsQuotes(name):
		return strconv.Quote(name)
	}
	return name
}

// needsQuotes reports whether a name has invisible characters or looks like a quoted one.
func needsQuotes(name string) bool {
	return !utf8.ValidString(name) || strings.HasPrefix(name, `"`) || strings.Trim(name, " ") != name ||
		strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) })
}

// QuoteNote returns QuotedNote if any row starts with a quoted name.
func (f *Agent) QuoteNote(rows []string) string {
	if f.quotesNames() && slices.ContainsFunc(rows, func(row string) bool { return strings.HasPrefix(row, `"`) }) {
		return QuotedNote
	}
	return ""
}

// QuoteForShell quotes a word for a shell, as valid UTF-8.
func QuoteForShell(s string) string {
	if !utf8.ValidString(s) {
		return shell.QuoteBytes(s)
	}
	return shell.Quote(s)
}
