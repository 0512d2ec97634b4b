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

// Decode reads arguments strictly: a missing, unknown or wrongly typed one is
// an error that names it.
func Decode[In any](t Tool, args json.RawMessage) (In, error) {
	var in In
	err := decode(t, args, &in)
	return in, err
}

// decode is Decode without the type: in points to where the arguments go. The compiler
// makes Decode anew for each tool.
func decode(t Tool, args json.RawMessage, in any) error {
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage("{}")
	}
	d := json.NewDecoder(bytes.NewReader(args))
	d.DisallowUnknownFields()
	if err := d.Decode(in); err != nil {
		mended := spelled(t, args)
		if mended == nil {
			mended = wholeNumbers(args)
		}
		if mended == nil {
			return argumentError(t, err)
		}
		reflect.ValueOf(in).Elem().SetZero()
		return decode(t, mended, in)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return api.Errorf(api.CodeInvalid, "call %s: something follows the arguments", t.Name)
	}
	return missing(t, args)
}

// spelled is arguments with the names that the tool knows where they differ in
// spelling alone, timeout_ms for timeoutMs, or name an id otherwise; nil if none does.
func spelled(t Tool, args json.RawMessage) json.RawMessage {
	var given map[string]json.RawMessage
	if json.Unmarshal(args, &given) != nil {
		return nil
	}
	changed := false
	for _, name := range FieldNames(t.In) {
		for key, value := range given {
			if _, exact := given[name]; !exact && key != name && plain(key) == plain(name) {
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

// plain is the name of an argument without how it is spelled. What has one id
// is told of it under any of its names.
func plain(name string) string {
	name = strings.ToLower(strings.ReplaceAll(name, "_", ""))
	if name == "processid" || name == "sessionid" {
		return "id"
	}
	return name
}

// wholeNumbers is arguments with 3 for 3.0, which is an integer to a JSON schema
// and none to Go; nil if there is no such number.
func wholeNumbers(args json.RawMessage) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil {
		return nil
	}
	changed := false
	value = wholeIn(value, &changed)
	if !changed {
		return nil
	}
	b, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	return b
}

// wholeIn is a JSON value with its numbers as integers where they are.
func wholeIn(value any, changed *bool) any {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = wholeIn(member, changed)
		}
	case []any:
		for i, element := range v {
			v[i] = wholeIn(element, changed)
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
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return api.Errorf(api.CodeInvalid, "call %s: %s", t.Name, wrongArgument(t, wrong))
	}
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		if name, err := strconv.Unquote(field); err == nil {
			field = strconv.Quote(Brief(name))
		}
		return api.Errorf(api.CodeInvalid, "call %s: unknown argument %s", t.Name, field).WithHint(taken(t))
	}
	return api.Errorf(api.CodeInvalid, "call %s: the arguments are not a JSON object", t.Name).WithHint(taken(t))
}

// wrongArgument says what an argument, or what is in one, has to be.
func wrongArgument(t Tool, wrong *json.UnmarshalTypeError) string {
	what := misplaced(t.In, fmt.Sprintf("argument %q", wrong.Field), wrong)
	value := valueOf(wrong.Value)
	if kindOf(wrong.Type) == "an integer" && strings.Trim(value, "-0123456789") == "" {
		return fmt.Sprintf("%s is out of range: %s", what, value)
	}
	return fmt.Sprintf("%s must be %s, not %s", what, kindOf(wrong.Type), value)
}

// taken says what arguments a tool has.
func taken(t Tool) string {
	names := FieldNames(t.taken())
	if len(names) == 0 {
		return "it takes no arguments"
	}
	return "it takes: " + strings.Join(names, ", ")
}

// missing says which required argument, or member of what is in one, is not there.
func missing(t Tool, args json.RawMessage) error {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(args, &given); err != nil {
		return api.Errorf(api.CodeInvalid, "call %s: the arguments are not a JSON object", t.Name).WithHint(taken(t))
	}
	name := lacking(t.In, args)
	switch {
	case strings.HasSuffix(name, "]"):
		return api.Errorf(api.CodeInvalid, "call %s: argument %q cannot be null", t.Name, name[1:])
	case name != "":
		return api.Errorf(api.CodeInvalid, "call %s: argument %q is missing", t.Name, name[1:]).WithHint(taken(t))
	}
	return nil
}

// lacking names the first member that a value of a type must have and has not,
// by its path from the value, as .edits[0].replace, or the first element of a list that is null;
// "" if there is neither. The value has been decoded as the type before.
func lacking(t reflect.Type, value json.RawMessage) string {
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
			if name := lacking(t.Elem(), e); name != "" {
				return fmt.Sprintf("[%d]%s", i, name)
			}
		}
	case "object":
		if t.Kind() == reflect.Struct {
			return lackingField(t, value)
		}
	}
	return ""
}

func lackingField(t reflect.Type, value json.RawMessage) string {
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
		if inner := lacking(f.Type, member); inner != "" {
			return "." + name + inner
		}
	}
	return ""
}

func FieldNames(t reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && f.Tag.Get("schema") != "-" {
			names = append(names, name)
		}
	}
	return names
}
