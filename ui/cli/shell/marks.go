package shell

import (
	"fmt"
	"slices"
	"strings"
)

// nonceVariable hands the shell the word that its marks carry, when it runs in a
// session.
const nonceVariable = "TANDEM_SHELL_NONCE"

// TakeNonce gives the word, and the environment without it: what the shell starts
// is not to know it.
func TakeNonce(environ []string) (nonce string, rest []string) {
	rest = slices.DeleteFunc(slices.Clone(environ), func(pair string) bool {
		value, ours := strings.CutPrefix(pair, nonceVariable+"=")
		if ours {
			nonce = value
		}
		return ours
	})
	return nonce, rest
}

// marked is a prompt between the marks of its beginning and end (OSC 133).
func (s *Shell) marked(prompt string) string {
	if s.Nonce == "" {
		return prompt
	}
	return fmt.Sprintf("\x1b]133;A;aid=%s\a%s\x1b]133;B;aid=%[1]s\a", s.Nonce, prompt)
}

// begun tells what is run from here on (OSC 633;E and 133;C).
func (s *Shell) begun(line string) string {
	if s.Nonce == "" {
		return ""
	}
	return fmt.Sprintf("\x1b]633;E;%s;%s\a\x1b]133;C;aid=%[2]s\a", escapedLine(line), s.Nonce)
}

// ended tells with which status it has ended.
func (s *Shell) ended(code int) string {
	if s.Nonce == "" {
		return ""
	}
	return fmt.Sprintf("\x1b]133;D;%d;aid=%s\a", code, s.Nonce)
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
