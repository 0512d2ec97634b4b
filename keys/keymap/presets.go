package keymap

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Presets returns the names of the key sets, including those for users of other programs.
func Presets() []string { return []string{"tandem", "tmux", "zellij"} }

// Preset returns bindings with the keys of a preset, overridden by changes; "" is the default. A
// preset changes keys after the prefix and direct keys, but not those of lists and logs. It fails
// like Rebind.
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
	all := make(map[Action][]string, len(table))
	for action, names := range table {
		all[action] = append(slices.Clone(names), b.keysOutside(action, names)...)
	}
	preset, err := b.Rebind(all)
	if err != nil {
		return Bindings{}, err
	}
	preset.replaced = nil // the user wrote none of these keys
	return preset.Rebind(changes)
}

// keysOutside returns an action's keys in the scopes that a preset does not change.
func (b Bindings) keysOutside(action Action, preset []string) (names []string) {
	for _, bound := range b.keys[action] {
		scope := string(bound.scope) + " "
		named := slices.ContainsFunc(preset, func(name string) bool { return strings.HasPrefix(name, scope) })
		if bound.scope != ScopePrefix && bound.scope != ScopeGlobal && !named {
			names = append(names, scope+bound.key.String())
		}
	}
	return names
}

// tmuxKeys returns tmux's keys, as far as they differ from the catalogue. None of them is taken
// from programs.
func tmuxKeys() map[Action][]string {
	table := map[Action][]string{
		FocusLeft: keyList("left"), FocusDown: keyList("down"), FocusUp: keyList("up"), FocusRight: keyList("right"),
		SessionLast:   keyList("l"),
		FocusList:     keyList("s", "w"),
		PaneClose:     keyList("W"),
		LayoutEqual:   keyList("=", "E"),
		SessionRename: keyList("$"),
		TabRename:     keyList(",", "."),
		SessionKill:   keyList("x", "&"),
		ScrollMode:    keyList("[", "pgup"),
		ResizeLeft:    keyList("ctrl+left", "alt+left", "H"),
		ResizeDown:    keyList("ctrl+down", "alt+down", "J"),
		ResizeUp:      keyList("ctrl+up", "alt+up", "K"),
		ResizeRight:   keyList("ctrl+right", "alt+right", "L"),
	}
	for i, v := range Views() {
		table[v.Action] = keyList("alt+" + strconv.Itoa(i+1))
	}
	return table
}

// zellijKeys returns zellij's direct keys and, after its own leader ctrl+g, the letters of its pane
// and tab modes.
func zellijKeys() map[Action][]string {
	return map[Action][]string{
		Prefix:          keyList("ctrl+g"),
		FocusLeft:       keyList("left", "h", "global alt+left", "global alt+h"),
		FocusDown:       keyList("down", "j", "global alt+down", "global alt+j"),
		FocusUp:         keyList("up", "k", "global alt+up", "global alt+k"),
		FocusRight:      keyList("right", "l", "global alt+right", "global alt+l"),
		FocusNext:       keyList("p"),
		FocusPrevious:   keyList("P"),
		PaneNumbers:     keyList("Q"),
		FocusList:       keyList("w"),
		SplitBeside:     keyList("n", "r", "global alt+n"),
		SplitBelow:      keyList("d"),
		PaneZoom:        keyList("f", "z", "global alt+f"),
		PaneFloat:       keyList("F"),
		PaneClose:       keyList("X"),
		SessionNew:      keyList("t"),
		SessionNext:     keyList("tab", "global alt+o"),
		SessionPrevious: keyList("shift+tab", "global alt+i"),
		SessionWaiting:  keyList("N"),
		SessionRename:   keyList("c", ","),
		ScrollMode:      keyList("s", "["),
		HistoryInsert:   keyList("ctrl+r"),
		Detach:          keyList("q", "global ctrl+q"),
		ResizeLeft:      keyList("H", "ctrl+left", "global alt+-"),
		ResizeRight:     keyList("L", "ctrl+right", "global alt+="),
	}
}

// EmacsCopy returns bindings with Emacs keys in scroll mode.
func (b Bindings) EmacsCopy() Bindings {
	changes := map[Action][]string{}
	for _, d := range b.definitions {
		if d.Emacs == nil {
			continue
		}
		names := slices.Clone(d.Emacs)
		for _, bound := range b.keys[d.Action] {
			// Keep the keys in other scopes, such as the log.
			if bound.scope != ScopeScroll {
				names = append(names, string(bound.scope)+" "+bound.key.String())
			}
		}
		changes[d.Action] = names
	}
	other, err := b.Rebind(changes)
	if err != nil {
		panic(err) // the catalogue is a constant, checked by tests
	}
	return other
}
