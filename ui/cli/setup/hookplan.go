package setup

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// hooksAt is where the hooks are in settings of JSON: lists, by event.
const hooksAt = "hooks"

// What is known of hooks in settings.
const (
	HooksInstalled = "installed"
	HooksOutdated  = "outdated" // another version of Tandem has written them, or they were edited
	HooksMissing   = "not installed"
)

// A HookState is what is known of an agent's hooks on a machine.
type HookState struct {
	Agent string `json:"agent"`
	Title string `json:"title"`
	Found bool   `json:"found"` // it seems to be installed
	Path  string `json:"path"`
	Hooks string `json:"hooks"`           // installed, outdated, not installed; "" with an error
	Error string `json:"error,omitempty"` // why that is not known
}

// HookStates tells of all agents that have hooks.
func (m Machine) HookStates() (all []HookState) {
	for _, h := range AllHooks() {
		path := m.file(h.file)
		st := HookState{Agent: h.Name, Title: h.Title, Found: m.found(h.program, path), Path: path}
		program, err := m.command(h.Title, false, false)
		if err == nil {
			var e *hookEdit
			if e, err = m.edit(h, program); err == nil {
				st.Hooks = e.state()
			}
		}
		if err != nil {
			st.Error = err.Error()
		}
		all = append(all, st)
	}
	return all
}

// InstallHooks plans to put an agent's hooks into its settings.
func (m Machine) InstallHooks(h Hooks) (*Plan, error) {
	program, err := m.command(h.Title, false, false)
	if err != nil {
		return nil, err
	}
	e, err := m.edit(h, program)
	if err != nil || e.state() == HooksInstalled {
		return e.planned(), err
	}
	if h.plugin != "" {
		e.plan.after = []byte(e.script())
		return e.plan, nil
	}
	if err = e.clean(); err == nil {
		err = e.put()
	}
	return e.done(err)
}

// RemoveHooks plans to take an agent's hooks out of its settings: as they were before, if
// that is known and can be, else by deleting what is ours alone.
func (m Machine) RemoveHooks(h Hooks) (*Plan, error) {
	e, err := m.edit(h, serverName)
	if err != nil || e.state() == HooksMissing {
		return e.planned(), err
	}
	if h.own {
		if back, ok := e.plan.reverted(); ok {
			e.plan.after = back
		} else {
			e.plan.after = nil
		}
		return e.plan, nil
	}
	return e.done(e.clean())
}

// A hookEdit is a change of an agent's hooks.
type hookEdit struct {
	hooks   Hooks
	program string
	plan    *Plan
	json    *jsonFile // nil for a plugin
}

// edit reads the settings that an agent's hooks are in.
func (m Machine) edit(h Hooks, program string) (*hookEdit, error) {
	path := m.file(h.file)
	e := &hookEdit{hooks: h, program: program}
	e.plan = m.newPlan(path, "hooks in "+path, func(text []byte) (settings, error) {
		if h.plugin != "" {
			return openJSON(nil, false)
		}
		return openJSON(text, h.strict)
	})
	e.plan.own = h.own
	s, err := e.plan.read()
	if err != nil {
		return nil, err
	}
	if h.plugin == "" {
		e.json = s.(*jsonFile)
	}
	return e, nil
}

func (e *hookEdit) planned() *Plan {
	if e == nil {
		return nil
	}
	return e.plan
}

// done is the plan, or where the settings are not what they should be.
func (e *hookEdit) done(err error) (*Plan, error) {
	if err != nil {
		return nil, e.plan.misread(err)
	}
	e.plan.after = e.json.bytes()
	return e.plan, nil
}

// script is the plugin as it is wanted.
func (e *hookEdit) script() string {
	return strings.ReplaceAll(e.hooks.plugin, "PROGRAM", quoted(e.program))
}

// state is what stands in the settings.
func (e *hookEdit) state() string {
	if e.json == nil {
		switch {
		case !e.plan.there:
			return HooksMissing
		case string(e.plan.before) == e.script():
			return HooksInstalled
		}
		return HooksOutdated
	}
	lists := e.lists()
	ours := 0
	for _, list := range lists {
		for _, item := range list {
			if isOurs(item) {
				ours++
			}
		}
	}
	if ours == 0 {
		return HooksMissing
	}
	for i, want := range e.hooks.items(e.program) {
		if !slices.ContainsFunc(lists[e.hooks.events[i].event], func(have any) bool { return reflect.DeepEqual(have, decoded(want)) }) {
			return HooksOutdated
		}
	}
	if ours != len(e.hooks.events) {
		return HooksOutdated
	}
	return HooksInstalled
}

// lists are the hooks in the settings, by event.
func (e *hookEdit) lists() map[string][]any {
	all := map[string][]any{}
	v, _, _ := e.json.get([]string{hooksAt}) // what is no object has none
	events, _ := v.(map[string]any)
	for event, list := range events {
		all[event], _ = list.([]any)
	}
	return all
}

// isOurs reports whether a hook, or one in a group of hooks, is Tandem's.
func isOurs(item any) bool {
	members, _ := item.(map[string]any)
	group, _ := members["hooks"].([]any)
	return slices.ContainsFunc(group, isOurs) || runsOurs(members)
}

func runsOurs(handler map[string]any) bool {
	for _, name := range []string{"command", "bash"} {
		if command, _ := handler[name].(string); strings.Contains(command, hookMark) {
			return true
		}
	}
	return false
}

// clean takes out what is ours: all that was done to the file if that is known, else each
// hook.
func (e *hookEdit) clean() error {
	if back, ok := e.plan.reverted(); ok {
		return e.json.replace(back)
	}
	lists := e.lists()
	for _, event := range slices.Sorted(maps.Keys(lists)) {
		for i, item := range slices.Backward(lists[event]) {
			if !isOurs(item) {
				continue
			}
			if group, _ := item.(map[string]any)["hooks"].([]any); len(group) > 1 {
				return fmt.Errorf("%s.%s: other hooks are in a group with Tandem's; edit it by hand", hooksAt, event)
			}
			if err := e.json.drop([]string{hooksAt, event}, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// put adds the hooks that are wanted.
func (e *hookEdit) put() error {
	if _, there, err := e.json.get([]string{"version"}); err == nil && !there && e.hooks.version != 0 {
		if err := e.json.set([]string{"version"}, e.hooks.version); err != nil {
			return err
		}
	}
	for i, item := range e.hooks.items(e.program) {
		if err := e.json.add([]string{hooksAt, e.hooks.events[i].event}, item); err != nil {
			return err
		}
	}
	return nil
}
