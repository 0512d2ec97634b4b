// Package names checks names and ids given by clients, and derives names from command lines and
// other text. It does not know what they refer to.
package names

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/engine/base/cellwidth"
	"tandem/engine/base/secrets"
	"tandem/engine/base/shell"
)

const (
	maxName = 64 // characters of a name
	maxBad  = 40 // characters of a bad name in a message
)

// unsafe has the printable characters that a name must not contain: some run commands in a shell, and
// a slash separates a machine from an id.
const unsafe = "`$(/"

// Fault returns the rule that name breaks, such as "must not be empty". It returns "" if a session,
// process, entry of a project file or machine may be called that: the name can be read, is not an
// id, and needs no quotes to be harmless in a shell's command line.
func Fault(name string) string {
	switch {
	case strings.Trim(name, " ") != name:
		return "must not begin or end with a blank"
	case strings.HasPrefix(name, "-"):
		return "must not begin with -"
	case strings.ContainsAny(name, unsafe):
		return "must not contain `, $, ( or /"
	case utf8.ValidString(name) && strings.ContainsFunc(name, cellwidth.Invisible):
		return "must consist of visible characters"
	}
	return labelFault(name)
}

// labelFault is Fault for a label, as defined by CheckLabel.
func labelFault(name string) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "must not be empty"
	case !utf8.ValidString(name):
		return "must be UTF-8"
	case utf8.RuneCountInString(name) > maxName:
		return fmt.Sprintf("must have at most %d characters", maxName)
	case strings.ContainsFunc(name, notGraphic):
		return "must consist of printable characters"
	case IsID(name):
		return "must not look like an id"
	}
	return ""
}

// Check rejects a name with a fault.
func Check(name string) error { return faultError(name, Fault(name)) }

// CheckLabel rejects a label that cannot be displayed or looks like an id. Labels are names outside
// command lines, such as those of layouts and callers.
func CheckLabel(name string) error { return faultError(name, labelFault(name)) }

func faultError(name, fault string) error {
	if fault == "" {
		return nil
	}
	return fmt.Errorf("name %s: %s", Quote(name), fault)
}

// Quote returns an invalid name in quotes for a message, shortened, with its invisible characters
// escaped.
func Quote(name string) string { return cellwidth.Spell(strconv.Quote(clipTo(name, maxBad))) }

func notGraphic(r rune) bool { return !unicode.IsGraphic(r) }

// Clean turns the name of a program, branch or folder, or any other text, into a name without a
// fault. It returns "" if no character is usable.
func Clean(text string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == '/':
			return '-'
		case unicode.IsSpace(r):
			return ' '
		case strings.ContainsRune(unsafe, r), cellwidth.Invisible(r):
			return -1
		}
		return r
	}, text)
	name = strings.TrimLeft(name, "- ")
	// Leave room for a suffix that makes the name unique.
	if runes := []rune(name); len(runes) > maxName-8 {
		name = string(runes[:maxName-8])
	}
	name = strings.TrimRight(name, " ")
	if Fault(name) != "" {
		return ""
	}
	return name
}

// Escape returns name with an escape such as \x24 for each character that Fault rejects. Records of
// earlier releases have such names.
func Escape(name string) string {
	var escaped []byte
	// Blanks are rejected only at the ends.
	first, last := len(name)-len(strings.TrimLeft(name, " ")), len(strings.TrimRight(name, " "))
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		switch {
		case r == ' ' && (i < first || i >= last), r == '-' && i == 0, strings.ContainsRune(unsafe, r):
			escaped = fmt.Appendf(escaped, `\x%02x`, r)
		case cellwidth.Invisible(r):
			escaped = cellwidth.AppendEscaped(escaped, name[i:i+n])
		default:
			escaped = append(escaped, name[i:i+n]...)
		}
		i += n
	}
	return string(escaped)
}

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
	return cmp.Or(Clean(filepath.Base(program)), "program")
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
	// preparingWords lists commands that usually only prepare for the main command of a line.
	preparingWords = " cd echo printf set export unset source . : ulimit umask trap sleep true read exit "
	// leadingWords lists words followed by another command.
	leadingWords = " exec env command sudo nohup time nice setsid eval if while until then do ! { "
	// compoundWords lists words that start shell syntax.
	compoundWords = " for case select function [[ [ "
)

// lineProgram guesses the program of a shell line most meaningful as a name. It returns "" if only a
// shell could tell.
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
