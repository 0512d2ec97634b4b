package server

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

//go:embed hooks.txt
var hooksText string

// Hooks are the names of the hooks of a level, in tmux's order.
func Hooks(level Level) (names []string) {
	for line := range strings.Lines(hooksText) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), string(level)+" "); ok {
			names = append(names, name)
		}
	}
	return names
}

// ResolveHook finds the level of a hook. The name may have an index, as in after-new-window[2];
// else that is -1. Nothing here would ever run some of tmux's hooks.
func ResolveHook(text string) (name string, index int, level Level, err error) {
	name, rest, indexed := strings.Cut(text, "[")
	index = -1
	if indexed {
		if index, err = strconv.Atoi(strings.TrimSuffix(rest, "]")); err != nil || index < 0 {
			return "", 0, "", fault("invalid option: %s", text)
		}
	}
	for _, level := range []Level{LevelSession, LevelWindow, LevelPane} {
		if slices.Contains(Hooks(level), name) {
			return name, index, level, nil
		}
	}
	if slices.Contains(Hooks("refused"), name) {
		return "", 0, "", fault("hook %s is not supported by tandem", name)
	}
	return "", 0, "", fault("invalid option: %s", text)
}

// Hooked are the numbers of the commands that stand at a hook, in their order.
func (o Options) Hooked(name string) (indexes []int) {
	for key := range o {
		if at, ok := strings.CutPrefix(key, name+"["); ok {
			n, _ := strconv.Atoi(strings.TrimSuffix(at, "]")) // they were written by Key
			indexes = append(indexes, n)
		}
	}
	slices.Sort(indexes)
	return indexes
}

// Unhook takes away one command of a hook; all of them with the index -1.
func (o Options) Unhook(name string, index int) {
	for _, i := range o.Hooked(name) {
		if index < 0 || i == index {
			delete(o, Key(name, i))
		}
	}
}

// HasHooks reports whether commands stand at any hook.
func (s *State) HasHooks() bool {
	some := func(o Options) bool {
		for key := range o {
			if name, _, indexed := strings.Cut(key, "["); indexed && !strings.HasPrefix(key, "@") && !IsArray(name) {
				return true
			}
		}
		return false
	}
	if some(s.Global) || some(s.Windows) {
		return true
	}
	return s.Where(func(at Place) bool {
		return some(at.Session.Options) || some(at.Window.Options) || some(at.Pane.Options)
	}).Pane != nil
}

// Key is the name of one command of a hook.
func Key(hook string, index int) string { return fmt.Sprintf("%s[%d]", hook, index) }
