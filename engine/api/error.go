package api

import (
	"errors"
	"fmt"
	"net/http"
)

// A Code is the stable name of a kind of error. As an error it is the target
// for errors.Is on both sides of the wire.
type Code string

func (c Code) Error() string { return string(c) }

const (
	CodeInvalid     Code = "invalid"     // the input is wrong
	CodeNotFound    Code = "not_found"   // no such session, process or file
	CodeAmbiguous   Code = "ambiguous"   // an id prefix or name that several have
	CodeConflict    Code = "conflict"    // the state of things does not allow it
	CodeEnded       Code = "ended"       // the session has ended
	CodeUnavailable Code = "unavailable" // the engine cannot do it now
	CodeForbidden   Code = "forbidden"   // outside what the caller may reach, or refused by the person's policy
	CodeUnsure      Code = "unsure"      // it may have been done, and may not
	CodeInternal    Code = "internal"    // the engine made a mistake

	// CodeNotSupported answers what an engine of this release does not have.
	CodeNotSupported Code = "not_supported"

	// CodeLocked answers agents that type into a session, or change it, while a
	// person has its keyboard.
	CodeLocked Code = "locked_by_user"
)

// Status is the HTTP status that goes with a code.
func (c Code) Status() int {
	switch c {
	case CodeInvalid:
		return http.StatusBadRequest
	case CodeNotFound:
		return http.StatusNotFound
	case CodeAmbiguous, CodeConflict:
		return http.StatusConflict
	case CodeEnded:
		return http.StatusGone
	case CodeUnavailable:
		return http.StatusServiceUnavailable
	case CodeUnsure:
		return http.StatusGatewayTimeout
	case CodeForbidden:
		return http.StatusForbidden
	case CodeNotSupported:
		return http.StatusNotImplemented
	case CodeLocked:
		return http.StatusLocked
	}
	return http.StatusInternalServerError
}

// Error is an error as it crosses the wire.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`        // what was tried on what, and why not; lower case
	Hint    string `json:"hint,omitempty"` // what to do
}

func (e *Error) Error() string { return e.Message }

// Is reports whether target is the error's Code.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == e.Code
}

// Errorf makes an Error with a formatted message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithHint returns a copy of e that says what to do.
func (e *Error) WithHint(hint string) *Error {
	c := *e
	c.Hint = hint
	return &c
}

// AsError turns any error into the one that goes over the wire; what is not
// an Error already becomes CodeInternal.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: CodeInternal, Message: err.Error()}
}

const ending = "the engine is ending"

// ErrEnding is the answer of an engine that ends.
func ErrEnding() error { return Errorf(CodeUnavailable, ending).WithHint("try again in a moment") }

// IsEnding reports whether an error is the answer of an engine that ends.
func IsEnding(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == CodeUnavailable && e.Message == ending
}
