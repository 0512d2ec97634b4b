package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// A Reason is the kind of an Error and can be the target of errors.Is.
type Reason string

func (r Reason) Error() string { return string(r) }

const (
	Outside    Reason = "outside"      // the path leads out of the roots
	NotFound   Reason = "not found"    // no such file
	Exists     Reason = "exists"       // there is one already
	NotEmpty   Reason = "not empty"    // the folder has entries
	IsDir      Reason = "is dir"       // it is a folder, not a file
	NotFile    Reason = "not file"     // it is a pipe, socket, device or link
	NotDir     Reason = "not dir"      // it is not a folder
	PathNotDir Reason = "path not dir" // it, or a part of its path, is not a folder
	Invalid    Reason = "invalid"      // the request makes no sense
	TooLarge   Reason = "too large"
	NotJSON    Reason = "not JSON"
	EmptyEdit  Reason = "empty edit" // there is no text to replace
	NoMatch    Reason = "no match"   // the text to replace is missing
	Several    Reason = "several"    // the text to replace occurs more than once
	Changed    Reason = "changed"    // the file was written by another process meanwhile
	Denied     Reason = "denied"     // the operating system does not permit it
	Full       Reason = "full"       // no space left, or read-only
	Failed     Reason = "failed"     // anything else
)

// An Error reports the operation that failed, the file and the cause.
type Error struct {
	Reason  Reason
	Message string // verb path: cause
	Hint    string // what to do, if known

	denied bool // access was denied by permissions or by a sandbox
}

func (e *Error) Error() string { return e.Message }

// Is reports whether target is the error's Reason.
func (e *Error) Is(target error) bool {
	reason, ok := target.(Reason)
	return ok && reason == e.Reason
}

func errorf(reason Reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func (e *Error) withHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// fileError turns err, the reason why verb failed on path, into an Error. An Error, and a context's
// error, are returned as they are.
func fileError(verb, path string, err error) error {
	var e *Error
	if err == nil || errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	reason, cause := classifyError(err)
	var special notRegular
	if errors.As(err, &special) {
		reason, cause = special.reason(), special.Error()
	}
	var inner innerError
	if errors.As(err, &inner) {
		cause = inner.path + ": " + cause
	}
	e = errorf(reason, "%s %s: %s", verb, path, cause)
	e.denied = errors.Is(err, syscall.EACCES)
	if reason == Outside && !errors.Is(err, errOffLimits) {
		e.Hint = "it, or a link in its path, leads outside the allowed folders"
	}
	return e
}

// An innerError is an error of an entry below the folder being processed.
type innerError struct { // relative to the folder
	path string // below the folder
	err  error
}

func (e innerError) Error() string { return e.path + ": " + e.err.Error() }
func (e innerError) Unwrap() error { return e.err }

// inEntry adds the name of a folder's entry to its error, unless the cause is not the file: a full
// disk, a cancelled context or a walk out of bounds.
func inEntry(name string, err error) error {
	var inner innerError
	switch reason, _ := classifyError(err); {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), reason == Full, reason == TooLarge:
		return err
	case errors.As(err, &inner):
		return innerError{name + "/" + inner.path, inner.err}
	}
	return innerError{name, err}
}

// classifyError returns the kind of an error and its cause without the path.
func classifyError(err error) (Reason, string) {
	cause := err
	for next := errors.Unwrap(cause); next != nil; next = errors.Unwrap(next) {
		cause = next
	}
	switch {
	case errors.Is(err, errOffLimits):
		return Outside, errOffLimits.Error()
	case errors.Is(err, errTooDeep), errors.Is(err, errTooMany):
		return TooLarge, cause.Error()
	case cause.Error() == "path escapes from parent": // os does not export this error
		return Outside, "it is outside the allowed folders"
	case errors.Is(err, fs.ErrNotExist):
		return NotFound, "no such file or folder"
	case errors.Is(err, fs.ErrExist), errors.Is(err, syscall.ENOTEMPTY):
		return Exists, "already exists"
	case errors.Is(err, syscall.ENOTDIR):
		return PathNotDir, "it, or a part of its path, is not a folder"
	case errors.Is(err, syscall.EISDIR):
		return IsDir, "it is a folder, not a file"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return Full, "no space left"
	case errors.Is(err, syscall.EROFS):
		return Full, "the file system is read-only"
	case errors.Is(err, syscall.ENAMETOOLONG):
		return Invalid, "a name in it is too long"
	case errors.Is(err, syscall.ELOOP):
		return Invalid, "its links form a loop"
	case errors.Is(err, os.ErrDeadlineExceeded):
		return Invalid, "reading it would block"
	case errors.Is(err, fs.ErrPermission):
		return Denied, "permission denied"
	}
	return Failed, cause.Error()
}
