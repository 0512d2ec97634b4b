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
	// StatusPartial is that of a verb that has failed on some of several machines.
	StatusPartial = 3
	// StatusSignal and a signal's number is what shells tell of its victim.
	StatusSignal = 128
)

// A usageError is about the words of the command line.
type usageError struct{ Message, Hint string }

func (e *usageError) Error() string { return e.Message }

// Misused makes the error for words that were not used as they should be, with a hint.
func Misused(message, hint string) error { return &usageError{message, hint} }

// Usagef makes the error for a verb that was not used as it should be.
func Usagef(cmd *cobra.Command, format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...), "see `" + cmd.CommandPath() + " --help`"}
}

// An ExitError carries an exit status. Its message may be empty.
type ExitError struct {
	Status  int
	Message string
}

func (e *ExitError) Error() string { return e.Message }

// Status is the exit status that an error stands for; 0 without one.
func Status(err error) int {
	var usage *usageError
	var exit *ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		return StatusUsage
	case errors.As(err, &exit):
		return exit.Status
	}
	return StatusFailed
}
