package keymap

import (
	"cmp"
	"slices"
)

// A Group is what belongs together of the keys that may follow the prefix.
type Group struct {
	Title string
	Rows  []GroupRow
}

// A GroupRow is a key, or a few that do the like, and what they do in a few words.
type GroupRow struct {
	Keys string // without the prefix
	Does string

	actions []Action
}

// Action is what the row does; ok is false for a row of several keys.
func (r GroupRow) Action() (a Action, ok bool) {
	if len(r.actions) != 1 {
		return "", false
	}
	return r.actions[0], true
}

// Following lists the keys that may follow the prefix, in the groups of the catalogue:
// of each action the first. Actions of hidden are left out; actions of other scopes
// come last.
func (b Bindings) Following(hidden ...Action) []Group {
	var groups []Group
	more := Group{Title: "More"}
	for _, d := range b.definitions {
		i := slices.IndexFunc(b.keys[d.Action], func(bound binding) bool { return bound.scope == ScopePrefix })
		if i < 0 || slices.Contains(hidden, d.Action) {
			continue
		}
		key := b.keys[d.Action][i].key.Show()
		if d.Scope != ScopePrefix {
			more.add(d, key)
			continue
		}
		if len(groups) == 0 || groups[len(groups)-1].Title != d.Group {
			groups = append(groups, Group{Title: d.Group})
		}
		groups[len(groups)-1].add(d, key)
	}
	if len(more.Rows) > 0 {
		groups = append(groups, more)
	}
	return groups
}

// add appends a key, to the last row if that is of the same name.
func (g *Group) add(d Definition, key string) {
	row := GroupRow{Keys: key, Does: cmp.Or(d.Row, d.Label, d.Help), actions: []Action{d.Action}}
	if last := len(g.Rows) - 1; last >= 0 && g.Rows[last].Does == row.Does {
		row.Keys, row.actions = g.Rows[last].Keys+" "+key, append(g.Rows[last].actions, d.Action)
		g.Rows = g.Rows[:last]
	}
	g.Rows = append(g.Rows, row)
}
