package files

import (
	"slices"
	"strings"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/shell"
	"tandem/panes/kit/text"
)

// encodeCommand returns a command and its folder in a form the API can carry, limited to UTF-8. A
// shell recreates other bytes.
func encodeCommand(command []string, folder string) ([]string, string, error) {
	if utf8.ValidString(folder) && !slices.ContainsFunc(command, func(word string) bool { return !utf8.ValidString(word) }) {
		return command, folder, nil
	}
	run := []string{`"${SHELL:-/bin/sh}"`}
	if len(command) > 0 {
		run = nil
	}
	for _, word := range append([]string{folder}, command...) {
		// The shell's $(…) would drop the line break.
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

// shellWord writes a word for a shell in visible characters, whatever bytes it has. A trailing line
// break is lost.
func shellWord(word string) string {
	if text.NeedsEscapes(word) {
		return shell.QuoteBytes(word)
	}
	return shell.Quote(word)
}
