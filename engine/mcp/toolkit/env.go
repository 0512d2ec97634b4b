package toolkit

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
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
