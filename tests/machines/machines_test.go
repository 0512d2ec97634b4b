package machines

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"tandem/engine/api"
	"tandem/tests/harness"
	"tandem/tests/wait"
)

func TestStoppedMachineDelaysNoOtherMachine(t *testing.T) {
	t.Parallel()
	const count = 20
	p := harness.NewMachines(t, count)
	p.Must("exec", "--all-hosts", "--", "true")
	pid := p.EnginePID("m20")
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	p.AwaitState("m20", api.MachineAway)
	stdout, stderr, status := p.Run("exec", "--all-hosts", "--", "echo", "here")
	if strings.Count(stdout, "here") != count-1 || status != 3 || strings.Count(stderr, "m20  tandem: reach machine m20: it is offline") != 1 ||
		strings.Count(stderr, "tandem:") != 1 {
		t.Errorf("with one machine stopped: status %d\n%s%s", status, stdout, stderr)
	}
	if _, stderr, status := p.Run("--host", "m20", "new"); status != 1 || !strings.Contains(stderr, "m20: it is offline") {
		t.Errorf("on the stopped machine: status %d: %s", status, stderr)
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	p.AwaitState("m20", api.MachineConnected)
	p.Must("exec", "--all-hosts", "--", "true")
}

func TestPatternAndAllHostsPrintTheSame(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 2)
	p.Must("start", "--all-hosts", "--name", "sleeper", "--", "sleep", "1000")
	all, allErr, _ := p.Run("--all-hosts", "exec", "--", "echo", "here")
	some, someErr, _ := p.Run("--host", "m*", "exec", "--", "echo", "here")
	if sortLines(all) != sortLines(some) || allErr != someErr || !strings.Contains(allErr, "2 × ok") {
		t.Errorf("exec on all machines\n%s%son machines matching a pattern\n%s%s", all, allErr, some, someErr)
	}
	allHead, _, _ := strings.Cut(p.Must("--all-hosts", "ps"), "\n")
	someHead, _, _ := strings.Cut(p.Must("--host", "m*", "ps"), "\n")
	if !slices.Equal(strings.Fields(allHead), strings.Fields(someHead)) || !strings.HasPrefix(allHead, "HOST") {
		t.Errorf("ps has the columns %q on all machines and %q by a pattern", allHead, someHead)
	}
}

// sortLines sorts the lines of text, because machines answer in any order.
func sortLines(text string) string {
	return strings.Join(slices.Sorted(strings.Lines(text)), "")
}

// A followed log arrives complete, once and in order, however often the link to its machine is
// killed, and while the remote engine is killed or replaced. TANDEM_LINK_KILLS sets the number of
// kills.
func TestFollowedLogIsCompleteAfterALostLink(t *testing.T) {
	t.Parallel()
	kills, lines := 8, 200_000
	if n, err := strconv.Atoi(os.Getenv("TANDEM_LINK_KILLS")); err == nil {
		kills, lines = n, 10_000_000
	}
	p := harness.NewMachines(t, 1)
	p.Must("--host", "m1", "start", "--name", "count", "--log-limit", "none", "--", "sh", "-c",
		fmt.Sprintf("while [ ! -e %s/go ]; do sleep 0.01; done; seq 1 %d; exec sleep 1000", p.Dir, lines))
	cmd := exec.Command(os.Args[0], "--host", "m1", "logs", "-f", "count")
	cmd.Env, cmd.Dir = p.Env, p.Dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if err := os.WriteFile(filepath.Join(p.Dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	enginePID := p.EnginePID("m1")
	killed, last := 0, 0
	kill := func() (pids []int, done bool) {
		pids = p.BridgePIDs("m1")
		for _, pid := range pids {
			if pid != last && syscall.Kill(pid, syscall.SIGKILL) == nil {
				killed, last = killed+1, pid
				return pids, true
			}
		}
		p.Run("machine", "check", "m1") // reconnects at once; nothing else does, because the follower waits for this reader
		return pids, false
	}
	step := lines / (kills + 1)
	wrong := checkCount(out, lines, func(n int) {
		if n%step != 0 || killed == kills {
			return
		}
		wait.Poll(t, "a bridge", kill)
		switch killed {
		case kills / 4: // the remote engine, too
			if err := syscall.Kill(enginePID, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		case kills / 2: // it then makes room for another one, as in an upgrade
			cmd := exec.Command(os.Args[0], "shutdown")
			cmd.Env = append(p.Env[:len(p.Env):len(p.Env)], "TANDEM_DATA_DIR="+p.Data("m1"))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		}
	})
	t.Logf("%d lines, %d links killed", lines, killed)
	if wrong != "" || killed != kills {
		t.Errorf("after %d kills: %s %s", killed, wrong, errs.String())
	}
}

// checkCount reads the numbers from 1 to last, and describes the first line out of sequence.
func checkCount(r io.Reader, last int, each func(n int)) string {
	text := make([]byte, 0, 1<<20)
	piece := make([]byte, 64<<10)
	next := 1
	for next <= last {
		n, err := r.Read(piece)
		text = append(text, piece[:n]...)
		for {
			i := bytes.IndexByte(text, '\n')
			if i < 0 {
				break
			}
			if got, err := strconv.Atoi(string(text[:i])); err != nil || got != next {
				return fmt.Sprintf("line %d is %q", next, text[:i])
			}
			text = text[i+1:]
			each(next)
			next++
		}
		if err != nil && next <= last {
			return fmt.Sprintf("it ended before line %d: %v", next, err)
		}
	}
	return ""
}

// The link is one process for any number of calls.
func TestCallsShareOneLink(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 1)
	for range 10 {
		p.Must("--host", "m1", "ps")
	}
	if pids := p.BridgePIDs("m1"); len(pids) != 1 {
		t.Errorf("%d bridges after ten calls", len(pids))
	}
}

// Answers larger than a frame of the link, or than its windows, arrive complete.
func TestLargeAnswersComeThroughTheLink(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 1)
	out := p.Must("--host", "m1", "exec", "--", "seq", "1", "500000")
	if wrong := checkCount(strings.NewReader(out), 500_000, func(int) {}); wrong != "" {
		t.Error(wrong)
	}
}

// A link whose command prints a URL and then waits needs the user, and the URL is shown.
func TestRequiredLoginIsReportedWithoutDelay(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 0)
	p.Configure("[machines.web]\ntransport = [\"sh\", \"-c\", \"echo '# an additional check is needed. To authenticate, visit: https://login.example.org/a/1'; exec sleep 1000\"]\n" +
		"[machines.ended]\ntransport = [\"sh\", \"-c\", \"echo 'me@ended: Permission denied (publickey,password).' >&2; exit 255\"]\n")
	p.AwaitState("web", api.MachineNeedsYou)
	if m := p.State("web"); !strings.Contains(m.Error, "https://login.example.org/a/1") {
		t.Errorf("machine.list reports %+v", m)
	}
	if m := p.State("ended"); m.State != api.MachineNeedsYou || !strings.Contains(m.Error, "Permission denied") {
		t.Errorf("machine.list reports %+v", m)
	}
	if _, stderr, status := p.Run("--host", "web", "ps"); status != 1 || !strings.Contains(stderr, "tandem machine connect web") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// Changes of config.toml apply without a restart.
func TestMachinesComeAndGoWithTheConfiguration(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 1)
	p.Must("--host", "m1", "ps")
	path := filepath.Join(p.Dir, "tandem", "config.toml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte("m1]"), []byte("other]")), 0o600); err != nil {
		t.Fatal(err)
	}
	wait.Poll(t, "the renamed machine", func() (string, bool) {
		_, stderr, status := p.Run("--host", "other", "ps")
		return stderr, status == 0
	})
	if _, stderr, status := p.Run("--host", "m1", "ps"); status != 1 || !strings.Contains(stderr, "no machine with this name") {
		t.Errorf("with the old name: status %d: %s", status, stderr)
	}
	wait.Poll(t, "one bridge", func() ([]int, bool) {
		pids := p.BridgePIDs("m1")
		return pids, len(pids) == 1
	})
}

// A machine written to config.toml can be used by the next command. A mistake in the file is not
// reported as an unknown machine.
func TestMachineIsKnownOnceConfigIsWritten(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 1)
	p.Must("machine", "list")
	for i := range 3 {
		name := fmt.Sprintf("new%d", i)
		p.Configure(p.Add(name))
		p.Must("--host", name, "ps")
	}
	if _, stderr, status := p.Run("--host", "none", "ps"); status != 1 || !strings.Contains(stderr, "no machine with this name") {
		t.Errorf("an unknown machine: status %d: %s", status, stderr)
	}
	p.Configure("nonsense = [\n")
	for range 2 {
		if _, stderr, status := p.Run("machine", "connect", "none"); status != 1 || strings.Contains(stderr, "no machine with this name") {
			t.Errorf("with a mistake in the file: status %d: %s", status, stderr)
		}
	}
}

// Output from another program breaks the link, and the machine's error names the cause. The
// transport's second start blocks, so no new link clears the error before it is read.
func TestOutputIntoALinkIsReported(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 1)
	p.Must("--host", "m1", "info")
	gate := filepath.Join(p.Dir, "go")
	p.Configure(fmt.Sprintf("[machines.loud]\ntransport = [\"sh\", \"-c\", \"[ -e %s ] && exec sleep 60; (until [ -e %s ]; do sleep 0.05; done; echo printed) & exec %s bridge\"]\nenv = { TANDEM_DATA_DIR = %q, XDG_CONFIG_HOME = %q }\n",
		gate, gate, os.Args[0], p.Data("m1"), filepath.Join(p.Dir, "none")))
	p.Must("--host", "loud", "ps")
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wait.Poll(t, "the error", func() (string, bool) {
		text := p.State("loud").Error
		return text, strings.Contains(text, "unexpected output on the link")
	})
}

// An attached session continues over the next link after one is killed, in a terminal and in a
// dashboard's pane, and every key arrives exactly once.
func TestKeysArriveOnceAfterALostLink(t *testing.T) {
	t.Parallel()
	for _, attached := range []bool{true, false} {
		p := harness.NewMachines(t, 1)
		file := filepath.Join(p.Dir, "typed")
		p.Must("--host", "m1", "new", "--name", "far", "--", "sh", "-c", "stty raw -echo; echo far-shown; exec cat >"+file)
		var args []string
		if attached {
			args = []string{"--host", "m1", "attach", "far"}
		}
		screen, err := harness.StartTerminal(120, 36, p.Env, p.Dir, args...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(screen.Close)
		if !attached {
			harness.Await(t, screen, "1 machine")
			openSession(t, screen, "m1", "far")
		}
		harness.Await(t, screen, "far-shown")
		want := strings.ReplaceAll(harness.MakeLines(20_000), "\n", ";")
		for rest, n := want, 0; rest != ""; n++ {
			piece := rest[:min(len(rest), 100)]
			rest = rest[len(piece):]
			harness.Press(t, screen, ":"+piece)
			if n%40 == 20 {
				for _, pid := range p.BridgePIDs("m1") {
					_ = syscall.Kill(pid, syscall.SIGKILL) // unless it has already exited
				}
			}
		}
		got := wait.Poll(t, "all typed keys", func() (string, bool) {
			got, _ := os.ReadFile(file)
			return string(got), len(got) >= len(want)
		})
		if got != want {
			t.Errorf("attached %v: %d bytes arrived, want %d with the same content", attached, len(got), len(want))
		}
	}
}

// While its machine is offline, a followed log waits and says so. It then resumes at the same
// line.
func TestFollowedLogWaitsForAnOfflineMachine(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 0)
	down := filepath.Join(p.Dir, "down")
	p.Configure(fmt.Sprintf("[machines.box]\ntransport = [\"sh\", \"-c\", \"[ ! -e %s ] && exec %s bridge\"]\nenv = { TANDEM_DATA_DIR = %q, XDG_CONFIG_HOME = %q }\n",
		down, os.Args[0], p.Data("box"), filepath.Join(p.Dir, "none")))
	p.ShutDownLast("box")
	p.Must("--host", "box", "start", "--name", "count", "--", "sh", "-c",
		fmt.Sprintf("seq 1 1000; while [ ! -e %s/go ]; do sleep 0.01; done; seq 1001 2000; exec sleep 1000", p.Dir))
	cmd := exec.Command(os.Args[0], "--host", "box", "logs", "-f", "count")
	cmd.Env, cmd.Dir = p.Env, p.Dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	make := func(path string) {
		t.Helper()
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wrong := checkCount(out, 2000, func(n int) {
		if n != 1000 {
			return
		}
		make(down)
		for _, pid := range p.BridgePIDs("box") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		line, err := bufio.NewReader(stderr).ReadString('\n')
		if line != "tandem: box is offline, waiting\n" {
			t.Errorf("stderr: %q, %v", line, err)
		}
		make(filepath.Join(p.Dir, "go"))
		if err := os.Remove(down); err != nil {
			t.Fatal(err)
		}
	})
	if wrong != "" {
		t.Error(wrong)
	}
}

// A transport command that ignores the end of its input must still exit when the engine is
// killed.
func TestCommandExitsWithItsKilledEngine(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 0)
	file := filepath.Join(p.Dir, "pid")
	p.Configure(fmt.Sprintf("[machines.deaf]\ntransport = [\"sh\", \"-c\", \"echo $$ > %s; exec sleep 1000\"]\n", file))
	var info api.Info
	if err := json.Unmarshal([]byte(p.Must("info", "--json")), &info); err != nil {
		t.Fatal(err)
	}
	p.Must("machine", "list")
	pid := wait.Poll(t, "the command to run", func() (pid int, done bool) {
		text, _ := os.ReadFile(file)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return pid, pid != 0
	})
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	if err := syscall.Kill(info.EnginePID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	wait.Exit(t, pid)
}
