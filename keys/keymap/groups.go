package keymap

import (
	"cmp"
	"slices"
	"strings"
)

// A Group is a group of keys that can follow the prefix.
type Group struct {
	Title string
	Rows  []GroupRow
}

// A GroupRow is one key, or several similar ones, with a short description.
type GroupRow struct {
	Keys string // without the prefix
	Does string

	actions []Action
}

// Action returns the action of the row; ok is false if it has several.
func (r GroupRow) Action() (a Action, ok bool) {
	if len(r.actions) != 1 {
		return "", false
	}
	return r.actions[0], true
}

// Following lists the keys that can follow the prefix, one per action, in the groups of the
// catalogue. Only actions that work are listed; those of other scopes come last.
func (b Bindings) Following(works func(Action) bool) []Group {
	var groups []Group
	more := Group{Title: "More"}
	for _, d := range b.definitions {
		// Only the first of an action's keys is listed.
		i := slices.IndexFunc(b.keys[d.Action], func(bound binding) bool { return bound.scope == ScopePrefix })
		if i < 0 || !works(d.Action) {
			continue
		}
		key := b.keys[d.Action][i].key.Show()
		// The user has given this action a key after the prefix.
		if d.Scope != ScopePrefix {
			more.addRow(d, key)
			continue
		}
		if len(groups) == 0 || groups[len(groups)-1].Title != d.Group {
			groups = append(groups, Group{Title: d.Group})
		}
		groups[len(groups)-1].addRow(d, key)
	}
	if len(more.Rows) > 0 {
		groups = append(groups, more)
	}
	return groups
}

// addRow adds a key, to the last row if that has the same name.
func (g *Group) addRow(d Definition, key string) {
	row := GroupRow{Keys: key, Does: cmp.Or(d.Row, d.Label, d.Help), actions: []Action{d.Action}}
	if last := len(g.Rows) - 1; last >= 0 && g.Rows[last].Does == row.Does {
		row.Keys, row.actions = joinKeys(g.Rows[last].Keys, key), append(g.Rows[last].actions, d.Action)
		g.Rows = g.Rows[:last]
	}
	g.Rows = append(g.Rows, row)
}

// joinKeys appends a key to others, as a range if it is the next number: "1…3" after "1…2".
func joinKeys(keys, key string) string {
	n := key[len(key)-1]
	if n < '1' || n > '9' {
		return keys + " " + key
	}
	name, before := key[:len(key)-1], string(n-1)
	if start, ok := strings.CutSuffix(keys, "…"+before); ok && strings.Contains(" "+start, " "+name) {
		return start + "…" + string(n)
	}
	if strings.HasSuffix(" "+keys, " "+name+before) {
		return keys + "…" + string(n)
	}
	return keys + " " + key
}
