package setup

import (
	"bytes"
	"fmt"
)

// A positionError is an error at a position in a text. line and column (in bytes) start at 1.
type positionError struct {
	line, column int
	text         string
}

func (e *positionError) Error() string { return fmt.Sprintf("%d:%d: %s", e.line, e.column, e.text) }

// errorAt returns a positionError for offset at of text.
func errorAt(text []byte, at int, format string, args ...any) error {
	before := text[:min(at, len(text))]
	return &positionError{1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n'), fmt.Sprintf(format, args...)}
}
