// Package names holds the rules for names and ids that clients give, and what programs and command lines are
// called where they are shown. What is called so is not its business.
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
	longest = 64 // characters of a name
	maxBad  = 40 // characters of a bad name in a message
)

// Check refuses names that could not be shown or told from an id.
func Check(name string) error {
	wrong := func(why string) error {
		return api.Errorf(api.CodeInvalid, "name %q: %s", clip(name, maxBad), why)
	}
	switch {
	case strings.TrimSpace(name) == "":
		return wrong("it is empty")
	case !utf8.ValidString(name):
		return wrong("it is not UTF-8")
	case utf8.RuneCountInString(name) > longest:
		return wrong(fmt.Sprintf("it is longer than %d characters", longest))
	case strings.IndexFunc(name, notGraphic) >= 0:
		return wrong("it has characters that cannot be shown")
	case IsID(name):
		return wrong("it looks like an id")
	}
	return nil
}

func notGraphic(r rune) bool { return !unicode.IsGraphic(r) }

func IsID(s string) bool {
	return len(s) == 12 && strings.Trim(s, "0123456789abcdef") == ""
}

// OfProgram is the name of what argv starts, as it can be shown: the program's,
// or, of a shell that runs a line, that of the first program of the line.
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
	if runes := []rune(name); len(runes) > longest-8 {
		name = string(runes[:longest-8])
	}
	if Check(name) != nil {
		return "program"
	}
	return name
}

// shellLine is the line that argv has a shell run, "" if it does not.
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

// Words of a line before the one that says what it does.
const (
	// preparing are commands that others of the line are prepared with; what is
	// told of them is not what the line is for.
	preparing = " cd echo printf set export unset source . : ulimit umask trap sleep true read exit "
	// leading are words that another command follows.
	leading = " exec env command sudo nohup time nice setsid eval if while until then do ! { "
	// compound are words that begin what only a shell runs.
	compound = " for case select function [[ [ "
)

// lineProgram is the program that a line for a shell is for, "" if only a shell
// can tell. It is a guess for a name: no more is known of the line.
func lineProgram(line string) string {
	if len(line) > maxNamedLine {
		line = line[:maxNamedLine]
	}
	line = strings.NewReplacer("&&", ";", "||", ";", "|", ";", "\n", ";").Replace(line)
	fallback := ""
	for part := range strings.SplitSeq(line, ";") {
		for word := range strings.FieldsSeq(part) {
			name, value, ok := strings.Cut(word, "=")
			sets := ok && IsVariable(name)
			switch {
			case sets && !endsInWord(value): // what follows may be a part of it, and a secret
				return fallback
			case sets, strings.Contains(leading, " "+word+" "):
				continue
			case strings.Contains(compound, " "+word+" "), strings.ContainsAny(word, "\"'`$*?<>()[]{}\\#&~!="), strings.HasPrefix(word, "-"):
				return fallback
			case !strings.Contains(preparing, " "+word+" "):
				return word
			case fallback == "":
				fallback = word
			}
			break
		}
	}
	return fallback
}

// maxNamedLine bounds what is read of a line to name it, in bytes.
const maxNamedLine = 4096

// endsInWord reports whether the value of a variable has no blank in it.
func endsInWord(value string) bool {
	return !strings.ContainsAny(value, "\\`(") && strings.Count(value, "'")%2 == 0 && strings.Count(value, `"`)%2 == 0
}

func IsVariable(name string) bool {
	letters := strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
	return name != "" && letters == "" && (name[0] < '0' || name[0] > '9')
}

// clip returns the first most characters of s, with an ellipsis if there are more.
func clip(s string, most int) string {
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "…"
	}
	return s
}

// Shown is a client's word as it can stand in a message.
func Shown(what string) string { return graphic(clip(what, longest)) }

// ShownPath is Shown for a path, which is not cut.
func ShownPath(path string) string { return graphic(path) }

func graphic(what string) string {
	if what == "" || strings.IndexFunc(what, notGraphic) >= 0 {
		return fmt.Sprintf("%q", what)
	}
	return what
}

// shells are programs that run a command line when they are given one.
var shells = [...]string{"sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "ash"}

func IsShell(program string) bool {
	return slices.Contains(shells[:], strings.TrimPrefix(filepath.Base(program), "-"))
}

// CommandLine is what a person would type for argv: of a shell that runs a
// command line, that line.
func CommandLine(argv []string) string {
	if len(argv) == 3 && IsShell(argv[0]) && secrets.IsScriptFlag(argv[1]) {
		return argv[2]
	}
	return shell.Quote(argv...)
}

// IsPlainShell reports whether argv is a shell in which somebody types: what is
// typed there is told, not the shell.
func IsPlainShell(argv []string) bool {
	return len(argv) == 0 || IsShell(argv[0]) && !slices.ContainsFunc(argv[1:], func(a string) bool {
		return !strings.HasPrefix(a, "-") || secrets.IsScriptFlag(a)
	})
}
