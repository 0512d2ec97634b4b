package keymap

import (
	"fmt"
	"slices"
	"strings"
)

// Reference is the catalogue as a page in Markdown: what every key does, and
// the names by which the configuration binds it to another.
func Reference() string {
	var out strings.Builder
	out.WriteString(referenceHead)
	b := DefaultBindings()
	for _, scope := range scopes() {
		var rows strings.Builder
		for _, d := range b.definitions {
			names := b.KeysOf(d.Action, scope)
			if len(names) == 0 {
				continue
			}
			fmt.Fprintf(&rows, "| %s | %s | `%s` |\n", keyCells(names), d.Help, d.Action)
		}
		if rows.Len() > 0 {
			fmt.Fprintf(&out, "\n## %s (`%s`)\n\n| key | does | action |\n|---|---|---|\n%s", scope.Title(), scope, rows.String())
		}
	}
	return out.String()
}

const referenceHead = `# Keys

This page is made from the catalogue in the package keys/keymap.

In a terminal every key goes to the program, but for the prefix, ctrl+b, and the direct keys, alt+1 … alt+4 and
alt+arrows. The prefix pressed twice goes to the program. ` + "`direct_keys = false`" + ` in config.toml leaves the direct keys to
programs.

Any action can have other keys:

` + "```toml" + `
[keys]
prefix = ["ctrl+a"]
"session.new" = ["c", "sessions n"] # after the prefix, and in the list of sessions
"view.files" = ["4", "list 4"]       # no direct key any more
` + "```" + `

A key without a scope before it belongs to the first scope below in which the action has one. An empty list leaves an
action without keys. A key that would mean two things at once is an error.
`

// scopes lists every scope once, in the order of the page.
func scopes() []Scope {
	all := []Scope{ScopePrefix}
	for _, chain := range Chains() {
		for _, s := range chain {
			if !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all
}

// keyCells writes key names as code in a cell of a table.
func keyCells(names []string) string {
	cells := make([]string, len(names))
	for i, n := range names {
		cells[i] = "`" + strings.ReplaceAll(n, "|", `\|`) + "`"
	}
	return strings.Join(cells, " ")
}
