package setup

import (
	"bytes"
	"fmt"
)

// A mistake is what is wrong in a text, and where: line and column from 1.
type mistake struct {
	line, column int
	text         string
}

func (m *mistake) Error() string { return fmt.Sprintf("%d:%d: %s", m.line, m.column, m.text) }

// mistakeAt is a mistake at an offset in a text.
func mistakeAt(text []byte, at int, format string, args ...any) error {
	before := text[:min(at, len(text))]
	return &mistake{1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n'), fmt.Sprintf(format, args...)}
}
