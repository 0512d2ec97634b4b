package panes

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Editor is the command that opens a file in the person's editor, at a line and
// column that are not 0.
func Editor(path string, line, column int) []string {
	text := os.Getenv("VISUAL")
	if text == "" {
		text = os.Getenv("EDITOR")
	}
	argv := strings.Fields(text)
	if len(argv) == 0 {
		argv = []string{"vi"}
	}
	if line == 0 {
		return append(argv, path)
	}
	number := strconv.Itoa(line)
	place := path + ":" + number
	if column > 0 {
		place += ":" + strconv.Itoa(column)
	}
	switch filepath.Base(argv[0]) {
	case "hx", "helix", "zed", "subl":
		return append(argv, place)
	case "code", "codium", "cursor":
		return append(argv, "--goto", place)
	}
	return append(argv, "+"+number, path)
}
