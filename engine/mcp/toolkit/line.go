package toolkit

import (
	"encoding/json"
	"strings"
)

// A Line is a command for a shell, as an argument: one line or several. What ends
// them as in Windows' files would be part of the last word of each.
type Line string

// UnmarshalJSON implements json.Unmarshaler.
func (l *Line) UnmarshalJSON(value []byte) error {
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return err
	}
	*l = Line(strings.ReplaceAll(text, "\r\n", "\n"))
	return nil
}
