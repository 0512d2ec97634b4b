package prompt

import (
	"strings"

	"tandem/engine/screen/vt"
)

// hasNonce reports whether a mark carries the session's nonce. Marks printed by other programs do
// not.
func (m *marks) hasNonce(e vt.PromptEvent) bool {
	if m.nonce == "" {
		return false
	}
	if e.Mark == 'E' {
		nonce, _, _ := strings.Cut(e.Options, ";")
		return nonce == m.nonce
	}
	aid := e.Option("aid")
	if e.Mark == 'A' || e.Mark == 'B' || e.Mark == 'P' {
		return aid == m.nonce || len(m.nonce) > promptNonce && aid == m.nonce[:promptNonce]
	}
	return aid == m.nonce
}

// promptNonce is the length of the part of the nonce in the marks of zsh's prompts, because commands
// may export a prompt. A program with this part can fake a prompt, but neither a command nor a status.
const promptNonce = 8
