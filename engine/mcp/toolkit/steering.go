package toolkit

import (
	"maps"
	"os"
	"slices"

	"tandem/engine/api"
)

// WithVariables adds to the command the variables affecting which programs run, so that the policy
// and the user see `env PATH=… git push`. In a sandbox they cannot reach anything new and are left
// out.
func (s Subject) WithVariables(sandboxed bool) Subject {
	if sandboxed {
		return s
	}
	argv := []string{"env"}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		if api.AltersExecution(name) {
			argv = append(argv, name+"="+s.Env[name])
		}
	}
	if len(argv) == 1 {
		return s
	}
	if len(s.Argv) == 0 {
		s.Argv = CommandLine(s.Command)
	}
	s.Argv, s.Command = append(argv, s.Argv...), ""
	return s
}

// NewVariables returns the variables a call sets for its program, without those the server itself
// has.
func NewVariables(env, environ map[string]string) map[string]string {
	all := make(map[string]string)
	for name, value := range environ {
		if own, ok := os.LookupEnv(name); !ok || own != value {
			all[name] = value
		}
	}
	maps.Copy(all, env)
	return all
}
