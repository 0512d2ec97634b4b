package keymap

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Presets are the names of sets of keys, for those coming from another
// program too.
func Presets() []string { return []string{"tandem", "tmux", "zellij"} }

// Preset gives the actions a preset's keys, and those of changes theirs instead;
// "" is the catalogue's own. It changes keys after the prefix and direct ones;
// the keys of lists and logs stay. It fails as Rebind does.
func (b Bindings) Preset(name string, changes map[Action][]string) (Bindings, error) {
	var table map[Action][]string
	switch name {
	case "", "tandem":
	case "tmux":
		table = tmuxKeys()
	case "zellij":
		table = zellijKeys()
	default:
		return Bindings{}, fmt.Errorf("unknown preset %q; known are %s", name, strings.Join(Presets(), ", "))
	}
	all := make(map[Action][]string, len(table)+len(changes))
	for action, names := range table {
		all[action] = append(slices.Clone(names), b.others(action, names)...)
	}
	maps.Copy(all, changes)
	return b.Rebind(all)
}

// others are an action's keys in the scopes that a preset has none for.
func (b Bindings) others(action Action, preset []string) (names []string) {
	for _, bound := range b.keys[action] {
		scope := string(bound.scope) + " "
		named := slices.ContainsFunc(preset, func(name string) bool { return strings.HasPrefix(name, scope) })
		if bound.scope != ScopePrefix && bound.scope != ScopeGlobal && !named {
			names = append(names, scope+bound.key.String())
		}
	}
	return names
}

// tmuxKeys are what tmux has and the catalogue has not, and nothing that a
// program would miss without the prefix.
func tmuxKeys() map[Action][]string {
	return map[Action][]string{
		ViewSessions: k("1"), ViewProcesses: k("2"), ViewHistory: k("3"), ViewFiles: k("4"),
		FocusLeft: k("left"), FocusDown: k("down"), FocusUp: k("up"), FocusRight: k("right"),
		SessionLast:   k("l"),
		FocusList:     k("s", "w"),
		PaneClose:     k("W"),
		LayoutEqual:   k("=", "E"),
		SessionRename: k(",", "$"),
		SessionKill:   k("x", "&"),
		ScrollMode:    k("[", "pgup"),
		ResizeLeft:    k("ctrl+left", "alt+left", "H"),
		ResizeDown:    k("ctrl+down", "alt+down", "J"),
		ResizeUp:      k("ctrl+up", "alt+up", "K"),
		ResizeRight:   k("ctrl+right", "alt+right", "L"),
	}
}

// zellijKeys are zellij's direct keys, and behind its own leader, ctrl+g, the
// letters of its modes for panes and tabs.
func zellijKeys() map[Action][]string {
	return map[Action][]string{
		Prefix:          k("ctrl+g"),
		FocusLeft:       k("left", "h", "global alt+left", "global alt+h"),
		FocusDown:       k("down", "j", "global alt+down", "global alt+j"),
		FocusUp:         k("up", "k", "global alt+up", "global alt+k"),
		FocusRight:      k("right", "l", "global alt+right", "global alt+l"),
		FocusNext:       k("p"),
		FocusPrevious:   k("P"),
		PaneNumbers:     k("Q"),
		FocusList:       k("w"),
		SplitBeside:     k("n", "r", "global alt+n"),
		SplitBelow:      k("d"),
		PaneZoom:        k("f", "z", "global alt+f"),
		PaneFloat:       k("F"),
		PaneClose:       k("X"),
		SessionNew:      k("t"),
		SessionNext:     k("tab", "global alt+o"),
		SessionPrevious: k("shift+tab", "global alt+i"),
		SessionWaiting:  k("N"),
		SessionRename:   k("c", ","),
		ScrollMode:      k("s", "["),
		HistoryInsert:   k("ctrl+r"),
		Detach:          k("q", "global ctrl+q"),
		ResizeLeft:      k("H", "ctrl+left", "global alt+-"),
		ResizeRight:     k("L", "ctrl+right", "global alt+="),
	}
}

// EmacsCopy returns bindings with Emacs keys in scroll and copy mode.
func (b Bindings) EmacsCopy() Bindings {
	changes := map[Action][]string{}
	for _, d := range b.definitions {
		if d.Emacs == nil {
			continue
		}
		names := slices.Clone(d.Emacs)
		for _, bound := range b.keys[d.Action] {
			if bound.scope != ScopeScroll {
				names = append(names, string(bound.scope)+" "+bound.key.String())
			}
		}
		changes[d.Action] = names
	}
	other, err := b.Rebind(changes)
	if err != nil {
		panic(err) // the catalogue is data of this package, held by its tests
	}
	return other
}
