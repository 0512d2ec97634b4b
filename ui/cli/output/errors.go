package output

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// Exit statuses.
const (
	StatusFailed = 1
	StatusUsage  = 2
	// StatusPartial means that a command failed on some of several machines.
	StatusPartial = 3
	// StatusSignal plus a signal's number is a shell's exit status for a killed program.
	StatusSignal = 128
)

// A usageError reports a misused command line.
type usageError struct{ Message, Hint string }

func (e *usageError) Error() string { return e.Message }

// UsageError returns an error for a misused command line, with a hint.
func UsageError(message, hint string) error { return &usageError{message, hint} }

// Usagef returns an error for a misused command. The hint refers to its help.
func Usagef(cmd *cobra.Command, format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...), "see `" + cmd.CommandPath() + " --help`"}
}

// An ExitError carries an exit status.
type ExitError struct {
	Status int
	Err    error // the error to print; nil for none
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// ExitStatus returns the exit status for an error; 0 for nil.
func ExitStatus(err error) int {
	var usage *usageError
	var exit *ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.Status
	case errors.As(err, &usage):
		return StatusUsage
	}
	return StatusFailed
}
