package engine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/persist"
)

// directly runs a line and tells what the kernel was given for it.
func directly(m *machine, in api.ExecInput) (out api.ExecOutput, cmdline string) {
	m.Helper()
	out = call(m, api.Exec, in)
	return out, strings.ReplaceAll(strings.TrimSuffix(out.Stdout, "\x00"), "\x00", " ")
}

func TestALineThatNeedsNoShellRunsWithoutOne(t *testing.T) {
	m := startMachine(t)
	self := "cat /proc/self/cmdline"
	if _, cmdline := directly(m, api.ExecInput{Command: []string{"bash", "-c", self}}); cmdline != self {
		t.Errorf("%q", cmdline)
	}
	// The parent is the keeper, and not a shell.
	out := call(m, api.Exec, api.ExecInput{Command: []string{"bash", "-c", "awk '/^PPid/ { print $2 }' /proc/self/status"}})
	if p := out.Process; p.ExitCode == nil || *p.ExitCode != 0 || p.Command == "" || !strings.Contains(p.Command, "bash -c") {
		t.Errorf("%+v", p)
	}
}

func TestALineThatNamesNoProgramIsTheShellsToExplain(t *testing.T) {
	m := startMachine(t)
	dir := m.TempDir()
	broken, plain := filepath.Join(dir, "broken"), filepath.Join(dir, "plain")
	for path, text := range map[string]string{broken: "#!/none/such\n", plain: "echo from bash: ${BASH_VERSION:+yes}\n"} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{"no-such-program-anywhere", broken, plain, dir, "true", "false"} {
		shell := exec.Command("bash", "-c", line)
		var stderr strings.Builder
		shell.Stderr = &stderr
		stdout, _ := shell.Output() // its exit code is compared
		out := call(m, api.Exec, api.ExecInput{Command: []string{"bash", "-c", line}})
		if p := out.Process; p.ExitCode == nil || *p.ExitCode != shell.ProcessState.ExitCode() || out.Stdout != string(stdout) || out.Stderr != stderr.String() {
			t.Errorf("%s: %v, %q, %q instead of %v, %q, %q", line, p.ExitCode, out.Stdout, out.Stderr, shell.ProcessState, stdout, stderr.String())
		}
	}
}

func TestOnlyOneShotCommandsGoWithoutTheirShell(t *testing.T) {
	spec := keeper.Spec{Argv: []string{"bash", "-c", "true"}, Env: []string{"PATH=/usr/bin:/bin"}, CWD: "/"}
	if _, ok := direct(persist.Record{Transient: true}, spec); !ok {
		t.Error("a one-shot command needs its shell")
	}
	for _, r := range []persist.Record{{}, {Transient: true, TTY: true}, {Transient: true, Sandboxed: true}} {
		if d, ok := direct(r, spec); ok {
			t.Errorf("%+v: %q", r, d.Argv)
		}
	}
	if !executes("/proc/self/exe") || executes("/dev/zero") || executes("/") || executes("/etc/passwd") {
		t.Error("what the kernel starts is not known")
	}
}
