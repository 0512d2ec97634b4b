package setup

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"tandem/engine/api"
	"tandem/engine/api/sockets"
)

// A Machine describes the user, the project and the engine for which settings are
// written.
type Machine struct {
	Home        string                   // the user's home directory
	AccountHome string                   // home directory in the user database, used by clients without HOME; "" if unknown
	Dir         string                   // the project's directory
	DataDir     string                   // the engine's data directory
	Program     string                   // path of this executable
	Env         func(name string) string // returns an environment variable, or ""
}

// ServerOptions are the user's choices for the server entry in a client's settings.
type ServerOptions struct {
	Profiles []string
	Roots    []string // absolute
	ReadOnly bool
	HTTP     string // URL of a running server; "" if the client starts one
}

// serverEntry returns the entry for the server in a client's settings.
func (m Machine) serverEntry(c Client, o ServerOptions, project bool) (fields, error) {
	if o.HTTP != "" {
		return c.remote(o.HTTP), nil
	}
	command, err := m.tandemCommand(c.Title, project, c.desktop)
	if err != nil {
		return nil, err
	}
	args := []string{"--serve"}
	profiles := o.Profiles
	if len(profiles) == 0 && c.profile != "" {
		profiles = []string{c.profile}
	}
	if len(profiles) > 0 {
		args = append(args, "--profile", strings.Join(profiles, ","))
	}
	for _, root := range o.Roots {
		args = append(args, "--root", root)
	}
	if o.ReadOnly {
		args = append(args, "--read-only")
	}
	return c.local(launch{command, args, m.serverVariables()}), nil
}

// tandemCommand returns the command with which a client or agent runs this program: its name, if
// that finds it in PATH, else its path. A desktop client has another PATH and gets the path too,
// except in a project's settings: they are shared with users who have the program elsewhere.
func (m Machine) tandemCommand(title string, project, desktop bool) (string, error) {
	path, err := m.ProgramPath("set up " + title)
	if path == m.LookPath(serverName) && isSameFile(path, m.Program) && (project || !desktop) {
		return serverName, nil
	}
	return path, err
}

// ProgramPath returns the path with which others run this program. If the program is in PATH, it
// returns that path, which stays the same after an upgrade. The error begins with purpose.
func (m Machine) ProgramPath(purpose string) (string, error) {
	installed := m.LookPath(serverName)
	switch {
	case isSameFile(installed, m.Program):
		return installed, nil
	case !strings.Contains(m.Program, string(filepath.Separator)+"go-build"):
		return m.Program, nil
	case installed != "":
		return installed, nil // `go run` deletes this program when it exits
	}
	return "", api.Errorf(api.CodeInvalid, "%s: `go run` deletes this program when it ends", purpose).
		WithHint("install it: `go install .`, or put it into a folder of your PATH")
}

func isSameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, err2 := os.Stat(b)
	return errors.Join(err, err2) == nil && os.SameFile(one, other)
}

// LookPath returns the path of an executable in an absolute directory of the Machine's PATH, or "".
func (m Machine) LookPath(name string) string {
	for _, dir := range filepath.SplitList(m.Env("PATH")) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(dir) {
			return path
		}
	}
	return ""
}

// serverVariables returns the environment variables needed by the server to reach
// this engine and read this configuration, without those equal to their default. A
// server cannot rely on inheriting them: Codex passes on only a few, and a client
// started from the desktop has not read the shell's startup files.
func (m Machine) serverVariables() (set fields) {
	add := func(name, value, defaultValue string) {
		if value != "" && filepath.Clean(value) != defaultValue {
			set = append(set, field{name, value})
		}
	}
	if m.AccountHome != "" {
		add("HOME", m.Home, filepath.Clean(m.AccountHome))
	}
	// TANDEM_DATA_DIR overrides XDG_STATE_HOME, so only one of them is needed. The server may run in
	// another directory and needs the absolute path.
	if m.Env("TANDEM_DATA_DIR") != "" {
		add("TANDEM_DATA_DIR", m.DataDir, filepath.Join(m.Home, ".local/state/tandem"))
	} else {
		add("XDG_STATE_HOME", m.Env("XDG_STATE_HOME"), filepath.Join(m.Home, ".local/state"))
	}
	add("TANDEM_CONFIG_DIR", m.Env("TANDEM_CONFIG_DIR"), filepath.Join(m.Home, ".config/tandem"))
	add("XDG_CONFIG_HOME", m.Env("XDG_CONFIG_HOME"), filepath.Join(m.Home, ".config"))
	runtimeDir, defaultValue := m.Env("XDG_RUNTIME_DIR"), "/run/user/"+strconv.Itoa(os.Getuid())
	if socket, _ := sockets.Paths(m.DataDir); runtimeDir != "" && strings.HasPrefix(socket, filepath.Clean(runtimeDir)+"/") {
		defaultValue = "" // needed even if it is the default: the data directory's path is too long for a socket
	}
	add("XDG_RUNTIME_DIR", runtimeDir, defaultValue)
	return set
}

// Variables returns the variables of serverVariables in the form NAME=value.
func (m Machine) Variables() []string { return m.serverVariables().pairs() }

// PersonalVariables returns the names of the variables set to this user's paths in the entry of a
// server started by the client.
func (m Machine) PersonalVariables() (names []string) {
	for _, f := range m.serverVariables() {
		names = append(names, f.name)
	}
	return names
}

// serverVariableNames returns the names of all variables managed by setup.
func serverVariableNames() []string {
	return []string{"HOME", "TANDEM_DATA_DIR", "XDG_STATE_HOME", "TANDEM_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"}
}
