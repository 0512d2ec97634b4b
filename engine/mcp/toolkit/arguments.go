package toolkit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"

	"tandem/engine/api"
)

// Decode decodes arguments strictly: it rejects missing, unknown and wrongly typed ones by name.
func Decode[In any](t Tool, args json.RawMessage) (In, error) {
	var in In
	err := decodeInto(t, args, &in)
	return in, err
}

// decodeInto decodes arguments into in, a pointer. It is separate from Decode because the compiler
// instantiates Decode for each tool.
func decodeInto(t Tool, args json.RawMessage, in any) error {
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage("{}")
	}
	d := json.NewDecoder(bytes.NewReader(args))
	d.DisallowUnknownFields()
	// Strict decoding first: repairs cost a second pass and are rarely needed.
	if err := d.Decode(in); err != nil {
		fixed := fixNames(t, args)
		if fixed == nil {
			fixed = fixNumbers(args)
		}
		if fixed == nil {
			return argumentError(t, err)
		}
		// Fields set by the failed attempt must not survive.
		reflect.ValueOf(in).Elem().SetZero()
		return decodeInto(t, fixed, in)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return api.Errorf(api.CodeInvalid, "call %s: unexpected data after the arguments", t.Name)
	}
	return checkRequired(t, args)
}

// fixNames renames arguments to the tool's spelling, such as timeout_ms for timeoutMs, and other
// names of an id to id. It returns nil if nothing changes.
func fixNames(t Tool, args json.RawMessage) json.RawMessage {
	var given map[string]json.RawMessage
	if json.Unmarshal(args, &given) != nil {
		return nil
	}
	changed := false
	for _, name := range FieldNames(t.In) {
		for key, value := range given {
			if _, exact := given[name]; !exact && key != name && canonicalName(key) == canonicalName(name) {
				given[name], changed = value, true
				delete(given, key)
			}
		}
	}
	if !changed {
		return nil
	}
	b, err := json.Marshal(given)
	if err != nil {
		return nil
	}
	return b
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

// fixNumbers writes whole numbers as integers, such as 3 for 3.0: JSON schema accepts both, Go's
// decoder does not. It returns nil if nothing changes.
func fixNumbers(args json.RawMessage) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil {
		return nil
	}
	changed := false
	value = convertWhole(value, &changed)
	if !changed {
		return nil
	}
	b, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	return b
}

// convertWhole replaces whole numbers in a JSON value by integers.
func convertWhole(value any, changed *bool) any {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = convertWhole(member, changed)
		}
	case []any:
		for i, element := range v {
			v[i] = convertWhole(element, changed)
		}
	case json.Number:
		n, err := v.Float64()
		if err == nil && strings.ContainsAny(v.String(), ".eE") && n == math.Trunc(n) && math.Abs(n) <= 1<<53 {
			*changed = true
			return int64(n)
		}
	}
	return value
}

func argumentError(t Tool, err error) error {
	var own *api.Error
	if errors.As(err, &own) {
		return api.Errorf(own.Code, "call %s: %s", t.Name, own.Message)
	}
	var typeErr *json.UnmarshalTypeError
	if errors.As(err, &typeErr) && typeErr.Field != "" {
		return api.Errorf(api.CodeInvalid, "call %s: %s", t.Name, describeWrongType(t, typeErr))
	}
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		if name, err := strconv.Unquote(field); err == nil {
			field = strconv.Quote(Abbreviate(name))
		}
		return api.Errorf(api.CodeInvalid, "call %s: unknown argument %s", t.Name, field).WithHint(acceptedHint(t))
	}
	return api.Errorf(api.CodeInvalid, "call %s: the arguments are not a JSON object", t.Name).WithHint(acceptedHint(t))
}

// describeWrongType says which type an argument, or a value inside one, must have.
func describeWrongType(t Tool, typeErr *json.UnmarshalTypeError) string {
	what := describePlace(t.In, fmt.Sprintf("argument %q", typeErr.Field), typeErr)
	value := describeValue(typeErr.Value)
	if jsonTypeOf(typeErr.Type) == "an integer" && strings.Trim(value, "-0123456789") == "" {
		return fmt.Sprintf("%s is out of range: %s", what, value)
	}
	return fmt.Sprintf("%s must be %s, not %s", what, jsonTypeOf(typeErr.Type), value)
}

// acceptedHint lists the arguments of a tool.
func acceptedHint(t Tool) string {
	names := FieldNames(t.inputType())
	if len(names) == 0 {
		return "it takes no arguments"
	}
	return "it takes: " + strings.Join(names, ", ")
}

// checkRequired returns an error for a missing required argument or member, or a null in a list.
func checkRequired(t Tool, args json.RawMessage) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(args, &given); err != nil {
		return api.Errorf(api.CodeInvalid, "call %s: the arguments are not a JSON object", t.Name).WithHint(acceptedHint(t))
	}
	name := findMissing(t.In, args)
	switch {
	case strings.HasSuffix(name, "]"):
		return api.Errorf(api.CodeInvalid, "call %s: argument %q cannot be null", t.Name, name[1:])
	case name != "":
		return api.Errorf(api.CodeInvalid, "call %s: argument %q is missing", t.Name, name[1:]).WithHint(acceptedHint(t))
	}
	return nil
}

// findMissing returns the path of the first missing required member of a value, such as
// .edits[0].replace, or of the first null in a list, such as [1]. It returns "" if there is
// neither. The value must have been decoded as t before.
func findMissing(t reflect.Type, value json.RawMessage) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch schemaType(t) {
	case "array":
		var elements []json.RawMessage
		if json.Unmarshal(value, &elements) != nil {
			return ""
		}
		for i, e := range elements {
			if string(e) == "null" {
				return fmt.Sprintf("[%d]", i)
			}
			if name := findMissing(t.Elem(), e); name != "" {
				return fmt.Sprintf("[%d]%s", i, name)
			}
		}
	case "object":
		if t.Kind() == reflect.Struct {
			return findMissingField(t, value)
		}
	}
	return ""
}

func findMissingField(t reflect.Type, value json.RawMessage) string {
	var given map[string]json.RawMessage
	if json.Unmarshal(value, &given) != nil {
		return ""
	}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		member, ok := given[name]
		if !ok || string(member) == "null" {
			if !strings.Contains(options, "omit") {
				return "." + name
			}
			continue
		}
		if inner := findMissing(f.Type, member); inner != "" {
			return "." + name + inner
		}
	}
	return ""
}

// FieldNames returns the names of the arguments in an input type, without hidden ones.
func FieldNames(t reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && f.Tag.Get("schema") != "-" {
			names = append(names, name)
		}
	}
	return names
}
