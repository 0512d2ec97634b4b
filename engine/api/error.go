package api

import (
	"errors"
	"fmt"
	"net/http"
)

// A Code is the stable name of a kind of error, and the target for errors.Is on both sides of the
// wire.
type Code string

func (c Code) Error() string { return string(c) }

const (
	CodeInvalid     Code = "invalid"     // the input is wrong
	CodeNotFound    Code = "not_found"   // no such session, process or file
	CodeAmbiguous   Code = "ambiguous"   // an id prefix or name with several matches
	CodeConflict    Code = "conflict"    // not possible in the current state
	CodeEnded       Code = "ended"       // the session has ended
	CodeUnavailable Code = "unavailable" // the engine cannot do it now
	CodeForbidden   Code = "forbidden"   // outside the caller's bounds, or denied by the user's policy
	CodeUnsure      Code = "unsure"      // unknown whether it was done
	CodeInternal    Code = "internal"    // a bug in the engine

	// CodeNotSupported rejects an operation or field unknown to this release.
	CodeNotSupported Code = "not_supported"

	// CodeLocked rejects an agent's input or change to a session while the user has locked its
	// keyboard.
	CodeLocked Code = "locked_by_user"
)

// Status returns the HTTP status of c; 500 for an unknown code.
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

// Error is an error in its wire form.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`        // "verb object: cause", in lower case
	Hint    string `json:"hint,omitempty"` // the remedy, if any
}

func (e *Error) Error() string { return e.Message }

// Is reports whether target is the error's Code; it makes errors.Is work.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code == e.Code
}

// Errorf makes an Error with a formatted message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithHint returns a copy of e with the hint.
func (e *Error) WithHint(hint string) *Error {
	c := *e
	c.Hint = hint
	return &c
}

// AsError returns the *Error in err's chain, or a new one with CodeInternal.
func AsError(err error) *Error {
	// Keep the code of a wrapped Error: clients decide by it whether to retry.
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: CodeInternal, Message: err.Error()}
}

const endingMessage = "the engine is stopping"

// ErrEnding returns the error for calls to an engine shutting down.
func ErrEnding() error {
	return Errorf(CodeUnavailable, endingMessage).WithHint("try again in a moment")
}

// IsEnding reports whether err is ErrEnding, also after the wire.
func IsEnding(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == CodeUnavailable && e.Message == endingMessage
}
