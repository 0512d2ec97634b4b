package keymap

import (
	"slices"
	"strings"
)

// A HelpSection lists the keys of one scope.
type HelpSection struct {
	Scope Scope
	Title string
	Rows  []HelpRow
}

// A HelpRow is one action in one scope.
type HelpRow struct {
	Definition          // Group is "" outside its scope
	Keys       []string // as displayed: "ctrl+b c", "↑", "j"

	order int // sort key: 0 for an action of this scope, then those of other scopes
}

// KeyText returns the keys as one string.
func (r HelpRow) KeyText() string { return strings.Join(r.Keys, " ") }

// Help lists the keys of scopes, one section for each scope with keys: first the scope's own
// actions, then other actions with a key in it. The global scope is followed by the keys after the prefix.
func (b Bindings) Help(scopes ...Scope) []HelpSection {
	if slices.Contains(scopes, ScopeGlobal) && !slices.Contains(scopes, ScopePrefix) {
		scopes = append(slices.Clone(scopes), ScopePrefix)
	}
	var sections []HelpSection
	for _, scope := range scopes {
		section := HelpSection{Scope: scope, Title: scope.Title()}
		for _, d := range b.definitions {
			row, ok := b.helpRow(d, scope)
			if last := len(section.Rows) - 1; ok && d.isTab() && last >= 0 && section.Rows[last].isTab() {
				section.Rows[last].Keys[0] = joinKeys(section.Rows[last].Keys[0], strings.Join(row.Keys, " "))
				ok = false
			}
			if ok {
				section.Rows = append(section.Rows, row)
			}
		}
		// Stable, to keep the order of the catalogue otherwise.
		slices.SortStableFunc(section.Rows, func(x, y HelpRow) int { return x.order - y.order })
		if len(section.Rows) > 0 {
			sections = append(sections, section)
		}
	}
	return sections
}

func (b Bindings) helpRow(d Definition, scope Scope) (HelpRow, bool) {
	row := HelpRow{Definition: d}
	switch {
	case d.Scope == scope:
	case d.Scope == ScopePrefix || d.Scope == ScopeGlobal || d.Scope == ScopeList:
		row.Group, row.order = "", 2
	default:
		row.Group, row.order = "", 1
	}
	for _, bound := range b.keys[d.Action] {
		if bound.scope == scope {
			row.Keys = append(row.Keys, b.displayName(bound))
		}
	}
	return row, len(row.Keys) > 0
}

// displayName returns a key for display, after the prefix if it needs that.
func (b Bindings) displayName(bound binding) string {
	name := bound.key.Show()
	if bound.scope == ScopePrefix {
		return b.keys[Prefix][0].key.Show() + " " + name
	}
	return name
}
