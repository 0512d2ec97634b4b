// Package names checks names and ids given by clients, and derives display names from command
// lines. It does not know what they refer to.
package names

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/secrets"
	"tandem/engine/shell"
)

const (
	maxName = 64 // characters of a name
	maxBad  = 40 // characters of a bad name in a message
)

// Check rejects names with characters without a display form, and names similar to ids.
func Check(name string) error {
	invalid := func(why string) error {
		return api.Errorf(api.CodeInvalid, "name %q: %s", clipTo(name, maxBad), why)
	}
	switch {
	case strings.TrimSpace(name) == "":
		return invalid("it is empty")
	case !utf8.ValidString(name):
		return invalid("it is not UTF-8")
	case utf8.RuneCountInString(name) > maxName:
		return invalid(fmt.Sprintf("it is longer than %d characters", maxName))
	case strings.IndexFunc(name, notGraphic) >= 0:
		return invalid("it has unprintable characters")
	case IsID(name):
		return invalid("it looks like an id")
	}
	return nil
}

func notGraphic(r rune) bool { return !unicode.IsGraphic(r) }

func IsID(s string) bool {
	return len(s) == 12 && strings.Trim(s, "0123456789abcdef") == ""
}

// OfProgram returns a valid name for argv: its program or, if a shell runs a line, the first
// meaningful program of the line.
func OfProgram(argv []string) string {
	program := argv[0]
	if inner := lineProgram(shellLine(argv)); inner != "" {
		program = inner
	}
	name := strings.Map(func(r rune) rune {
		if notGraphic(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, strings.TrimLeft(filepath.Base(program), "-"))
	// Leave room for a suffix that makes the name unique.
	if runes := []rune(name); len(runes) > maxName-8 {
		name = string(runes[:maxName-8])
	}
	if Check(name) != nil {
		return "program"
	}
	return name
}

// shellLine returns the line argv passes to a shell, or "".
func shellLine(argv []string) string {
	if !IsShell(argv[0]) {
		return ""
	}
	for i := 1; i < len(argv)-1 && strings.HasPrefix(argv[i], "-"); i++ {
		if !strings.HasPrefix(argv[i], "--") && strings.Contains(argv[i], "c") {
			return argv[i+1]
		}
	}
	return ""
}

// Words in front of the command that characterises a line.
const (
	// preparingWords lists commands that only prepare for others on the line.
	preparingWords = " cd echo printf set export unset source . : ulimit umask trap sleep true read exit "
	// leadingWords lists words followed by another command.
	leadingWords = " exec env command sudo nohup time nice setsid eval if while until then do ! { "
	// compoundWords lists words that start shell syntax.
	compoundWords = " for case select function [[ [ "
)

// lineProgram returns the most meaningful program of a shell line, or "" if only a shell could
// tell. It is a guess for a name.
func lineProgram(line string) string {
	if len(line) > maxNamedLine {
		line = line[:maxNamedLine]
	}
	// Treat each command of a list or pipeline alike.
	line = strings.NewReplacer("&&", ";", "||", ";", "|", ";", "\n", ";").Replace(line)
	fallback := ""
	for part := range strings.SplitSeq(line, ";") {
		for word := range strings.FieldsSeq(part) {
			name, value, ok := strings.Cut(word, "=")
			sets := ok && IsVariable(name)
			switch {
			// The following words may belong to the value, which may be a secret.
			case sets && !endsInWord(value):
				return fallback
			case sets, strings.Contains(leadingWords, " "+word+" "):
				continue
			case strings.Contains(compoundWords, " "+word+" "), strings.ContainsAny(word, "\"'`$*?<>()[]{}\\#&~!="), strings.HasPrefix(word, "-"):
				return fallback
			case !strings.Contains(preparingWords, " "+word+" "):
				return word
			case fallback == "":
				fallback = word
			}
			break
		}
	}
	return fallback
}

// maxNamedLine bounds the part of a line examined for a name, in bytes.
const maxNamedLine = 4096

// endsInWord reports whether the value of a variable ends with its word.
func endsInWord(value string) bool {
	return !strings.ContainsAny(value, "\\`(") && strings.Count(value, "'")%2 == 0 && strings.Count(value, `"`)%2 == 0
}

func IsVariable(name string) bool {
	letters := strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
	return name != "" && letters == "" && (name[0] < '0' || name[0] > '9')
}

// clipTo returns the first limit characters of s, with an ellipsis if there are more.
func clipTo(s string, limit int) string {
	if runes := []rune(s); len(runes) > limit {
		s = string(runes[:limit]) + "…"
	}
	return s
}

// Shown returns a client's input in a form suitable for a message.
func Shown(what string) string { return quoteUnlessGraphic(clipTo(what, maxName)) }

// ShownPath is Shown for a path, without shortening.
func ShownPath(path string) string { return quoteUnlessGraphic(path) }

func quoteUnlessGraphic(what string) string {
	if what == "" || strings.IndexFunc(what, notGraphic) >= 0 {
		return fmt.Sprintf("%q", what)
	}
	return what
}

// shells are the programs known to run a command line.
var shells = [...]string{"sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "ash"}

func IsShell(program string) bool {
	return slices.Contains(shells[:], strings.TrimPrefix(filepath.Base(program), "-"))
}

// CommandLine returns argv as a user would type it, or only the line if a shell runs one.
func CommandLine(argv []string) string {
	if len(argv) == 3 && IsShell(argv[0]) && secrets.IsScriptFlag(argv[1]) {
		return argv[2]
	}
	return shell.Quote(argv...)
}

// IsPlainShell reports whether argv is an interactive shell: the commands typed there matter, not
// the shell.
func IsPlainShell(argv []string) bool {
	return len(argv) == 0 || IsShell(argv[0]) && !slices.ContainsFunc(argv[1:], func(a string) bool {
		return !strings.HasPrefix(a, "-") || secrets.IsScriptFlag(a) || strings.HasPrefix(a, "-c") || strings.HasPrefix(a, "--command")
	})
}
