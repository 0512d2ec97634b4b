package widget

import (
	"path"
	"strings"

	"tandem/engine/api"
)

// CommandText is what a process runs, for people: of a shell that runs a line,
// the line.
func CommandText(p *api.Process) string {
	if len(p.Argv) == 3 && p.Argv[1] == "-c" {
		switch path.Base(p.Argv[0]) {
		case "sh", "bash", "dash", "zsh", "ksh":
			return Clean(strings.TrimSpace(p.Argv[2]))
		}
	}
	return Clean(p.Command)
}
