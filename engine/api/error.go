package api

import (
	"errors"
	"fmt"
	"net/http"
)

// A Code is the stable name of a kind of error. It can be the target of errors.Is, in the engine
// and in clients.
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

// Status returns the HTTP status for c. It is 500 for an unknown code.
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

// A Reason is the stable name of an error's cause. It is more specific than a Code, and can be the
// target of errors.Is as well. An Error has a Reason only if a client must distinguish causes with
// the same Code. Engines up to 0.2.0 send none.
type Reason string

func (r Reason) Error() string { return string(r) }

// Reasons of files.
const (
	ReasonFileNotFound     Reason = "file_not_found"    // no such file or folder
	ReasonOutsideRoot      Reason = "outside_root"      // the path, or a link in it, leads out of the allowed folders
	ReasonExists           Reason = "exists"            // the target already exists
	ReasonNotEmpty         Reason = "not_empty"         // the folder is not empty
	ReasonIsFolder         Reason = "is_folder"         // a folder instead of a file
	ReasonNotFile          Reason = "not_file"          // a pipe, socket, device or link instead of a file
	ReasonNotFolder        Reason = "not_folder"        // a file instead of a folder
	ReasonPathNotFolder    Reason = "path_not_folder"   // the path, or a part of it, is a file instead of a folder
	ReasonTooLarge         Reason = "too_large"         // over the limit for its size
	ReasonNotJSON          Reason = "not_json"          // the file's content is invalid JSON
	ReasonEditEmpty        Reason = "edit_empty"        // an edit has nothing to search for
	ReasonEditNotFound     Reason = "edit_not_found"    // the text to replace is missing
	ReasonEditAmbiguous    Reason = "edit_ambiguous"    // the text to replace occurs more than once
	ReasonChanged          Reason = "changed"           // another process has written the file meanwhile
	ReasonPermissionDenied Reason = "permission_denied" // denied by the operating system
	ReasonDiskFull         Reason = "disk_full"         // no space left, or the file system is read-only
)

// Reasons of starts and input.
const (
	ReasonBadCWD          Reason = "bad_cwd"           // the working directory cannot be used
	ReasonProgramNotFound Reason = "program_not_found" // the program or its interpreter does not exist
	ReasonNotStartable    Reason = "not_startable"     // the program exists, but the system cannot start it
	ReasonUnknownKey      Reason = "unknown_key"       // no key has this name
	ReasonRunsLines       Reason = "runs_lines"        // the program may run each line of what is inserted
)

// Reasons of refusals.
const (
	ReasonDenied  Reason = "denied"   // by the user's policy, or by the user
	ReasonAskUser Reason = "ask_user" // the user has to allow it first; see Error.Question
)

// Reasons of engines and machines.
const (
	ReasonEngineStopping  Reason = "engine_stopping"  // the engine is shutting down
	ReasonMachineOffline  Reason = "machine_offline"  // the machine cannot be reached
	ReasonSeveralMachines Reason = "several_machines" // the files are on several machines
)

// Error is an error in its wire form.
type Error struct {
	Code    Code   `json:"code"`
	Reason  Reason `json:"reason,omitempty"`
	Message string `json:"message"`        // "verb object: cause", in lower case
	Hint    string `json:"hint,omitempty"` // the remedy, if any

	Question *Question `json:"question,omitempty"` // what the user has to allow first; only for calls that ask for it
}

func (e *Error) Error() string { return e.Message }

// Is reports whether target is the Code or the Reason of the error. errors.Is calls it.
func (e *Error) Is(target error) bool {
	switch target := target.(type) {
	case Code:
		return target == e.Code
	case Reason:
		return target == e.Reason
	}
	return false
}

// Invalid converts a plain error about an input to an Error with CodeInvalid. If err has a method
// for a hint, the Error has the hint. If err is nil, Invalid returns nil.
func Invalid(err error) error {
	if err == nil {
		return nil
	}
	e := Errorf(CodeInvalid, "%v", err)
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) {
		e = e.WithHint(hinted.Hint())
	}
	return e
}

// Errorf returns an Error with a formatted message. If args contains an error with a Reason, the
// Error has the same Reason.
func Errorf(code Code, format string, args ...any) *Error {
	e := &Error{Code: code, Message: fmt.Sprintf(format, args...)}
	for _, arg := range args {
		var cause *Error
		if err, ok := arg.(error); ok && errors.As(err, &cause) && e.Reason == "" {
			e.Reason = cause.Reason
		}
	}
	return e
}

// WithReason returns a copy of e with the reason.
func (e *Error) WithReason(reason Reason) *Error {
	c := *e
	c.Reason = reason
	return &c
}

// WithMessage returns a copy of e with a formatted message.
func (e *Error) WithMessage(format string, args ...any) *Error {
	c := *e
	c.Message = fmt.Sprintf(format, args...)
	return &c
}

// WithHint returns a copy of e with the hint.
func (e *Error) WithHint(hint string) *Error {
	c := *e
	c.Hint = hint
	return &c
}

// AsError returns the *Error in err's chain, or a new one with CodeInternal.
func AsError(err error) *Error {
	// Keep the code of a wrapped Error, because clients use it to decide whether to retry.
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: CodeInternal, Message: err.Error()}
}

const endingMessage = "the engine is stopping"

// ErrEnding returns the error for calls to an engine that is shutting down.
func ErrEnding() error {
	return Errorf(CodeUnavailable, endingMessage).WithReason(ReasonEngineStopping).WithHint("try again in a moment")
}

// IsEnding reports whether err is ErrEnding, even if it was received from an engine.
func IsEnding(err error) bool {
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeUnavailable {
		return false
	}
	return e.Reason == ReasonEngineStopping || e.Message == endingMessage // up to 0.2.0
}
