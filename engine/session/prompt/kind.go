package prompt

import (
	"path/filepath"
	"slices"
	"strings"
)

// A Kind is a family of shells that mark their prompts in the same way.
type Kind string

const (
	None   Kind = "" // not a known interactive shell
	Bash   Kind = "bash"
	Zsh    Kind = "zsh"
	Fish   Kind = "fish"
	POSIX  Kind = "sh" // dash, ash and other shells named sh
	Python Kind = "python"
	Tandem Kind = "tandem" // Tandem's command shell, which marks its own prompts
)

// IsShell reports whether shells of this kind run commands of the system. Python, for example, does
// not.
func (k Kind) IsShell() bool { return k != None && k != Python }

// A command is the parsed command line of an interactive shell.
type command struct {
	kind   Kind
	login  bool
	noRC   bool
	noProf bool
	rc     string   // bash: read instead of ~/.bashrc
	rest   []string // arguments to keep
}

// KindOf returns the kind of the interactive shell that argv starts. It returns None if argv runs a
// command or a script, or if the shell cannot mark its prompts.
func KindOf(argv []string) Kind { return parseShell(argv).kind }

func parseShell(argv []string) command {
	if len(argv) == 0 {
		return command{}
	}
	name := filepath.Base(argv[0])
	c := command{login: strings.HasPrefix(name, "-")}
	name = strings.TrimPrefix(name, "-")
	ok := false
	switch {
	case name == "bash":
		c.kind, ok = Bash, c.parseBash(argv[1:])
	case name == "zsh":
		c.kind, ok = Zsh, c.acceptArgs(argv[1:], "-l", "--login", "-i", "-il", "-li")
	case name == "fish":
		c.kind, ok = Fish, c.acceptArgs(argv[1:], "-l", "--login", "-i", "--interactive", "-il", "-li")
	case name == "sh" || name == "dash" || name == "ash":
		c.kind, ok = POSIX, c.acceptArgs(argv[1:], "-l", "-i", "-il", "-li")
	case name == "tandem" && len(argv) > 1 && argv[1] == "shell":
		c.kind, c.rest, ok = Tandem, argv[1:], !slices.Contains(argv, "--commands")
	case isPython(name):
		c.kind, ok = Python, c.acceptArgs(argv[1:], "-i", "-q", "-B", "-u", "-O", "-OO", "-s", "-b")
	}
	if !ok {
		return command{}
	}
	return c
}

// isPython reports whether name is python, python3, python3.11 or similar.
func isPython(name string) bool {
	version, ok := strings.CutPrefix(name, "python")
	return ok && strings.Trim(version, "0123456789.") == ""
}

// acceptArgs adds args to the command, and reports whether all of them are in known.
func (c *command) acceptArgs(args []string, known ...string) bool {
	c.rest = args
	return !slices.ContainsFunc(args, func(a string) bool { return !slices.Contains(known, a) })
}

// parseBash removes arguments that conflict with --rcfile, and reports whether it knows all the
// others.
func (c *command) parseBash(args []string) bool {
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "-i":
			c.rest = append(c.rest, args[i])
		case "-l", "--login":
			c.login = true
		case "-il", "-li":
			c.login = true
			c.rest = append(c.rest, "-i")
		case "--norc":
			c.noRC = true
		case "--noprofile":
			c.noProf = true
		case "--rcfile", "--init-file":
			if i++; i == len(args) {
				return false
			}
			c.rc = args[i]
		default:
			return false
		}
	}
	return true
}
