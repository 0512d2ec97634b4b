package tree

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tandem/keys/keymap"
)

// keysReference returns the catalogue of actions in Markdown: the effect of every key, and the
// action names used by the configuration.
func keysReference() string {
	var out strings.Builder
	out.WriteString(keysHead)
	b := keymap.DefaultBindings()
	for _, scope := range keyScopes() {
		var rows strings.Builder
		for _, d := range keymap.Catalogue() {
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

const keysHead = `# Keys

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
action without keys. A key of yours replaces a default one with another meaning there; ` + "`tandem config check`" + `
names it. The same key for two of your actions is an error, and so is one of the prefix.
`

// keyScopes returns every scope once, in the order of the page.
func keyScopes() []keymap.Scope {
	all := []keymap.Scope{keymap.ScopePrefix}
	for _, chain := range keymap.Chains() {
		for _, s := range chain {
			if !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all
}

// keyCells formats key names as code for a table cell.
func keyCells(names []string) string {
	cells := make([]string, len(names))
	for i, n := range names {
		cells[i] = "`" + strings.ReplaceAll(n, "|", `\|`) + "`"
	}
	return strings.Join(cells, " ")
}

func TestKeysReferenceNamesEveryActionAndKey(t *testing.T) {
	page := keysReference()
	for _, d := range keymap.Catalogue() {
		if !strings.Contains(page, "`"+string(d.Action)+"`") || !strings.Contains(page, d.Help) {
			t.Errorf("the page lacks %s", d.Action)
		}
		for _, scope := range keyScopes() {
			if names := keymap.DefaultBindings().KeysOf(d.Action, scope); len(names) > 0 {
				if scope != d.Scope {
					t.Errorf("%s has a key without a scope in section %s, want the page's first scope, %s", d.Action, d.Scope, scope)
				}
				break
			}
		}
	}
	if !strings.Contains(page, "| `ctrl+b c` | start a session | `session.new` |") {
		t.Error("the page does not show the chord of session.new")
	}
}
