package engine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/system/sandbox"
)

// runDirect runs a line and returns the command line shown by the kernel.
func runDirect(m *machine, in api.ExecInput) (out api.ExecOutput, cmdline string) {
	m.Helper()
	out = call(m, api.Exec, in)
	return out, strings.ReplaceAll(strings.TrimSuffix(out.Stdout, "\x00"), "\x00", " ")
}

func TestSimpleCommandLineRunsWithoutAShell(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	self := "cat /proc/self/cmdline"
	if _, cmdline := runDirect(m, api.ExecInput{Command: []string{"bash", "-c", self}}); cmdline != self {
		t.Errorf("%q", cmdline)
	}
	// The parent is the keeper, and not a shell.
	out := call(m, api.Exec, api.ExecInput{Command: []string{"bash", "-c", "awk '/^PPid/ { print $2 }' /proc/self/status"}})
	if p := out.Process; p.ExitCode == nil || *p.ExitCode != 0 || p.Command == "" || !strings.Contains(p.Command, "bash -c") {
		t.Errorf("%+v", p)
	}
}

func TestSimpleCommandLineRunsWithoutAShellInASandbox(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	in := api.ExecInput{Sandbox: &api.Sandbox{}}
	for line, want := range map[string][]string{
		"cat /proc/self/cmdline": {"cat\x00/proc/self/cmdline\x00"},
		"cat /proc/self/status":  {"NoNewPrivs:\t1", "Seccomp:\t2"},
	} {
		in.Command = []string{"bash", "-c", line}
		out := call(m, api.Exec, in)
		for _, part := range want {
			if !strings.Contains(out.Stdout, part) {
				t.Errorf("%s gave %q, want %q", line, out.Stdout, part)
			}
		}
	}
	in.Command = []string{"bash", "-c", "env"}
	if out := call(m, api.Exec, in); strings.Contains(out.Stdout, sandbox.ChildPrefix) || !strings.Contains(out.Stdout, "PATH=") {
		t.Errorf("its environment is %q", out.Stdout)
	}
}

// The engine does not open such a program, and the shell reports why it cannot run.
func TestShellExplainsAProgramDeniedByTheSandbox(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	dir := m.TempDir()
	program := filepath.Join(dir, "program")
	writeProgram(t, program, "#!/bin/sh\necho ran\n")
	link := filepath.Join(m.TempDir(), "link")
	if err := os.Symlink(program, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{program, link} {
		in := api.ExecInput{Command: []string{"bash", "-c", path}}
		if out := call(m, api.Exec, in); out.Stdout != "ran\n" {
			t.Errorf("%s gave %+v", path, out)
		}
		in.Sandbox = &api.Sandbox{Filesystem: api.SandboxFilesystem{DenyRead: []string{dir}}}
		out := call(m, api.Exec, in)
		if p := out.Process; p.ExitCode == nil || *p.ExitCode != 126 || out.Stdout != "" || !strings.Contains(out.Stderr, "Permission denied") {
			t.Errorf("%s gave %+v", path, out)
		}
	}
}

func TestShellExplainsAMissingProgram(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	dir := m.TempDir()
	broken, plain := filepath.Join(dir, "broken"), filepath.Join(dir, "plain")
	for path, text := range map[string]string{broken: "#!/none/such\n", plain: "echo from bash: ${BASH_VERSION:+yes}\n"} {
		writeProgram(t, path, text)
	}
	for _, line := range []string{"no-such-program-anywhere", broken, plain, dir, "true", "false"} {
		shell := exec.Command("bash", "-c", line)
		var stderr strings.Builder
		shell.Stderr = &stderr
		stdout, _ := shell.Output() // only the exit code is compared
		out := call(m, api.Exec, api.ExecInput{Command: []string{"bash", "-c", line}})
		if p := out.Process; p.ExitCode == nil || *p.ExitCode != shell.ProcessState.ExitCode() || out.Stdout != string(stdout) || out.Stderr != stderr.String() {
			t.Errorf("%s: %v, %q, %q instead of %v, %q, %q", line, p.ExitCode, out.Stdout, out.Stderr, shell.ProcessState, stdout, stderr.String())
		}
	}
}
