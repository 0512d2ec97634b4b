package toolkit

import (
	"encoding/json"
	"strings"
)

// A ShellLine is an argument holding one or more shell lines. Decoding removes the carriage returns
// of Windows line ends, which a shell would take for part of each line's last word.
type ShellLine string

// UnmarshalJSON implements json.Unmarshaler.
func (l *ShellLine) UnmarshalJSON(value []byte) error {
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return err
	}
	*l = ShellLine(strings.ReplaceAll(text, "\r\n", "\n"))
	return nil
}
