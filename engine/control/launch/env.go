package launch

import (
	"maps"
	"os"
	"slices"

	"tandem/engine/api"
	"tandem/engine/session/prompt"
	"tandem/engine/system/proctree"
	"tandem/persist/store"
)

const privateVariable = "TANDEM_PRIVATE"

// PrivateMark is in the environment of the programs of private sessions, as name=value.
const PrivateMark = privateVariable + "=1"

// setPrivacy marks the environment of a private session, and keeps its shells from writing a file of
// their history. It undoes that for another session that is started from a private one.
func setPrivacy(env map[string]string, private bool) {
	_, was := env[privateVariable]
	delete(env, privateVariable)
	for name, value := range prompt.NoHistory() {
		if private {
			env[name] = value
		} else if was && env[name] == value {
			delete(env, name)
		}
	}
	if private {
		env[privateVariable] = "1"
	}
}

// childEnv returns the complete environment of a record's child.
func (l *Launcher) childEnv(r store.Record) []string {
	env := maps.Clone(r.Environ)
	if env == nil {
		env = api.Environ(os.Environ())
	}
	if r.TTY {
		env["TERM"] = "xterm-256color"
		env["COLORTERM"] = "truecolor"
		env["TERM_PROGRAM"] = "tandem"
		env["TERM_PROGRAM_VERSION"] = l.Version
	}
	env["PWD"] = r.CWD
	// Later values win: shared variables, then the variables of this start, then the marks.
	for name, value := range l.Env() {
		env[name] = value
	}
	for name, value := range r.Env {
		env[name] = value
	}
	setPrivacy(env, r.Private)
	env[proctree.IDVariable] = r.ID
	env[proctree.DataDirVariable] = l.DataDir
	pairs := make([]string, 0, len(env))
	for name, value := range env {
		pairs = append(pairs, name+"="+value)
	}
	slices.Sort(pairs)
	return pairs
}
