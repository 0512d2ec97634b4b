package config

import (
	"maps"
	"slices"

	"tandem/keys/keymap"
)

// renamedActions has the current names of actions by their former ones, which [keys] still accepts.
var renamedActions = map[string]keymap.Action{
	"session.end":        keymap.SessionKill,
	"session.forget":     keymap.SessionDelete,
	"process.forget":     keymap.ProcessDelete,
	"process.forget_all": keymap.ProcessDeleteAll,
	"history.forget":     keymap.HistoryDelete,
}

// Bindings returns the default key bindings with the changes of the preset and of single actions
// applied.
func (c Config) Bindings() (keymap.Bindings, error) { return c.applyBindings(c.keyChanges()) }

// keyChanges returns the keys configured for single actions.
func (c Config) keyChanges() map[keymap.Action][]string {
	changes := make(map[keymap.Action][]string, len(c.Keys)+1)
	for name, keys := range c.Keys {
		if current, former := renamedActions[name]; !former {
			changes[keymap.Action(name)] = keys
		} else if _, both := c.Keys[string(current)]; !both {
			changes[current] = keys
		}
	}
	if c.Prefix != "" {
		changes[keymap.Prefix] = []string{c.Prefix}
	}
	return changes
}

func (c Config) applyBindings(changes map[keymap.Action][]string) (keymap.Bindings, error) {
	bindings := keymap.DefaultBindings()
	if c.CopyKeys == "emacs" {
		// Before the preset, which may change these keys.
		bindings = bindings.EmacsCopy()
	}
	bindings, err := bindings.Preset(c.Preset, changes)
	if err != nil {
		return keymap.Bindings{}, err
	}
	if c.DirectKeys != nil && !*c.DirectKeys {
		bindings = bindings.WithoutDirect()
	}
	return bindings, nil
}

// checkKeys reports invalid keys to wrong.
func (c Config) checkKeys(wrong *mistakes) {
	changes := c.keyChanges()
	for former, current := range renamedActions {
		_, old := c.Keys[former]
		if _, both := c.Keys[string(current)]; old && both {
			wrong.add("keys\x00"+former, "%s was renamed to %s, which is in [keys] too; keep one of the two", former, current)
		}
	}
	if _, twice := c.Keys[string(keymap.Prefix)]; twice && c.Prefix != "" {
		wrong.add("prefix", "prefix is also in [keys]; keep one of the two")
		delete(changes, keymap.Prefix)
	}
	if !slices.Contains(append(keymap.Presets(), ""), c.Preset) {
		// check has reported the preset already.
		return
	}
	for c.dropWrong(changes, wrong) {
	}
}

// dropWrong reports invalid changes to wrong and removes them from changes. again is true if the
// remaining ones may be invalid too.
func (c Config) dropWrong(changes map[keymap.Action][]string, wrong *mistakes) (again bool) {
	_, err := c.applyBindings(changes)
	if err == nil {
		return false
	}
	actions := slices.Sorted(maps.Keys(changes))
	for _, action := range actions {
		rest := maps.Clone(changes)
		delete(rest, action)
		if _, without := c.applyBindings(rest); without == nil {
			wrong.add(c.keyOf(action), "%v", err)
			return false
		}
	}
	// There are several mistakes: report each change that is invalid by itself.
	for _, action := range actions {
		if _, err := c.applyBindings(map[keymap.Action][]string{action: changes[action]}); err != nil {
			wrong.add(c.keyOf(action), "%v", err)
			delete(changes, action)
			again = true
		}
	}
	if !again {
		wrong.add("keys", "%v", err)
	}
	return again
}

// keyOf returns the key in the file that sets an action's keys.
func (c Config) keyOf(a keymap.Action) string {
	if a == keymap.Prefix && c.Prefix != "" {
		return "prefix"
	}
	name := string(a)
	if _, current := c.Keys[name]; !current {
		for former, renamed := range renamedActions {
			if _, used := c.Keys[former]; used && renamed == a {
				name = former
			}
		}
	}
	return "keys" + "\x00" + name
}
