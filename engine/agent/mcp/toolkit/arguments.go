package toolkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"tandem/engine/api"
)

// A ShellLine is an argument holding one or more shell lines. Decoding removes the carriage returns
// of Windows line ends, which a shell would take for part of each line's last word.
type ShellLine string

// Decode decodes arguments strictly: it rejects missing, unknown and wrongly typed ones by name.
// The SDK's decoding would reject arguments that Decode can repair. Validation by a JSON schema
// would reject numbers out of range, which the tools adjust.
func Decode[In any](t Tool, args json.RawMessage) (In, error) {
	var in In
	err := decodeInto(t, args, &in)
	return in, err
}

// decodeInto decodes arguments into in, a pointer. It is separate from Decode because the compiler
// instantiates Decode for each tool.
func decodeInto(t Tool, args json.RawMessage, in any) error {
	err := fitArguments(t.In, args, in)
	if err == nil {
		return nil
	}
	hint := "it takes no arguments"
	if names := FieldNames(t.inputType()); len(names) > 0 {
		hint = "it takes: " + strings.Join(names, ", ")
	}
	explained := api.Errorf(api.CodeInvalid, "call %s: %s", t.Name, api.AsError(err).Message).WithHint(hint)
	if missing, ok := err.(*MissingArgument); ok {
		return &MissingArgument{explained, missing.Name}
	}
	return explained
}

// A MissingArgument is the error of a call without a required argument.
type MissingArgument struct {
	error
	Name string
}

func (m *MissingArgument) Unwrap() error { return m.error }

func fitArguments(t reflect.Type, args json.RawMessage, in any) error {
	given := map[string]any{}
	if len(args) > 0 {
		d := json.NewDecoder(bytes.NewReader(args))
		d.UseNumber() // variables keep the spelling of their numbers
		if d.Decode(&given) != nil {
			return api.Errorf(api.CodeInvalid, "the arguments are not a JSON object")
		}
	}
	fixNames(t, given)
	if err := fitMembers(t, given, ""); err != nil {
		return err
	}
	fitted, err := json.Marshal(given)
	if err != nil {
		return err
	}
	return json.Unmarshal(fitted, in)
}

// fixNames renames arguments to the tool's spelling, such as timeout_ms for timeoutMs, and other
// names of an id to id.
func fixNames(t reflect.Type, given map[string]any) {
	names := FieldNames(t)
	for key, value := range given {
		same := func(name string) bool { return canonicalName(name) == canonicalName(key) }
		i := slices.IndexFunc(names, same)
		if i < 0 || slices.Contains(names, key) {
			continue
		}
		if _, twice := given[names[i]]; !twice {
			given[names[i]] = value
			delete(given, key)
		}
	}
}

// canonicalName returns an argument's name without regard to spelling. All names of an id are
// equal.
func canonicalName(name string) string {
	name = strings.ToLower(strings.ReplaceAll(name, "_", ""))
	if name == "processid" || name == "sessionid" {
		return "id"
	}
	return name
}

// fitMembers checks the members of an object against a struct type, and fits their values to it.
// path names the object in errors.
func fitMembers(t reflect.Type, given map[string]any, path string) error {
	known := map[string]bool{}
	for _, m := range membersOf(t) {
		known[m.name] = true
		value := given[m.name]
		if value == nil && m.required {
			return &MissingArgument{api.Errorf(api.CodeInvalid, "argument %q is missing", path+m.name), path + m.name}
		}
		if value == nil {
			continue
		}
		var err error
		if given[m.name], err = fitValue(m.Type, value, path+m.name); err != nil {
			return err
		}
	}
	for name := range given {
		if !known[name] {
			return api.Errorf(api.CodeInvalid, "unknown argument %q", path+Abbreviate(name))
		}
	}
	return nil
}

// fitValue checks a JSON value against a type, and returns it as the type's decoder accepts it:
// JSON schema allows 3.0 as an integer, and variables may be numbers. Types with a decoder of their
// own are left to it.
func fitValue(t reflect.Type, value any, path string) (any, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	value = fitScalar(t, value)
	want, is := schemaType(t), jsonType(value)
	switch {
	case want == "", reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return value, nil
	case is != want:
		return nil, api.Errorf(api.CodeInvalid, "argument %q must be of type %s, not %s", path, want, is)
	}
	var err error
	switch v := value.(type) {
	case []any:
		for i, e := range v {
			at := fmt.Sprintf("%s[%d]", path, i)
			if e == nil {
				return nil, api.Errorf(api.CodeInvalid, "argument %q cannot be null", at)
			}
			if v[i], err = fitValue(t.Elem(), e, at); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		if t.Kind() == reflect.Struct {
			return v, fitMembers(t, v, path+".")
		}
		values := t.Elem()
		if t == reflect.TypeFor[Env]() {
			values = reflect.TypeFor[EnvValue]()
		}
		// Sorted, so that the same mistake always gives the same error.
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if v[name], err = fitValue(values, v[name], path+"."+Abbreviate(name)); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

// fitScalar returns a number, a boolean or a string as a type accepts it.
func fitScalar(t reflect.Type, value any) any {
	switch v := value.(type) {
	case json.Number:
		n, err := v.Float64()
		switch {
		case t == reflect.TypeFor[EnvValue]():
			return v.String()
		case err == nil && n == math.Trunc(n) && math.Abs(n) <= 1<<53 && (schemaType(t) == "integer" || t == reflect.TypeFor[Cursor]()):
			return int64(n)
		}
	case bool:
		if t == reflect.TypeFor[EnvValue]() {
			return strconv.FormatBool(v)
		}
	case string:
		if t == reflect.TypeFor[ShellLine]() {
			return strings.ReplaceAll(v, "\r\n", "\n")
		}
	}
	return value
}

// jsonType returns the schema name of a fitted JSON value's type.
func jsonType(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case int64:
		return "integer"
	case json.Number:
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// A member is a field of an input type with its name in JSON.
type member struct {
	reflect.StructField
	name     string
	required bool
	hidden   bool // accepted, but not in the schema
}

// membersOf returns the members of an input type.
func membersOf(t reflect.Type) []member {
	var all []member
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			all = append(all, member{f, name, !strings.Contains(options, "omit"), f.Tag.Get("schema") == "-"})
		}
	}
	return all
}

// FieldNames returns the names of the arguments in an input type, without hidden ones.
func FieldNames(t reflect.Type) []string {
	var names []string
	for _, m := range membersOf(t) {
		if !m.hidden {
			names = append(names, m.name)
		}
	}
	return names
}
