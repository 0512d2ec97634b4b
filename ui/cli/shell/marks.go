package shell

import (
	"fmt"
	"slices"
	"strings"
)

// nonceVariable passes the nonce for the shell's marks to a shell in a session.
const nonceVariable = "TANDEM_SHELL_NONCE"

// TakeNonce returns the nonce and the environment without it, because programs started by the shell
// must not know it.
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

// markPrompt returns a prompt between the marks of its beginning and end (OSC 133).
func (s *Shell) markPrompt(prompt string) string {
	if s.Nonce == "" {
		return prompt
	}
	return fmt.Sprintf("\x1b]133;A;aid=%s\a%s\x1b]133;B;aid=%[1]s\a", s.Nonce, prompt)
}

// markStart returns the marks before the output of a line (OSC 633;E and 133;C).
func (s *Shell) markStart(line string) string {
	if s.Nonce == "" {
		return ""
	}
	return fmt.Sprintf("\x1b]633;E;%s;%s\a\x1b]133;C;aid=%[2]s\a", escapeLine(line), s.Nonce)
}

// markEnd returns the mark after the output, with the exit status.
func (s *Shell) markEnd(code int) string {
	if s.Nonce == "" {
		return ""
	}
	return fmt.Sprintf("\x1b]133;D;%d;aid=%s\a", code, s.Nonce)
}

// escapeLine escapes a line for OSC 633;E.
func escapeLine(line string) string {
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
