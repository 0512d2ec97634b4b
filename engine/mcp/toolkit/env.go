package toolkit

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"sync"
)

// Env are variables for a program, as an argument. Clients give ports and
// switches as numbers and truth values; a program gets them as they are written.
type Env map[string]string

// UnmarshalJSON implements json.Unmarshaler.
func (e *Env) UnmarshalJSON(object []byte) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(object, &given); err != nil || given == nil {
		return err
	}
	*e = make(Env, len(given))
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value, err := envValue(given[name])
		if err != nil {
			err.Field = Brief(name)
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

// envValue is a value as a program gets it. What has no such form is refused.
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
		_ = json.Unmarshal(value, &text) // the decoder has found it valid
		return text, nil
	default:
		return string(value), nil
	}
	return "", &json.UnmarshalTypeError{Value: kind, Type: reflect.TypeFor[string]()}
}

// unset are the names of variables that programs do not inherit any more.
type unset struct {
	mu    sync.Mutex
	names map[string]bool
}

// Unset keeps a variable from what programs inherit; false if none did.
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

// Inherited is what programs that the agent starts inherit; it must not be changed.
func (f *Agent) Inherited() map[string]string {
	f.unset.mu.Lock()
	defer f.unset.mu.Unlock()
	if len(f.unset.names) == 0 {
		return f.Environ
	}
	env := maps.Clone(f.Environ)
	maps.DeleteFunc(env, func(name, _ string) bool { return f.unset.names[name] })
	return env
}
