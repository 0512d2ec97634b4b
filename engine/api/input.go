package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
)

// DecodeInput decodes an operation's JSON input into in. name is the operation. An unknown field is
// an error. An empty body is the zero input.
func DecodeInput(name string, body []byte, in any) *Error {
	return DecodeStrictly("call "+name, body, in)
}

// DecodeStrictly is like DecodeInput, but for any JSON. Errors begin with doing, the caller's
// action.
func DecodeStrictly(doing string, body []byte, in any) *Error {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(in); err != nil {
		return inputError(doing, err)
	}
	// Decode stops after the first value.
	if _, err := d.Token(); err != io.EOF {
		return Errorf(CodeInvalid, "%s: unexpected data after the input", doing)
	}
	return nil
}

// DecodeKnown is like DecodeInput, for a caller whose release may be newer. It ignores unknown
// fields and returns their names. Inside a sandbox they are still errors, because an unknown field
// may be a restriction.
func DecodeKnown(name string, body []byte, in any) (ignored []string, wrong *Error) {
	// Decode strictly first, because nearly all input comes from the same release.
	wrong = DecodeInput(name, body, in)
	if wrong == nil || wrong.Code != CodeInvalid {
		return nil, wrong
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(body, &given) != nil {
		return nil, wrong
	}
	known := FieldsOf(reflect.TypeOf(in))
	for field := range given {
		if !slices.ContainsFunc(known, func(name string) bool { return strings.EqualFold(name, field) }) {
			ignored = append(ignored, field)
		}
	}
	// The strict attempt has set the fields before the unknown one. UnmarshalJSON of Sandbox stays
	// strict in the second attempt.
	reflect.ValueOf(in).Elem().SetZero()
	if err := json.Unmarshal(body, in); err != nil {
		return nil, inputError("call "+name, err)
	}
	slices.Sort(ignored)
	return ignored, nil
}

// FieldsOf returns the names of the top-level JSON fields of t, which is a struct or a pointer to
// one.
func FieldsOf(t reflect.Type) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	names := []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// inputError converts an error of encoding/json to one that users understand. It begins with doing.
func inputError(doing string, err error) *Error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		if wrong.Field == "" {
			return Errorf(CodeInvalid, "%s: the input is a JSON %s, not an object", doing, wrong.Value)
		}
		return Errorf(CodeInvalid, "%s: field %q cannot be a JSON %s", doing, wrong.Field, wrong.Value)
	}
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return Errorf(CodeInvalid, "%s: unknown field %s", doing, field)
	}
	return Errorf(CodeInvalid, "%s: the input is not JSON: %s", doing, strings.TrimPrefix(err.Error(), "json: "))
}
