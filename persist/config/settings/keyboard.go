package settings

import (
	"maps"
	"slices"
	"strings"

	"tandem/keys/keymap"
)

// Keyboard has the settings of keys.
type Keyboard struct {
	Preset     string              `toml:"preset"`      // name of a set of key bindings
	Prefix     string              `toml:"prefix"`      // the prefix key; "" is the preset's
	DirectKeys bool                `toml:"direct_keys"` // alt+1…4 and alt+arrows without the prefix
	CopyKeys   string              `toml:"copy_keys"`   // "vi" or "emacs": keys of scroll and copy mode
	Keys       map[string][]string `toml:"keys"`        // keys by action
}

func keyboardDefaults() Keyboard {
	return Keyboard{Preset: "tandem", DirectKeys: true, CopyKeys: "vi"}
}

func keyboardRows() []Setting {
	return []Setting{
		{Key: "preset", Want: "a name in quotes", Doc: "Keys for people coming from another program: " + strings.Join(keymap.Presets(), ", ") + "."},
		{Key: "prefix", Want: "a key in quotes", Default: `"ctrl+b"`, Doc: "The key before commands. Press it twice to send it to the program."},
		{Key: "direct_keys", Want: "true or false", Doc: "alt+1 … alt+4 and alt+arrows work without the prefix."},
		{Key: "copy_keys", Want: "a name in quotes", Doc: "Keys in scroll and copy mode: vi or emacs."},
	}
}

func keyRows() []Setting {
	return []Setting{
		{Key: "keys", Want: "a list of keys for each action", Doc: "Your own keys for actions; docs/keys.md lists all of them. A key may have a scope before it."},
	}
}

// renamedActions maps former names of actions to their current ones. [keys] still accepts the
// former names.
var renamedActions = map[string]keymap.Action{
	"session.end":        keymap.SessionKill,
	"session.forget":     keymap.SessionDelete,
	"process.forget":     keymap.ProcessDelete,
	"process.forget_all": keymap.ProcessDeleteAll,
	"history.forget":     keymap.HistoryDelete,
}

// Bindings returns the default key bindings, changed by the preset and then by the keys of single
// actions.
func (k Keyboard) Bindings() (keymap.Bindings, error) { return k.applyBindings(k.keyChanges()) }

// keyChanges returns the keys configured for single actions.
func (k Keyboard) keyChanges() map[keymap.Action][]string {
	changes := make(map[keymap.Action][]string, len(k.Keys)+1)
	for name, keys := range k.Keys {
		if current, former := renamedActions[name]; !former {
			changes[keymap.Action(name)] = keys
		} else if _, both := k.Keys[string(current)]; !both {
			changes[current] = keys
		}
	}
	if k.Prefix != "" {
		changes[keymap.Prefix] = []string{k.Prefix}
	}
	return changes
}

func (k Keyboard) applyBindings(changes map[keymap.Action][]string) (keymap.Bindings, error) {
	bindings := keymap.DefaultBindings()
	if k.CopyKeys == "emacs" {
		// Before the preset, which may change these keys.
		bindings = bindings.EmacsCopy()
	}
	bindings, err := bindings.Preset(k.Preset, changes)
	if err != nil {
		return keymap.Bindings{}, err
	}
	if !k.DirectKeys {
		bindings = bindings.WithoutDirect()
	}
	return bindings, nil
}

func (k Keyboard) check(report Report) {
	report.unknown("copy_keys", k.CopyKeys, "vi", "emacs")
	report.unknown("preset", k.Preset, keymap.Presets()...)
	changes := k.keyChanges()
	for former, current := range renamedActions {
		_, old := k.Keys[former]
		if _, both := k.Keys[string(current)]; old && both {
			report("keys\x00"+former, "%s was renamed to %s, which is in [keys] too; keep one of the two", former, current)
		}
	}
	if _, twice := k.Keys[string(keymap.Prefix)]; twice && k.Prefix != "" {
		report("prefix", "prefix is also in [keys]; keep one of the two")
		delete(changes, keymap.Prefix)
	}
	if !slices.Contains(keymap.Presets(), k.Preset) {
		// Without the preset, the changes cannot be checked.
		return
	}
	for k.dropWrong(changes, report) {
		// Without the changes reported, further mistakes may appear.
	}
}

// dropWrong reports invalid changes and removes them from changes. If recheck is true, the
// remaining ones may be invalid too.
func (k Keyboard) dropWrong(changes map[keymap.Action][]string, report Report) (recheck bool) {
	_, err := k.applyBindings(changes)
	if err == nil {
		return false
	}
	actions := slices.Sorted(maps.Keys(changes))
	for _, action := range actions {
		rest := maps.Clone(changes)
		delete(rest, action)
		if _, without := k.applyBindings(rest); without == nil {
			report(k.keyOf(action), "%v", err)
			return false
		}
	}
	// If removing no single change helps, there are several mistakes: report each change that is
	// invalid by itself.
	for _, action := range actions {
		if _, err := k.applyBindings(map[keymap.Action][]string{action: changes[action]}); err != nil {
			report(k.keyOf(action), "%v", err)
			delete(changes, action)
			recheck = true
		}
	}
	if !recheck {
		report("keys", "%v", err)
	}
	return recheck
}

// keyOf returns the key in the file that configures an action. An action's name contains a dot, so its
// parts are joined by \x00; see Report.
func (k Keyboard) keyOf(a keymap.Action) string {
	if a == keymap.Prefix && k.Prefix != "" {
		return "prefix"
	}
	name := string(a)
	if _, current := k.Keys[name]; !current {
		for former, renamed := range renamedActions {
			if _, used := k.Keys[former]; used && renamed == a {
				name = former
			}
		}
	}
	return "keys" + "\x00" + name
}
