package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/tests/wait"
)

// Machines is a user's machine (Env, Dir) and others that it reaches through
// `tandem bridge`, each with its own data directory on this host.
type Machines struct {
	testing.TB
	Env   []string
	Dir   string
	names []string
}

// NewMachines makes machines m1 … mN, each without machines of its own.
func NewMachines(t testing.TB, n int) *Machines {
	env, dir := Stage(t)
	m := &Machines{TB: t, Env: env, Dir: dir}
	t.Cleanup(m.shutDown)
	var conf strings.Builder
	for i := 1; i <= n; i++ {
		conf.WriteString(m.Add(fmt.Sprintf("m%d", i)))
	}
	m.Configure(conf.String())
	return m
}

// Add returns the configuration of another machine, with vars ("NAME=value") in
// the environment of its bridge. Its engine is shut down when the test ends.
func (m *Machines) Add(name string, vars ...string) string {
	env := []string{fmt.Sprintf("TANDEM_DATA_DIR = %q", m.Data(name)), fmt.Sprintf("XDG_CONFIG_HOME = %q", filepath.Join(m.Dir, "none"))}
	for _, pair := range vars {
		key, value, _ := strings.Cut(pair, "=")
		env = append(env, fmt.Sprintf("%s = %q", key, value))
	}
	m.ShutDownLast(name)
	return fmt.Sprintf("[machines.%s]\ntransport = [%q, \"bridge\"]\nenv = { %s }\n", name, os.Args[0], strings.Join(env, ", "))
}

// ShutDownLast registers a machine whose engine is shut down when the test ends, after the user's.
func (m *Machines) ShutDownLast(name string) { m.names = append(m.names, name) }

// shutDown shuts down the user's engine first, because its links would restart the engines of the
// other machines.
func (m *Machines) shutDown() {
	ShutDown(m, m.Env)
	for _, name := range m.names {
		cmd := exec.Command("/proc/self/exe", "shutdown", "--all", "--yes")
		cmd.Env = append(m.Env[:len(m.Env):len(m.Env)], "TANDEM_DATA_DIR="+m.Data(name))
		_ = cmd.Run() // its engine may never have been started
	}
}

// Data returns the data directory of a machine.
func (m *Machines) Data(name string) string { return filepath.Join(m.Dir, name) }

// Configure appends text to the user's config.toml.
func (m *Machines) Configure(text string) {
	m.Helper()
	path := filepath.Join(m.Dir, "tandem", "config.toml")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		m.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		m.Fatal(err)
	}
}

// Run runs tandem on the user's machine.
func (m *Machines) Run(args ...string) (stdout, stderr string, status int) {
	m.Helper()
	return Run(m, m.Env, m.Dir, args...)
}

// Run runs tandem and returns its output and exit status.
func Run(t testing.TB, env []string, dir string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = env, dir, &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// Must is Run, but fails the test unless the status is 0.
func (m *Machines) Must(args ...string) string {
	m.Helper()
	stdout, stderr, status := m.Run(args...)
	if status != 0 {
		m.Fatalf("tandem %s: status %d: %s%s", strings.Join(args, " "), status, stdout, stderr)
	}
	return stdout
}

// State returns a machine as the user's engine lists it.
func (m *Machines) State(name string) api.Machine {
	m.Helper()
	var all []api.Machine
	if err := json.Unmarshal([]byte(m.Must("machine", "list", "--json")), &all); err != nil {
		m.Fatal(err)
	}
	for _, one := range all {
		if one.Name == name {
			return one
		}
	}
	m.Fatalf("no machine %s", name)
	return api.Machine{}
}

// AwaitState waits until a machine is in a state.
func (m *Machines) AwaitState(name string, state api.MachineState) {
	m.Helper()
	wait.Poll(m, fmt.Sprintf("machine %s to be %s", name, state), func() (api.Machine, bool) {
		now := m.State(name)
		return now, now.State == state
	})
}

// EnginePID returns the pid of a machine's engine.
func (m *Machines) EnginePID(name string) int {
	m.Helper()
	var info api.Info
	if err := json.Unmarshal([]byte(m.Must("--host", name, "info", "--json")), &info); err != nil {
		m.Fatal(err)
	}
	return info.EnginePID
}

// BridgePIDs returns the processes of `tandem bridge` to a machine.
func (m *Machines) BridgePIDs(name string) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range all {
		line, _ := os.ReadFile(path)
		env, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "environ"))
		// All machines run the same program, so only the data directory tells their bridges apart.
		if bytes.Contains(line, []byte("\x00bridge\x00")) && bytes.Contains(env, []byte("TANDEM_DATA_DIR="+m.Data(name)+"\x00")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			pids = append(pids, pid)
		}
	}
	return pids
}
