package files

import (
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/shell"
	"tandem/panes"
	"tandem/panes/widget"
)

// startHere starts a command in a session in the folder that is shown; without
// one, a shell.
func (f *Pane) startHere(command []string) tea.Cmd {
	command, folder, err := carried(command, f.folder.path)
	if err != nil {
		return f.env.Say(panes.ErrorText(err), true)
	}
	return f.env.StartSession(command, folder)
}

// carried is a command and its folder in a form that the API can carry, which
// knows UTF-8 alone: where there are other bytes, a shell makes them.
func carried(command []string, folder string) ([]string, string, error) {
	if utf8.ValidString(folder) && !slices.ContainsFunc(command, func(word string) bool { return !utf8.ValidString(word) }) {
		return command, folder, nil
	}
	run := []string{`"${SHELL:-/bin/sh}"`}
	if len(command) > 0 {
		run = nil
	}
	for _, word := range append([]string{folder}, command...) {
		if strings.HasSuffix(word, "\n") {
			return nil, "", api.Errorf(api.CodeInvalid, "a name that ends in a line break cannot be passed to a program").WithHint("rename the file")
		}
	}
	for _, word := range command {
		run = append(run, shellWord(word))
	}
	script := "exec " + strings.Join(run, " ")
	if folder != "" {
		script = "cd -- " + shellWord(folder) + " && " + script
	}
	return []string{"/bin/sh", "-c", script}, "", nil
}

// shellWord writes a word for a shell, whatever bytes it has, in what can be seen. A line break
// at its end is lost.
func shellWord(word string) string {
	if widget.NeedsEscapes(word) {
		return shell.QuoteBytes(word)
	}
	return shell.Quote(word)
}
