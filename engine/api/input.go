package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
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
