package pick

import "embed"

//go:embed hooks
var hooks embed.FS

// Shells are those that can open the history on ctrl+r.
func Shells() []string { return []string{"bash", "zsh", "fish"} }

// Hook is what such a shell has to read for that.
func Hook(shell string) string {
	name := map[string]string{"bash": "bash.sh", "zsh": "zsh.sh", "fish": "fish.fish"}[shell]
	text, err := hooks.ReadFile("hooks/" + name)
	if err != nil {
		panic(err) // Shells has no such one
	}
	return string(text)
}
