package toolkit

import (
	"maps"
	"os"
	"slices"

	"tandem/engine/api"
)

// Steered is a subject with the variables that decide which programs run as the
// command shows them: `env PATH=… git push` is what the policy judges and what
// the person is asked about. Within a sandbox they steer nothing that was not in
// reach before.
func (s Subject) Steered(sandboxed bool) Subject {
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

// Given are the variables of a call with which a program is started, of which
// those that the server has itself are nothing new.
func Given(env, environ map[string]string) map[string]string {
	all := make(map[string]string)
	for name, value := range environ {
		if own, ok := os.LookupEnv(name); !ok || own != value {
			all[name] = value
		}
	}
	maps.Copy(all, env)
	return all
}
