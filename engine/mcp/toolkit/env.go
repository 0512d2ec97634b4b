package toolkit

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"sync"
)

// Env holds variables for a program, as an argument. Some clients send ports and switches as
// numbers and booleans, and Env keeps their spelling.
type Env map[string]string

// UnmarshalJSON implements json.Unmarshaler.
func (e *Env) UnmarshalJSON(object []byte) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(object, &given); err != nil || given == nil {
		return err
	}
	*e = make(Env, len(given))
	// Sorted, so that the same mistake always gives the same error.
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value, err := envValue(given[name])
		if err != nil {
			err.Field = Abbreviate(name)
			return err
		}
		(*e)[name] = value
	}
	return nil
}

// An EnvValue is the value of one variable, as an argument.
type EnvValue string

// UnmarshalJSON implements json.Unmarshaler.
func (v *EnvValue) UnmarshalJSON(value []byte) error {
	text, err := envValue(value)
	if err != nil {
		return err
	}
	*v = EnvValue(text)
	return nil
}

// envValue returns a value as a program receives it. It rejects objects, arrays and null.
func envValue(value json.RawMessage) (string, *json.UnmarshalTypeError) {
	kind := ""
	switch value[0] {
	case '{':
		kind = "object"
	case '[':
		kind = "array"
	case 'n':
		kind = "null"
	case '"':
		var text string
		_ = json.Unmarshal(value, &text) // the decoder has validated it
		return text, nil
	default:
		return string(value), nil
	}
	return "", &json.UnmarshalTypeError{Value: kind, Type: reflect.TypeFor[string]()}
}

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
