package panes

import (
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Editor is the command that opens a file in the person's editor, at a line and
// column that are not 0.
func Editor(path string, line, column int) []string {
	argv := ProgramOf(cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR")), "vi")
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

// ProgramOf splits the command line of a variable such as $PAGER, where quotes keep
// words together. A line without words is standard.
func ProgramOf(line, standard string) []string {
	words, _, err := SplitCommand(line)
	if err != nil {
		words = strings.Fields(line)
	}
	if len(words) == 0 {
		return []string{standard}
	}
	return words
}
