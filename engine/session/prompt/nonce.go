package prompt

import (
	"strings"

	"tandem/engine/screen/vt"
)

// hasNonce reports whether a mark has the session's nonce. Marks that other programs print do not.
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

// promptNonce is how much of the nonce the marks in zsh's prompts contain, because commands may
// export a prompt. A program that knows this part can fake a prompt, but neither a command nor a
// status.
const promptNonce = 8
