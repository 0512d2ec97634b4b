package states

import (
	"path"
	"strings"

	"tandem/engine/api"
	"tandem/panes/kit/text"
)

// CommandText returns the command of a process for display. For a shell with a command line it
// returns the line. If the line begins with a blank, like the temporary ones of the dashboard, it
// returns only the name of the program.
func CommandText(p *api.Process) string {
	if p.Terminal != nil && p.Terminal.Running != "" {
		return text.Clean(p.Terminal.Running)
	}
	if len(p.Argv) == 3 && p.Argv[1] == "-c" {
		switch path.Base(p.Argv[0]) {
		case "sh", "bash", "dash", "zsh", "ksh":
			if line, private := strings.CutPrefix(p.Argv[2], " "); private {
				program, _, _ := strings.Cut(line, " ")
				return text.Clean(program)
			}
			return text.Clean(strings.TrimSpace(p.Argv[2]))
		}
	}
	return text.Clean(p.Command)
}
