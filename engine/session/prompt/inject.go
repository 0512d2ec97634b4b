package prompt

import (
	"path/filepath"
	"strings"
)

// A Start says how to start a shell so that it marks its prompts.
type Start struct {
	Argv []string
	Env  map[string]string // variables to set; others are kept
}

// NonceVariable is the environment variable with the nonce for a shell's marks. The shell's script
// unsets it, so programs started by the shell do not inherit it.
const NonceVariable = "TANDEM_SHELL_NONCE"

// Inject returns how to start the interactive shell argv so that its marks have the option
// aid=nonce. dir is the directory filled by Install. env looks up a variable in the shell's
// environment. With private, bash, zsh and fish write no file of their history, whatever the user's
// own files say. If ok is false, argv must be started unchanged.
func Inject(argv []string, env func(name string) (value string, ok bool), dir, nonce string, private bool) (s Start, ok bool) {
	c := parseShell(argv)
	s = Start{Env: map[string]string{NonceVariable: nonce}}
	keep := func(as, name string) {
		if value, set := env(name); set {
			s.Env[as] = value
		}
	}
	switch c.kind {
	case Bash:
		s.Argv = append([]string{argv[0], "--rcfile", filepath.Join(dir, pick(private, privateBashName, bashName))}, c.rest...)
		c.setBashEnv(s.Env)
	case Zsh:
		s.Argv = argv
		keep("TANDEM_ZDOTDIR", "ZDOTDIR")
		s.Env["ZDOTDIR"] = filepath.Join(dir, zshDir)
		s.Env["TANDEM_SHELL_SCRIPT"] = filepath.Join(dir, pick(private, privateZshName, zshName))
	case Fish:
		s.Argv = append([]string{argv[0], "-C", "source " + quoteFish(filepath.Join(dir, fishName)) + pick(private, "; set -g fish_history ''", "")}, c.rest...)
	case POSIX:
		s.Argv = argv
		keep("TANDEM_SHELL_ENV", "ENV")
		s.Env["ENV"] = filepath.Join(dir, posixName)
	case Python:
		s.Argv = argv
		keep("TANDEM_SHELL_PYTHONSTARTUP", "PYTHONSTARTUP")
		s.Env["PYTHONSTARTUP"] = filepath.Join(dir, pythonFile)
	case Tandem:
		s.Argv = argv
	default:
		return Start{}, false
	}
	return s, true
}

func (c command) setBashEnv(env map[string]string) {
	if c.login {
		env["TANDEM_SHELL_LOGIN"] = "1"
	}
	if c.noRC {
		env["TANDEM_SHELL_NORC"] = "1"
	}
	if c.noProf {
		env["TANDEM_SHELL_NOPROFILE"] = "1"
	}
	if c.rc != "" {
		env["TANDEM_SHELL_RC"] = c.rc
	}
}

func pick(private bool, script, other string) string {
	if private {
		return script
	}
	return other
}

// NoHistory are the variables with which bash, zsh and fish, and shells started by them, write no
// file of their history, unless the user's own files set another one.
func NoHistory() map[string]string {
	return map[string]string{"HISTFILE": "/dev/null", "fish_history": ""}
}

// quoteFish quotes a path as one word for fish.
func quoteFish(path string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(path) + "'"
}
