package prompt

import (
	"path/filepath"
	"strings"
)

// A Start is how a shell is started to tell about itself.
type Start struct {
	Argv []string
	Env  map[string]string // to be set; what is not named stays
}

// NonceVariable hands a shell the word that its marks carry. Its script takes
// it out of the environment, so no program that it starts has it.
const NonceVariable = "TANDEM_SHELL_NONCE"

// Inject gives how to start the interactive shell argv so that it marks its
// prompts with the option aid=nonce. dir is where Install has put the scripts,
// env what the shell's environment will be. ok is false when argv is to be
// started as it is.
func Inject(argv []string, env func(name string) (value string, ok bool), dir, nonce string) (s Start, ok bool) {
	c := parse(argv)
	s = Start{Env: map[string]string{NonceVariable: nonce}}
	keep := func(as, name string) {
		if value, set := env(name); set {
			s.Env[as] = value
		}
	}
	switch c.kind {
	case Bash:
		s.Argv = append([]string{argv[0], "--rcfile", filepath.Join(dir, bashName)}, c.rest...)
		c.bashEnv(s.Env)
	case Zsh:
		s.Argv = argv
		keep("TANDEM_ZDOTDIR", "ZDOTDIR")
		s.Env["ZDOTDIR"] = filepath.Join(dir, zshDir)
		s.Env["TANDEM_SHELL_SCRIPT"] = filepath.Join(dir, zshName)
	case Fish:
		s.Argv = append([]string{argv[0], "-C", "source " + quote(filepath.Join(dir, fishName))}, c.rest...)
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

func (c command) bashEnv(env map[string]string) {
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

// quote writes a path as one word of fish.
func quote(path string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(path) + "'"
}
