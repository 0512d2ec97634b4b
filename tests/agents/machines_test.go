package agents

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"tandem/tests/harness"
	"testing"
)

// newAgent starts `tandem --serve` on the user's machine for an agent and
// initialises the protocol.
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
	s.greet()
	return s
}

// says wants the answer of a tool to hold a text.
func (s *server) says(name, args, want string) string {
	s.Helper()
	got := s.tool(name, args)
	if !strings.Contains(got, want) {
		s.Errorf("%s %s answers %q, want %q", name, args, got, want)
	}
	return got
}

func TestAgentWorksOnAnotherMachine(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 2)
	s := newAgent(p)
	s.says("machine_list", `{}`, "m1  connected, tandem ")
	s.says("exec", `{"host":"m1","command":"echo $TANDEM_DATA_DIR"}`, p.Data("m1"))
	s.says("process_start", `{"host":"m1","command":"echo begun; exec sleep 1000","name":"far"}`, "far")
	s.says("process_wait", `{"host":"m1","id":"far","log":"begun"}`, "begun")
	s.says("process_list", `{}`, "No processes.")
	s.says("process_list", `{"host":"m2"}`, "No processes.")
	for _, told := range []string{s.says("process_list", `{"host":"m1"}`, "far  running"), s.says("history", `{"host":"m1"}`, "echo begun")} {
		if !strings.Contains(told, " from ") {
			t.Errorf("it is not told from which machine: %s", told)
		}
	}
	s.says("session_start", `{"host":"m1","name":"sh","command":"sh"}`, "sh")
	s.says("session_exec", `{"host":"m1","id":"sh","command":"echo typed-$((40+2))"}`, "typed-42")
	s.says("session_exec", `{"id":"sh","command":"true"}`, "no session")
	// What is there is the agent's there, and both machines have it in their logs.
	s.says("process_stop_all", `{"host":"m1"}`, "Stopped 1 processes")
	s.says("exec", `{"host":"m1","command":"true","Host":"m2"}`, `unknown argument "Host"`)
	s.says("exec", `{"host":["m1"],"command":"true"}`, `argument "host" must be a string`)
	s.says("exec", `{"host":"m3","command":"true"}`, "reach machine m3: config.toml has no machine with this name")
	s.says("exec", `{"command":"echo $TANDEM_DATA_DIR"}`, p.Data("d"))
	harness.Until(t, "the audit logs", func() bool {
		return strings.Contains(p.Must("audit"), "process_stop_all on m1") && strings.Contains(p.Must("--host", "m1", "audit"), "process_stop_all")
	})
	if far := p.Must("--host", "m1", "audit", "--json"); !strings.Contains(far, `"from": "`) || strings.Contains(far, `"host"`) {
		t.Errorf("the audit log there: %s", far)
	}
	if out := p.Must("--host", "m2", "audit"); strings.Contains(out, "exec") {
		t.Errorf("the audit log of another machine: %s", out)
	}
}

// What an agent is held to here it is held to there, whatever its sandbox says there;
// and to what agents are held to there.
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
	// The second machine has another home folder, with the same things in it.
	for _, home := range []string{"", "home2/"} {
		write(home+"secret/key", "hunter2")
		write(home+"work/file", "text")
		write(home+"other/file", "text")
	}
	write("sandbox.json", fmt.Sprintf(`{"filesystem":{"denyRead":[%q],"allowWrite":[%q,%q],"denyWrite":[]}}`,
		filepath.Join(p.Dir, "secret"), filepath.Join(p.Dir, "work"), filepath.Join(p.Dir, "gone")))
	_ = os.Mkdir(filepath.Join(p.Dir, "gone"), 0o755) // is not there on the second machine
	p.Configure(fmt.Sprintf("[agents]\nsandbox = %q\n[machines.far]\ntransport = [%q, \"bridge\"]\nenv = { TANDEM_DATA_DIR = %q, XDG_CONFIG_HOME = %q, HOME = %q }\n",
		filepath.Join(p.Dir, "sandbox.json"), os.Args[0], p.Data("m2"), filepath.Join(p.Dir, "none"), filepath.Join(p.Dir, "home2")))
	s := newAgent(p, "--root", filepath.Join(p.Dir, "work"))
	home := filepath.Join(p.Dir, "home2")
	s.says("exec", fmt.Sprintf(`{"host":"far","command":"cat %s/secret/key"}`, home), "Permission denied")
	s.says("exec", fmt.Sprintf(`{"host":"far","command":"echo x > %s/other/file"}`, home), "Permission denied")
	s.says("exec", fmt.Sprintf(`{"host":"far","command":"echo x > %s/work/new && echo done"}`, home), "done")
	s.says("read", `{"host":"far","path":"work/file"}`, "text")
	s.says("read", `{"host":"far","path":"other/file"}`, "outside the allowed folders")
	s.says("read", `{"host":"far","path":"secret/key"}`, "outside the allowed folders")
	// A sandbox of its own does not widen any.
	s.says("exec", fmt.Sprintf(`{"host":"far","command":"cat %s/secret/key","sandbox":{"filesystem":{"denyRead":[],"allowWrite":["/"],"denyWrite":[]}}}`, home), "Permission denied")
	// Nor do its programs reach an engine, to be led by it.
	s.says("exec", fmt.Sprintf(`{"host":"far","command":"%s=1 %s --host m1 ps"}`, harness.AsProgram, os.Args[0]), "Exit code: ")
	// A second way to the own machine is none out of the sandbox.
	p.Configure(fmt.Sprintf("[machines.back]\ntransport = [%q, \"bridge\"]\nenv = { TANDEM_DATA_DIR = %q }\n", os.Args[0], p.Data("d")))
	harness.Until(t, "the way back", func() bool { return strings.Contains(p.Must("machine", "list"), "back") })
	s.says("exec", fmt.Sprintf(`{"host":"back","command":"cat %s/secret/key"}`, p.Dir), "Permission denied")
	s.says("read", fmt.Sprintf(`{"host":"back","path":"%s/secret/key"}`, p.Dir), "outside the allowed folders")
	p.Must("new", "--name", "mine", "--", "sh")
	s.says("session_write", `{"host":"back","id":"mine","text":"x"}`, "outside the agents' sandbox")

	only := newAgent(p, "--read-only")
	if list := fmt.Sprint(only.ask("tools/list", `{}`)); strings.Contains(list, "session_write") {
		t.Errorf("an agent that may only read is offered %s", list)
	}
	only.says("process_list", `{"host":"far"}`, "No processes.")
}

// What agents are held to on a machine holds for those from elsewhere too.
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
	s.says("exec", fmt.Sprintf(`{"command":"cat %s"}`, secret), "hunter2")
	s.says("exec", fmt.Sprintf(`{"host":"m1","command":"cat %s"}`, secret), "Permission denied")
	s.says("read", fmt.Sprintf(`{"host":"m1","path":%q}`, secret), "ermission denied")
	p.Must("--host", "m1", "new", "--name", "mine", "--", "sh")
	s.says("session_exec", `{"host":"m1","id":"mine","command":"true"}`, "outside the agents' sandbox")
	// One that cannot be read lets nobody in.
	if err := os.WriteFile(sandbox, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	other := newAgent(p)
	other.says("exec", `{"host":"m1","command":"true"}`, "read sandbox of agents")
}

// A machine that is away fails by its name, and what is asked of it is done nowhere else.
func TestCallToOfflineMachineNamesIt(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 1)
	s := newAgent(p)
	s.says("exec", `{"host":"m1","command":"true"}`, "Exit code: 0")
	pid := p.EnginePID("m1")
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	harness.Until(t, "it to be away", func() bool { return p.State("m1").State == "away" })
	canary := filepath.Join(p.Dir, "canary")
	s.says("exec", fmt.Sprintf(`{"host":"m1","command":"touch %s"}`, canary), "m1: it is offline")
	s.says("machine_list", `{}`, "m1  away, last seen ")
	if _, err := os.Stat(canary); err == nil {
		t.Error("it was done here")
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	harness.Until(t, "it to be back", func() bool { return p.State("m1").State == "connected" })
	s.says("exec", `{"host":"m1","command":"echo back"}`, "back")
}

// The policy here says what may be done there, and the one there too.
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
	s.says("exec", `{"host":"m2","command":"true"}`, "hands off")
	s.says("process_list", `{"host":"m2"}`, "No processes.")
	s.says("exec", `{"host":"m1","command":"rm x"}`, "only here")
	s.says("exec", `{"command":"rm nothing"}`, "No such file")
	s.says("exec", `{"host":"m1","command":"touch x"}`, "not there")
	s.says("session_start", `{"host":"m1","command":"touch x"}`, "not there")
	s.says("exec", `{"command":"touch x && echo here"}`, "here")
}
