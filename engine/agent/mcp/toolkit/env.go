package toolkit

import (
	"maps"
	"sync"
)

// Env holds variables for a program, as an argument.
type Env map[string]string

// An EnvValue is the value of one variable, as an argument. Some clients send ports and switches as
// numbers and booleans, which keep their spelling.
type EnvValue string

// unsetVariables holds the names of variables no longer inherited by programs.
type unsetVariables struct {
	mu    sync.Mutex
	names map[string]bool
}

// Unset removes a variable from the inherited environment, and reports whether it was there.
func (f *Agent) Unset(name string) bool {
	f.unset.mu.Lock()
	defer f.unset.mu.Unlock()
	if _, ok := f.Environ[name]; !ok || f.unset.names[name] {
		return false
	}
	if f.unset.names == nil {
		f.unset.names = make(map[string]bool)
	}
	f.unset.names[name] = true
	return true
}

// ChildEnv returns the variables inherited by the agent's programs. The caller must not change
// the map.
func (f *Agent) ChildEnv() map[string]string {
	f.unset.mu.Lock()
	defer f.unset.mu.Unlock()
	if len(f.unset.names) == 0 {
		return f.Environ
	}
	env := maps.Clone(f.Environ)
	maps.DeleteFunc(env, func(name, _ string) bool { return f.unset.names[name] })
	return env
}
