package setup

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tandem/engine/api"
)

// A Machine is where settings are written: whose they are, and what reaches the
// person's engine.
type Machine struct {
	Home        string // the person's
	AccountHome string // the home folder that clients find without HOME; "" if unknown
	Dir         string // of the project
	DataDir     string
	Program     string // this executable
	Env         func(name string) string
}

// ServerOptions are the user's choices for the server entry in a client's settings.
type ServerOptions struct {
	Profiles []string
	Roots    []string // absolute
	ReadOnly bool
	HTTP     string // URL of a server that runs already; "" to start one
}

// entry is what stands for the server in a client's settings.
func (m Machine) entry(c Client, w ServerOptions, project bool) (fields, error) {
	if w.HTTP != "" {
		return c.remote(w.HTTP), nil
	}
	command, err := m.command(c.Title, project, c.desktop)
	if err != nil {
		return nil, err
	}
	args := []string{"--serve"}
	if len(w.Profiles) > 0 {
		args = append(args, "--profile", strings.Join(w.Profiles, ","))
	}
	for _, root := range w.Roots {
		args = append(args, "--root", root)
	}
	if w.ReadOnly {
		args = append(args, "--read-only")
	}
	return c.local(launch{command, args, m.variables()}), nil
}

// command is how a client finds this program: by its name, unless the client has
// a PATH of its own. Settings of a project are for others too, who have it
// elsewhere.
func (m Machine) command(title string, project, desktop bool) (string, error) {
	installed := m.lookPath(serverName)
	same := installed != "" && sameFile(installed, m.Program)
	switch {
	case same && (project || !desktop):
		return serverName, nil
	case same:
		return installed, nil
	case !strings.Contains(m.Program, string(filepath.Separator)+"go-build"):
		return m.Program, nil
	case installed != "":
		return installed, nil // `go run` deletes this program when it ends
	}
	return "", api.Errorf(api.CodeInvalid, "set up %s: `go run` deletes this program when it ends", title).
		WithHint("install it: `go install .`, or put it into a folder of your PATH")
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, err2 := os.Stat(b)
	return errors.Join(err, err2) == nil && os.SameFile(one, other)
}

// lookPath finds a program in the folders of PATH; "" if it is in none.
func (m Machine) lookPath(name string) string {
	for _, dir := range filepath.SplitList(m.Env("PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && filepath.IsAbs(dir) && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// variables are those that the server needs to reach this engine and read this
// configuration, and that differ from what holds without them. Codex hands on a
// few names alone, and a client that is started from a desktop has not read the
// shell's files.
func (m Machine) variables() (set fields) {
	add := func(name, value, standard string) {
		if value != "" && filepath.Clean(value) != standard {
			set = append(set, field{name, value})
		}
	}
	if m.AccountHome != "" {
		add("HOME", m.Home, filepath.Clean(m.AccountHome))
	}
	if m.Env("TANDEM_DATA_DIR") != "" {
		add("TANDEM_DATA_DIR", m.DataDir, filepath.Join(m.Home, ".local/state/tandem"))
	} else {
		add("XDG_STATE_HOME", m.Env("XDG_STATE_HOME"), filepath.Join(m.Home, ".local/state"))
	}
	add("XDG_CONFIG_HOME", m.Env("XDG_CONFIG_HOME"), filepath.Join(m.Home, ".config"))
	runtime, standard := m.Env("XDG_RUNTIME_DIR"), "/run/user/"+strconv.Itoa(os.Getuid())
	if socket, _ := api.Sockets(m.DataDir); runtime != "" && strings.HasPrefix(socket, filepath.Clean(runtime)+"/") {
		standard = "" // the socket is in there, as the path of the data folder is too long
	}
	add("XDG_RUNTIME_DIR", runtime, standard)
	return set
}

// PersonalVariables returns the names of the environment variables set to this user's paths in
// the entry of a server that the client starts.
func (m Machine) PersonalVariables() (names []string) {
	for _, f := range m.variables() {
		names = append(names, f.name)
	}
	return names
}

// variableNames are the variables that setup decides on.
func variableNames() []string {
	return []string{"HOME", "TANDEM_DATA_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"}
}
