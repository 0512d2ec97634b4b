package setup

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// hooksKey is the member of JSON settings with the hooks: an object of arrays by event.
const hooksKey = "hooks"

// The values of HookState.Hooks.
const (
	HooksInstalled = "installed"
	HooksOutdated  = "outdated" // written by another version of Tandem, or edited
	HooksMissing   = "not installed"
)

// A HookState describes an agent's hooks on a machine.
type HookState struct {
	Agent string `json:"agent"`
	Title string `json:"title"`
	Found bool   `json:"found"` // the agent seems to be installed
	Path  string `json:"path"`
	Hooks string `json:"hooks"`           // HooksInstalled, HooksOutdated or HooksMissing; "" with an error
	Error string `json:"error,omitempty"` // the reason for Hooks being unknown
}

// HookStates returns the states of the hooks of all supported agents. An agent with unreadable settings
// has its Error set.
func (m Machine) HookStates() (all []HookState) {
	for _, h := range AllHooks() {
		path := m.resolveLocation(h.location)
		st := HookState{Agent: h.Name, Title: h.Title, Found: m.isInstalled(h.program, path), Path: path}
		program, err := m.tandemCommand(h.Title, false, false)
		if err == nil {
			var e *hookEdit
			if e, err = m.editHooks(h, program); err == nil {
				st.Hooks = e.currentState()
			}
		}
		if err != nil {
			st.Error = err.Error()
		}
		all = append(all, st)
	}
	return all
}

// InstallHooks returns a plan to add an agent's hooks to its settings. The plan changes nothing if they
// are up to date.
func (m Machine) InstallHooks(h Hooks) (*Plan, error) {
	program, err := m.tandemCommand(h.Title, false, false)
	if err != nil {
		return nil, err
	}
	e, err := m.editHooks(h, program)
	if err != nil || e.currentState() == HooksInstalled {
		return e.plan, err
	}
	if h.plugin != "" {
		e.plan.after = []byte(e.pluginText())
		return e.plan, nil
	}
	// Remove outdated hooks first: addHooks only appends.
	if err = e.removeOwnHooks(); err == nil {
		err = e.addHooks()
	}
	e.plan.backup = true
	return e.plan.finish(e.json, err)
}

// RemoveHooks returns a plan to remove Tandem's hooks from an agent's settings.
func (m Machine) RemoveHooks(h Hooks) (*Plan, error) {
	e, err := m.editHooks(h, serverName)
	if err != nil || e.currentState() == HooksMissing {
		return e.plan, err
	}
	original, ok, err := m.originalText(e.plan, hooksRecord+e.plan.Path)
	if err != nil || ok || h.ownFile {
		e.plan.after = original
		return e.plan, err
	}
	err = e.removeOwnHooks()
	if _, found, _ := e.json.get([]string{hooksKey}); !found && err == nil && h.version != 0 {
		err = e.json.remove([]string{"version"})
	}
	return e.plan.finish(e.json, err)
}

// A hookEdit is a change to an agent's hooks in progress.
type hookEdit struct {
	hooks   Hooks
	program string
	plan    *Plan
	json    *jsonFile // nil for a plugin
}

// editHooks reads the settings file for an agent's hooks. program is the command for running Tandem.
func (m Machine) editHooks(h Hooks, program string) (*hookEdit, error) {
	path := m.resolveLocation(h.location)
	e := &hookEdit{hooks: h, program: program}
	e.plan = &Plan{Path: path, mode: 0o600, ownFile: h.ownFile, parse: func(text []byte) (settings, error) {
		if h.plugin != "" {
			return openJSON(nil, false)
		}
		return openJSON(text, h.strict)
	}}
	s, err := e.plan.read()
	if err == nil && h.plugin == "" {
		e.json = s.(*jsonFile)
	}
	return e, err
}

// pluginText returns the plugin's source with the command for Tandem inserted.
func (e *hookEdit) pluginText() string {
	return strings.ReplaceAll(e.hooks.plugin, "PROGRAM", compactJSON(e.program))
}

// currentState compares the settings with the current version's hooks.
func (e *hookEdit) currentState() string {
	if e.json == nil {
		switch {
		case !e.plan.exists:
			return HooksMissing
		case string(e.plan.before) == e.pluginText():
			return HooksInstalled
		}
		return HooksOutdated
	}
	lists := e.hooksByEvent()
	ours := 0 // including hooks for other events, from another version
	for _, list := range lists {
		for _, item := range list {
			if isTandemHook(item) {
				ours++
			}
		}
	}
	if ours == 0 {
		return HooksMissing
	}
	for i, want := range e.hooks.hookItems(e.program) {
		if !slices.ContainsFunc(lists[e.hooks.events[i].event], func(have any) bool { return reflect.DeepEqual(have, genericValue(want)) }) {
			return HooksOutdated
		}
	}
	if ours != len(e.hooks.events) {
		return HooksOutdated
	}
	return HooksInstalled
}

// hooksByEvent returns all hooks in the settings, including the user's.
func (e *hookEdit) hooksByEvent() map[string][]any {
	all := map[string][]any{}
	v, _, _ := e.json.get([]string{hooksKey}) // a value of another type has no hooks
	events, _ := v.(map[string]any)
	for event, list := range events {
		all[event], _ = list.([]any)
	}
	return all
}

// isTandemHook reports whether item is a hook of Tandem or a group with one.
func isTandemHook(item any) bool {
	members, _ := item.(map[string]any)
	group, _ := members["hooks"].([]any)
	return slices.ContainsFunc(group, isTandemHook) || runsTandem(members)
}

func runsTandem(handler map[string]any) bool {
	for _, name := range []string{"command", "bash"} {
		if command, _ := handler[name].(string); strings.Contains(command, hookMarker) {
			return true
		}
	}
	return false
}

// removeOwnHooks removes Tandem's hooks one by one.
func (e *hookEdit) removeOwnHooks() error {
	lists := e.hooksByEvent()
	for _, event := range slices.Sorted(maps.Keys(lists)) {
		// Backward, because removing an item shifts those after it.
		for i, item := range slices.Backward(lists[event]) {
			if !isTandemHook(item) {
				continue
			}
			if group, _ := item.(map[string]any)["hooks"].([]any); len(group) > 1 {
				return fmt.Errorf("%s.%s: other hooks are in a group with Tandem's; edit it by hand", hooksKey, event)
			}
			if err := e.json.removeSlot([]string{hooksKey, event}, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// addHooks appends the current hooks, and the file's format version if it is missing.
func (e *hookEdit) addHooks() error {
	if _, found, err := e.json.get([]string{"version"}); err == nil && !found && e.hooks.version != 0 {
		if err := e.json.set([]string{"version"}, e.hooks.version); err != nil {
			return err
		}
	}
	for i, item := range e.hooks.hookItems(e.program) {
		if err := e.json.addItem([]string{hooksKey, e.hooks.events[i].event}, item); err != nil {
			return err
		}
	}
	return nil
}
