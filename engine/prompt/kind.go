package prompt

import (
	"path/filepath"
	"slices"
	"strings"
)

// A Kind is a family of shells that are made to tell about themselves in the
// same way.
type Kind string

const (
	None   Kind = "" // not an interactive shell that we know
	Bash   Kind = "bash"
	Zsh    Kind = "zsh"
	Fish   Kind = "fish"
	POSIX  Kind = "sh" // dash, ash and whatever sh is
	Python Kind = "python"
	Tandem Kind = "tandem" // its command shell, which marks its prompts itself
)

// A command is an interactive shell's command line, taken apart.
type command struct {
	kind   Kind
	login  bool
	noRC   bool
	noProf bool
	rc     string   // bash: read instead of ~/.bashrc
	rest   []string // arguments that stay
}

// KindOf tells what an interactive shell argv starts; None if it runs a command
// or a script, or is none that can be told to mark its prompts.
func KindOf(argv []string) Kind { return parse(argv).kind }

func parse(argv []string) command {
	if len(argv) == 0 {
		return command{}
	}
	name := filepath.Base(argv[0])
	c := command{login: strings.HasPrefix(name, "-")}
	name = strings.TrimPrefix(name, "-")
	ok := false
	switch {
	case name == "bash":
		c.kind, ok = Bash, c.bash(argv[1:])
	case name == "zsh":
		c.kind, ok = Zsh, c.plain(argv[1:], "-l", "--login", "-i", "-il", "-li")
	case name == "fish":
		c.kind, ok = Fish, c.plain(argv[1:], "-l", "--login", "-i", "--interactive", "-il", "-li")
	case name == "sh" || name == "dash" || name == "ash":
		c.kind, ok = POSIX, c.plain(argv[1:], "-l", "-i", "-il", "-li")
	case name == "tandem" && len(argv) > 1 && argv[1] == "shell":
		c.kind, c.rest, ok = Tandem, argv[1:], !slices.Contains(argv, "--commands")
	case isPython(name):
		c.kind, ok = Python, c.plain(argv[1:], "-i", "-q", "-B", "-u", "-O", "-OO", "-s", "-b")
	}
	if !ok {
		return command{}
	}
	return c
}

// isPython accepts python, python3, python3.11.
func isPython(name string) bool {
	version, ok := strings.CutPrefix(name, "python")
	return ok && strings.Trim(version, "0123456789.") == ""
}

// plain accepts arguments that all are known and keeps them.
func (c *command) plain(args []string, known ...string) bool {
	c.rest = args
	return !slices.ContainsFunc(args, func(a string) bool { return !slices.Contains(known, a) })
}

// bash takes what bash's --rcfile would contradict out of the arguments.
func (c *command) bash(args []string) bool {
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
