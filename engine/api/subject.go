package api

import (
	"maps"
	"os"
	"slices"
)

// A Subject is what a call would run, read or change. The user's policy judges it, and the user
// sees it before allowing the call.
type Subject struct {
	Command string   `json:"command,omitempty" jsonschema:"command line for a shell, or text typed" audit:"typed"`
	Argv    []string `json:"argv,omitempty" jsonschema:"program and arguments, without a shell"`
	Check   []string `json:"check,omitempty" jsonschema:"program and arguments of a readiness check"`
	Paths   []string `json:"paths,omitempty" jsonschema:"paths to read or write; relative ones start in \"base\""`
	Base    string   `json:"base,omitempty" jsonschema:"folder of relative paths; default the caller's folder, otherwise the home folder"`
	CWD     string   `json:"cwd,omitempty" jsonschema:"folder to run in; default for a command typed into a session: the session's"`
	Session string   `json:"session,omitempty" jsonschema:"session or process concerned"`

	CWDOf string `json:"-"` // session whose folder replaces CWD, if known

	// Env are variables set for the program, and Environ is the base environment. Variables in
	// Environ count only if the caller sends them without a tool of Tandem. Otherwise Environ is
	// the environment of the agents' server.
	Env     map[string]string `json:"env,omitempty" jsonschema:"variables set for the program"`
	Environ map[string]string `json:"-"`
}

// WithVariables adds variables to the command if they affect which programs run. The policy and the
// user then see `env PATH=… git push`. If all is set, it includes variables in Environ that differ
// from the engine's own.
func (s Subject) WithVariables(all bool) Subject {
	vars := maps.Clone(s.Env)
	if all {
		vars = make(map[string]string)
		for name, value := range s.Environ {
			if own, ok := os.LookupEnv(name); !ok || own != value {
				vars[name] = value
			}
		}
		maps.Copy(vars, s.Env)
	}
	s.Env, s.Environ = nil, nil
	argv := []string{"env"}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if AltersExecution(name) {
			argv = append(argv, name+"="+vars[name])
		}
	}
	if len(argv) == 1 {
		return s
	}
	if s.Command != "" {
		s.Argv = []string{"sh", "-c", s.Command}
	}
	s.Argv, s.Command = append(argv, s.Argv...), ""
	return s
}

// commandSubject returns the subject for running a program with arguments. If the program is a
// shell that is given a command line, the subject is that line.
func commandSubject(argv []string, cwd string, env, environ map[string]string) Subject {
	s := Subject{Argv: argv, CWD: cwd, Env: env, Environ: environ}
	switch {
	case len(argv) == 1 && (isShell(argv[0]) || isOtherShell(argv[0])): // it runs what is typed into it, which is judged then
		s.Argv = nil
	case len(argv) == 3 && isShell(argv[0]) && (argv[1] == "-c" || argv[1] == "-lc"):
		s.Command, s.Argv = argv[2], nil
	}
	return s
}

// isShell reports whether a program is one of the system's shells. The user must see any other
// program with such a name.
func isShell(program string) bool {
	return slices.Contains([]string{"sh", "bash", "/bin/sh", "/bin/bash", "/usr/bin/sh", "/usr/bin/bash", "/system/bin/sh"}, program)
}

// isOtherShell reports whether a program is a shell that has a language of its own.
func isOtherShell(program string) bool {
	return slices.Contains([]string{"zsh", "fish", "/bin/zsh", "/bin/fish", "/usr/bin/zsh", "/usr/bin/fish"}, program)
}
