package keymap

import (
	"cmp"
	"slices"
	"strings"
)

// A HelpSection is the keys of one scope.
type HelpSection struct {
	Scope Scope
	Title string
	Rows  []HelpRow
}

// A HelpRow is one action in one scope.
type HelpRow struct {
	Definition          // Group is "" outside its scope
	Keys       []string // as they are shown: "ctrl+b c", "↑", "j"

	borrowed int // how far from the scope its action is at home
}

// KeyText is the keys in one string.
func (r HelpRow) KeyText() string { return strings.Join(r.Keys, " ") }

// Help lists what keys do in scopes, one section for each scope that has any: the
// actions of the scope itself first, then those that have a key there too.
// With a global scope among them comes what follows the prefix.
func (b Bindings) Help(scopes ...Scope) []HelpSection {
	if slices.Contains(scopes, ScopeGlobal) && !slices.Contains(scopes, ScopePrefix) {
		scopes = append(slices.Clone(scopes), ScopePrefix)
	}
	var sections []HelpSection
	for _, scope := range scopes {
		section := HelpSection{Scope: scope, Title: scope.Title()}
		for _, d := range b.definitions {
			if row, ok := b.row(d, scope); ok {
				section.Rows = append(section.Rows, row)
			}
		}
		slices.SortStableFunc(section.Rows, func(x, y HelpRow) int { return x.borrowed - y.borrowed })
		if len(section.Rows) > 0 {
			sections = append(sections, section)
		}
	}
	return sections
}

func (b Bindings) row(d Definition, scope Scope) (HelpRow, bool) {
	row := HelpRow{Definition: d}
	switch {
	case d.Scope == scope:
	case d.Scope == ScopePrefix || d.Scope == ScopeGlobal || d.Scope == ScopeList:
		row.Group, row.borrowed = "", 2
	default:
		row.Group, row.borrowed = "", 1
	}
	for _, bound := range b.keys[d.Action] {
		if bound.scope == scope {
			row.Keys = append(row.Keys, b.shown(bound))
		}
	}
	return row, len(row.Keys) > 0
}

// shown is a key as a person reads it, with the prefix before it.
func (b Bindings) shown(bound binding) string {
	name := bound.key.Show()
	if bound.scope == ScopePrefix {
		return b.keys[Prefix][0].key.Show() + " " + name
	}
	return name
}

// A Hint is a key worth showing in the status bar.
type Hint struct {
	Key    string // without the prefix once that was pressed
	Label  string
	Action Action
}

// Hints lists the next useful keys, the most useful first: those of scopes, or
// once the prefix was pressed those that may follow it.
func (b Bindings) Hints(pending bool, scopes ...Scope) []Hint {
	if pending {
		scopes = []Scope{ScopePrefix}
	}
	var found []rankedHint
	for _, scope := range scopes {
		found = append(found, b.hints[scope]...)
	}
	slices.SortStableFunc(found, func(x, y rankedHint) int { return cmp.Compare(x.rank, y.rank) })
	hints := make([]Hint, len(found))
	for i, f := range found {
		hints[i] = f.Hint
	}
	return hints
}

// A rankedHint is a Hint and how useful it is; 1 is the most.
type rankedHint struct {
	Hint
	rank int
}

// hintsOf lists, by scope, the keys worth showing. They are drawn in every frame.
func (b Bindings) hintsOf() map[Scope][]rankedHint {
	all := map[Scope][]rankedHint{}
	for _, d := range b.definitions {
		if d.Rank == 0 {
			continue
		}
		told := map[Scope]bool{}
		for _, bound := range b.keys[d.Action] {
			if !told[bound.scope] {
				told[bound.scope] = true
				all[bound.scope] = append(all[bound.scope], rankedHint{Hint{bound.key.Show(), d.Label, d.Action}, d.Rank})
			}
		}
	}
	return all
}

// KeysOf lists an action's keys as help writes them, those of scope or, for an
// empty scope, all.
func (b Bindings) KeysOf(a Action, scope Scope) []string {
	var names []string
	for _, bound := range b.keys[a] {
		if scope == "" || bound.scope == scope {
			names = append(names, b.shown(bound))
		}
	}
	return names
}
