package config

import (
	"maps"
	"slices"

	"tandem/keys/keymap"
)

// Bindings are the catalogue's with the configured changes: the preset's, and
// those of single actions over them.
func (c Config) Bindings() (keymap.Bindings, error) { return c.bound(c.changes()) }

// changes are the keys of single actions.
func (c Config) changes() map[keymap.Action][]string {
	changes := make(map[keymap.Action][]string, len(c.Keys)+1)
	for action, names := range c.Keys {
		changes[keymap.Action(action)] = names
	}
	if c.Prefix != "" {
		changes[keymap.Prefix] = []string{c.Prefix}
	}
	return changes
}

func (c Config) bound(changes map[keymap.Action][]string) (keymap.Bindings, error) {
	bindings := keymap.DefaultBindings()
	if c.CopyKeys == "emacs" {
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

// checkKeys finds out which of the configured keys cannot be.
func (c Config) checkKeys(wrong *mistakes) {
	changes := c.changes()
	if _, twice := c.Keys[string(keymap.Prefix)]; twice && c.Prefix != "" {
		wrong.at("prefix", "prefix is also in [keys]; keep one of the two")
		delete(changes, keymap.Prefix)
	}
	if !slices.Contains(append(keymap.Presets(), ""), c.Preset) {
		return // it was told
	}
	for c.dropWrong(changes, wrong) {
	}
}

// dropWrong tells of changes that cannot be and takes them out. It reports
// whether others may be wrong too.
func (c Config) dropWrong(changes map[keymap.Action][]string, wrong *mistakes) (again bool) {
	_, err := c.bound(changes)
	if err == nil {
		return false
	}
	actions := slices.Sorted(maps.Keys(changes))
	for _, action := range actions {
		rest := maps.Clone(changes)
		delete(rest, action)
		if _, without := c.bound(rest); without == nil {
			wrong.at(c.keyOf(action), "%v", err)
			return false
		}
	}
	// There are several mistakes: each is told that is one by itself.
	for _, action := range actions {
		if _, err := c.bound(map[keymap.Action][]string{action: changes[action]}); err != nil {
			wrong.at(c.keyOf(action), "%v", err)
			delete(changes, action)
			again = true
		}
	}
	if !again {
		wrong.at("keys", "%v", err)
	}
	return again
}

// keyOf is where the keys of an action stand in the file.
func (c Config) keyOf(a keymap.Action) string {
	if a == keymap.Prefix && c.Prefix != "" {
		return "prefix"
	}
	return "keys" + "\x00" + string(a)
}
