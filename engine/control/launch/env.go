package launch

import (
	"maps"
	"os"
	"slices"

	"tandem/engine/api"
	"tandem/engine/system/proctree"
	"tandem/persist/store"
)

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
	env[proctree.IDVariable] = r.ID
	env[proctree.DataDirVariable] = l.DataDir
	pairs := make([]string, 0, len(env))
	for name, value := range env {
		pairs = append(pairs, name+"="+value)
	}
	slices.Sort(pairs)
	return pairs
}
