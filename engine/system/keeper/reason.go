package keeper

import (
	"errors"
	"fmt"
)

// A Reason is the kind of a failed start, and a target for errors.Is. Keepers up to 0.2.0 send none.
type Reason string

func (r Reason) Error() string { return string(r) }

const (
	ProgramNotFound Reason = "program_not_found" // the program or its interpreter does not exist
	NotStartable    Reason = "not_startable"     // the system cannot start the program
)

// A reasonError is an error with a Reason.
type reasonError struct {
	error
	reason Reason
}

func (e reasonError) Is(target error) bool { return target == e.reason }
func (e reasonError) Unwrap() error        { return e.error }

// startError returns the error for a program that could not be started.
func startError(program string, err error) error {
	reason := NotStartable
	if errors.Is(err, ProgramNotFound) {
		reason = ProgramNotFound
	}
	return reasonError{fmt.Errorf("start %q: %w", program, err), reason}
}

// replyError returns the error sent in a reply.
func replyError(m message) error {
	err := errors.New(m.Error)
	if m.Reason == "" {
		return err
	}
	return reasonError{err, m.Reason}
}
