package agents

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"tandem/engine/api"
	"tandem/tests/harness"
	"tandem/tests/wait"
	"testing"
)

// newAgent starts `tandem --serve` for an agent on the local machine and initialises the
// protocol.
func newAgent(p *harness.Machines, args ...string) *server {
	p.Helper()
	s := &server{TB: p.TB, dir: p.Dir, cmd: exec.Command(os.Args[0], append([]string{"--serve"}, args...)...)}
	s.cmd.Env, s.cmd.Dir = p.Env, p.Dir
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		p.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		p.Fatal(err)
	}
	s.out, s.cmd.Stderr = bufio.NewReader(out), os.Stderr
	if err := s.cmd.Start(); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		s.in.Close()
		_ = s.cmd.Wait()
	})
	s.initialize()
	return s
}

// checkAnswer checks that a tool's answer contains want, and returns the answer.
func (s *server) checkAnswer(name, args, want string) string {
	s.Helper()
	got := s.callTool(name, args)
	if !strings.Contains(got, want) {
		s.Errorf("%s %s answers %q, want %q", name, args, got, want)
	}
	return got
}

func TestAgentCallsToolsOnAnotherMachine(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 2)
	s := newAgent(p)
	s.checkAnswer("machine_list", `{}`, "m1  connected, tandem ")
	s.checkAnswer("exec", `{"host":"m1","command":"echo $TANDEM_DATA_DIR"}`, p.Data("m1"))
	s.checkAnswer("process_start", `{"host":"m1","command":"echo begun; exec sleep 1000","name":"far"}`, "far")
	s.checkAnswer("process_wait", `{"host":"m1","id":"far","log":"begun"}`, "begun")
	s.checkAnswer("process_list", `{}`, "No processes.")
	s.checkAnswer("process_list", `{"host":"m2"}`, "No processes.")
	for _, answer := range []string{s.checkAnswer("process_list", `{"host":"m1"}`, "far  running"), s.checkAnswer("history", `{"host":"m1"}`, "echo begun")} {
		if !strings.Contains(answer, " from ") {
			t.Errorf("the calling machine is missing: %s", answer)
		}
	}
	s.checkAnswer("session_start", `{"host":"m1","name":"sh","command":"sh"}`, "sh")
	s.checkAnswer("session_exec", `{"host":"m1","id":"sh","command":"echo typed-$((40+2))"}`, "typed-42")
	s.checkAnswer("session_exec", `{"id":"sh","command":"true"}`, "no session")
	// The agent can stop its processes on that machine, and both machines log the calls.
	s.checkAnswer("process_stop_all", `{"host":"m1"}`, "Stopped 1 processes")
	s.checkAnswer("exec", `{"host":"m1","command":"true","Host":"m2"}`, `unknown argument "Host"`)
	s.checkAnswer("exec", `{"host":["m1"],"command":"true"}`, `argument "host" must be a string`)
	s.checkAnswer("exec", `{"host":"m3","command":"true"}`, "reach machine m3: config.toml has no machine with this name")
	s.checkAnswer("exec", `{"command":"echo $TANDEM_DATA_DIR"}`, p.Data("d"))
	wait.Poll(t, "the audit logs", func() ([2]string, bool) {
		logs := [2]string{p.Must("audit"), p.Must("--host", "m1", "audit")}
		return logs, strings.Contains(logs[0], "process_stop_all on m1") && strings.Contains(logs[1], "process_stop_all")
	})
	if remote := p.Must("--host", "m1", "audit", "--json"); !strings.Contains(remote, `"from": "`) || strings.Contains(remote, `"host"`) {
		t.Errorf("the remote audit log: %s", remote)
	}
	if out := p.Must("--host", "m2", "audit"); strings.Contains(out, "exec") {
		t.Errorf("the other machine's audit log: %s", out)
	}
}

// On another machine, an agent is bound by its local sandbox even if that machine's is wider, and
// by that machine's sandbox as well.
func TestAgentBoundsApplyOnAnotherMachine(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 2)
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(p.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// The second machine has a different home folder with the same files.
	for _, home := range []string{"", "home2/"} {
		write(home+"secret/key", "hunter2")
		write(home+"work/file", "text")
		write(home+"other/file", "text")
	}
	write("sandbox.json", fmt.Sprintf(`{"filesystem":{"denyRead":[%q],"allowWrite":[%q,%q],"denyWrite":[]}}`,
		filepath.Join(p.Dir, "secret"), filepath.Join(p.Dir, "work"), filepath.Join(p.Dir, "gone")))
	_ = os.Mkdir(filepath.Join(p.Dir, "gone"), 0o755) // missing on the second machine
	p.Configure(fmt.Sprintf("[agents]\nsandbox = %q\n[machines.far]\ntransport = [%q, \"bridge\"]\nenv = { TANDEM_DATA_DIR = %q, XDG_CONFIG_HOME = %q, HOME = %q }\n",
		filepath.Join(p.Dir, "sandbox.json"), os.Args[0], p.Data("m2"), filepath.Join(p.Dir, "none"), filepath.Join(p.Dir, "home2")))
	s := newAgent(p, "--root", filepath.Join(p.Dir, "work"))
	home := filepath.Join(p.Dir, "home2")
	s.checkAnswer("exec", fmt.Sprintf(`{"host":"far","command":"cat %s/secret/key"}`, home), "Permission denied")
	s.checkAnswer("exec", fmt.Sprintf(`{"host":"far","command":"echo x > %s/other/file"}`, home), "Permission denied")
	s.checkAnswer("exec", fmt.Sprintf(`{"host":"far","command":"echo x > %s/work/new && echo done"}`, home), "done")
	s.checkAnswer("read", `{"host":"far","path":"work/file"}`, "text")
	s.checkAnswer("read", `{"host":"far","path":"other/file"}`, "outside the allowed folders")
	s.checkAnswer("read", `{"host":"far","path":"secret/key"}`, "outside the allowed folders")
	// The agent's own sandbox argument cannot widen either sandbox.
	s.checkAnswer("exec", fmt.Sprintf(`{"host":"far","command":"cat %s/secret/key","sandbox":{"filesystem":{"denyRead":[],"allowWrite":["/"],"denyWrite":[]}}}`, home), "Permission denied")
	// Programs it starts cannot connect to an engine to escape through it.
	s.checkAnswer("exec", fmt.Sprintf(`{"host":"far","command":"%s=1 %s --host m1 ps"}`, harness.AsProgram, os.Args[0]), "Exit code: ")
	// A machine entry leading back to the local engine does not escape the sandbox either.
	p.Configure(fmt.Sprintf("[machines.back]\ntransport = [%q, \"bridge\"]\nenv = { TANDEM_DATA_DIR = %q }\n", os.Args[0], p.Data("d")))
	wait.Poll(t, "the machine back", func() (string, bool) {
		list := p.Must("machine", "list")
		return list, strings.Contains(list, "back")
	})
	s.checkAnswer("exec", fmt.Sprintf(`{"host":"back","command":"cat %s/secret/key"}`, p.Dir), "Permission denied")
	s.checkAnswer("read", fmt.Sprintf(`{"host":"back","path":"%s/secret/key"}`, p.Dir), "outside the allowed folders")
	p.Must("new", "--name", "mine", "--", "sh")
	s.checkAnswer("session_write", `{"host":"back","id":"mine","text":"x"}`, "outside the agents' sandbox")

	only := newAgent(p, "--read-only")
	if list := fmt.Sprint(only.ask("tools/list", `{}`)); strings.Contains(list, "session_write") {
		t.Errorf("a read-only agent is offered %s", list)
	}
	only.checkAnswer("process_list", `{"host":"far"}`, "No processes.")
}

// A machine's sandbox also confines agents from other machines.
func TestMachineSandboxAppliesToRemoteAgents(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 1)
	secret := filepath.Join(p.Dir, "secret")
	sandbox, conf := filepath.Join(p.Dir, "far.json"), filepath.Join(p.Dir, "none", "tandem", "config.toml")
	for path, text := range map[string]string{
		secret: "hunter2", sandbox: fmt.Sprintf(`{"filesystem":{"denyRead":[%q],"allowWrite":[],"denyWrite":[]}}`, secret),
		conf: fmt.Sprintf("[agents]\nsandbox = %q\n", sandbox),
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := newAgent(p)
	s.checkAnswer("exec", fmt.Sprintf(`{"command":"cat %s"}`, secret), "hunter2")
	s.checkAnswer("exec", fmt.Sprintf(`{"host":"m1","command":"cat %s"}`, secret), "Permission denied")
	s.checkAnswer("read", fmt.Sprintf(`{"host":"m1","path":%q}`, secret), "ermission denied")
	p.Must("--host", "m1", "new", "--name", "mine", "--", "sh")
	s.checkAnswer("session_exec", `{"host":"m1","id":"mine","command":"true"}`, "outside the agents' sandbox")
	// With an unreadable sandbox file, no agent gets access.
	if err := os.WriteFile(sandbox, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	other := newAgent(p)
	other.checkAnswer("exec", `{"host":"m1","command":"true"}`, "read the agents' sandbox")
}

// A call to an offline machine fails with its name, and is not run on any other machine.
func TestCallFailsWithTheNameOfTheOfflineMachine(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 1)
	s := newAgent(p)
	s.checkAnswer("exec", `{"host":"m1","command":"true"}`, "Exit code: 0")
	pid := p.EnginePID("m1")
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	p.AwaitState("m1", api.MachineAway)
	canary := filepath.Join(p.Dir, "canary")
	s.checkAnswer("exec", fmt.Sprintf(`{"host":"m1","command":"touch %s"}`, canary), "m1: it is offline")
	s.checkAnswer("machine_list", `{}`, "m1  away, last seen ")
	if _, err := os.Stat(canary); err == nil {
		t.Error("the command ran locally")
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	p.AwaitState("m1", api.MachineConnected)
	s.checkAnswer("exec", `{"host":"m1","command":"echo back"}`, "back")
}

// A call to another machine must be allowed by the policies of both.
func TestBothPoliciesHoldForAnotherMachine(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 2)
	policy := func(folder, text string) {
		t.Helper()
		path := filepath.Join(p.Dir, folder, "tandem", "policy.toml")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	policy("", "[[rule]]\ndecision = \"deny\"\nhost = [\"m2\"]\nwrite = true\nreason = \"hands off\"\n[[rule]]\ndecision = \"deny\"\nhost = [\"*\"]\ncommand = [\"rm\"]\nreason = \"only here\"\n")
	policy("none", "[[rule]]\ndecision = \"deny\"\ncommand = [\"touch\"]\nreason = \"not there\"\n")
	s := newAgent(p)
	s.checkAnswer("exec", `{"host":"m2","command":"true"}`, "hands off")
	s.checkAnswer("process_list", `{"host":"m2"}`, "No processes.")
	s.checkAnswer("exec", `{"host":"m1","command":"rm x"}`, "only here")
	s.checkAnswer("exec", `{"command":"rm nothing"}`, "No such file")
	s.checkAnswer("exec", `{"host":"m1","command":"touch x"}`, "not there")
	s.checkAnswer("session_start", `{"host":"m1","command":"touch x"}`, "not there")
	s.checkAnswer("exec", `{"command":"touch x && echo here"}`, "here")
}
