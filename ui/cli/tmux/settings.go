package tmux

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/persist/procstat"
	"tandem/ui/cli/tmux/server"
)

// settings are the options and the environment in effect: those of the server over the caller's
// environment.
type settings struct {
	state   *server.State
	environ []string // the caller's, as "NAME=value"
}

// lookupEnv returns a variable of environ; "" if it is unset.
func lookupEnv(environ []string, name string) string {
	for _, pair := range slices.Backward(environ) { // the last of repeated variables counts
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// lookupEnv returns a variable of the caller; "" if it is unset.
func (s *settings) lookupEnv(name string) string { return lookupEnv(s.environ, name) }

// optionValue returns the value of an option in effect at a target. Unless it was set, default-shell
// is the caller's shell.
func (s *settings) optionValue(at server.Target, name string) server.Value {
	value, set, _ := s.state.LookupOption(at, name)
	if name == "default-shell" && !set {
		value = server.Value(cmp.Or(s.lookupEnv("SHELL"), string(value)))
	}
	return value
}

// baseIndex returns the index of a session's first window.
func (s *settings) baseIndex(session *server.Session) int {
	return s.optionValue(server.Target{Session: session}, "base-index").Int()
}

// globalEnviron returns the global environment: the caller's variables, overridden by
// set-environment -g. The caller's are not stored.
func (s *settings) globalEnviron() server.Environ {
	all := server.Environ{}
	for name, value := range api.Environ(s.environ) {
		all[name] = &value
	}
	for _, name := range s.state.Unset {
		delete(all, name)
	}
	maps.Copy(all, s.state.Environ)
	return all
}

// environFor returns the environment for programs of a session. A nil session gives the global one.
func (s *settings) environFor(session *server.Session) map[string]string {
	all := s.globalEnviron()
	if session != nil {
		maps.Copy(all, session.Environ)
	}
	values := make(map[string]string, len(all))
	for name, value := range all {
		if value != nil {
			values[name] = *value
		}
	}
	return values
}

// paneEnviron returns the environment of a pane's program. environ is that of its session. env
// overrides it, with TMUX, TMUX_PANE and the variables in extra (from -e).
func (s *settings) paneEnviron(p *server.Pane, at server.Target, extra []string) (env, environ map[string]string) {
	environ, env = s.environFor(at.Session), map[string]string{}
	for _, pair := range extra {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	session := 0
	if at.Session != nil {
		session = at.Session.ID
	}
	env["TMUX"] = s.tmuxVariable(session)
	env["TMUX_PANE"] = fmt.Sprintf("%%%d", p.ID)
	return env, environ
}

// tmuxVariable returns the value of TMUX for programs in a session.
func (s *settings) tmuxVariable(session int) string {
	return formatTmuxVariable(s.state.Path, serverPID(s.state), session)
}

// formatTmuxVariable returns a value of TMUX: the server's path, its PID and the session's id.
func formatTmuxVariable(path string, pid, session int) string {
	return fmt.Sprintf("%s,%d,%d", path, pid, session)
}

// serverPID returns a PID to present as the server's: the parent of a pane's program, which holds its
// terminal, or else this process.
func serverPID(state *server.State) int {
	pid := os.Getpid()
	for _, at := range state.ListPanes(nil) {
		if p, err := procstat.Read(at.Pane.PID); err == nil && p.Parent > 1 {
			pid = p.Parent
		}
	}
	return pid
}

// programName returns the name of a command's program, to name a window after it.
func (s *settings) programName(argv []string) string {
	if len(argv) == 0 {
		return filepath.Base(cmp.Or(s.lookupEnv("SHELL"), "sh"))
	}
	word := argv[0]
	// A line for the shell is named after its first word, or the one after exec.
	if len(argv) == 3 && argv[1] == "-c" {
		word = argv[2]
		if fields := strings.Fields(word); len(fields) > 0 {
			word = fields[0]
			if word == "exec" && len(fields) > 1 {
				word = fields[1]
			}
		}
	}
	return filepath.Base(strings.Trim(word, `"'`))
}
