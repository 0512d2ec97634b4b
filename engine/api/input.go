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

// DecodeInput reads the input of the operation called name from JSON into what
// in points to, strictly: an unknown field is a mistake. No text is the zero
// input.
func DecodeInput(name string, body []byte, in any) *Error {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(in); err != nil {
		return inputError(name, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Errorf(CodeInvalid, "call %s: something follows the input", name)
	}
	return nil
}

// DecodeKnown is DecodeInput for the input of a program that may be newer: fields
// that are not known are left out, and named. Within a sandbox they are an error,
// as nothing is to run more freely than was asked for.
func DecodeKnown(name string, body []byte, in any) (ignored []string, wrong *Error) {
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
	reflect.ValueOf(in).Elem().SetZero()
	if err := json.Unmarshal(body, in); err != nil {
		return nil, inputError(name, err)
	}
	slices.Sort(ignored)
	return ignored, nil
}

// FieldsOf names the fields that the JSON of a struct, or of what points to one,
// has at its top.
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

// inputError says in our words what encoding/json found.
func inputError(name string, err error) *Error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		if wrong.Field == "" {
			return Errorf(CodeInvalid, "call %s: the input is a JSON %s, not an object", name, wrong.Value)
		}
		return Errorf(CodeInvalid, "call %s: field %q cannot be a %s", name, wrong.Field, wrong.Value)
	}
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return Errorf(CodeInvalid, "call %s: unknown field %s", name, field)
	}
	return Errorf(CodeInvalid, "call %s: the input is not JSON: %s", name, strings.TrimPrefix(err.Error(), "json: "))
}
