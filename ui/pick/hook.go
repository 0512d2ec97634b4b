package pick

import "embed"

//go:embed hooks
var hooks embed.FS

// Shells returns the shells that can open the history with ctrl+r.
func Shells() []string { return []string{"bash", "zsh", "fish"} }

// ReadHook returns the script that a shell must source for ctrl+r to open the history. The shell
// must be one of Shells.
func ReadHook(shell string) string {
	name := map[string]string{"bash": "bash.sh", "zsh": "zsh.sh", "fish": "fish.fish"}[shell]
	text, err := hooks.ReadFile("hooks/" + name)
	if err != nil {
		// This happens only for a name missing in Shells.
		panic(err)
	}
	return string(text)
}
