package panes

import (
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// EditorCommand returns the command line that opens a file in $VISUAL, $EDITOR or vi. A line or
// column of 0 is not passed on.
func EditorCommand(path string, line, column int) []string {
	argv := ParseProgram(cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR")), "vi")
	if line == 0 {
		return append(argv, path)
	}
	number := strconv.Itoa(line)
	location := path + ":" + number
	if column > 0 {
		location += ":" + strconv.Itoa(column)
	}
	switch filepath.Base(argv[0]) {
	case "hx", "helix", "zed", "subl":
		return append(argv, location)
	case "code", "codium", "cursor":
		return append(argv, "--goto", location)
	}
	return append(argv, "+"+number, path)
}

// ParseProgram splits the command line in a variable such as $PAGER into words; quotes keep words
// together. If the line is empty, it returns the words of standard instead.
func ParseProgram(line, standard string) []string {
	words, _, err := SplitCommand(line)
	if err != nil {
		words = strings.Fields(line)
	}
	if len(words) == 0 {
		return []string{standard}
	}
	return words
}
