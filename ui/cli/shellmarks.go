package cli

import (
	"fmt"
	"slices"
	"strings"
)

// nonceVariable hands the shell the word that its marks carry, when it runs in a
// session.
const nonceVariable = "TANDEM_SHELL_NONCE"

// takeNonce keeps the word from what the shell starts.
func (s *verbShell) takeNonce() {
	s.nonce = s.app.env(nonceVariable)
	s.app.Environ = slices.DeleteFunc(slices.Clone(s.app.Environ), func(pair string) bool {
		return strings.HasPrefix(pair, nonceVariable+"=")
	})
}

// marked is a prompt between the marks of its beginning and end (OSC 133).
func (s *verbShell) marked(prompt string) string {
	if s.nonce == "" {
		return prompt
	}
	return fmt.Sprintf("\x1b]133;A;aid=%s\a%s\x1b]133;B;aid=%[1]s\a", s.nonce, prompt)
}

// begun tells what is run from here on (OSC 633;E and 133;C).
func (s *verbShell) begun(line string) string {
	if s.nonce == "" {
		return ""
	}
	return fmt.Sprintf("\x1b]633;E;%s;%s\a\x1b]133;C;aid=%[2]s\a", escapedLine(line), s.nonce)
}

// ended tells with which status it has ended.
func (s *verbShell) ended(code int) string {
	if s.nonce == "" {
		return ""
	}
	return fmt.Sprintf("\x1b]133;D;%d;aid=%s\a", code, s.nonce)
}

// escapedLine writes a line in the way of OSC 633;E.
func escapedLine(line string) string {
	var b strings.Builder
	for _, c := range []byte(line) {
		if c < ' ' || c == ';' || c == '\\' || c == 0x7f {
			fmt.Fprintf(&b, `\x%02x`, c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
