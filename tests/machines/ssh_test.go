package machines

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"tandem/engine/api"
	"tandem/tests/harness"
	"tandem/tests/needs"
	"tandem/tests/wait"
	"testing"
)

// sshServer starts the test's own sshd on a loopback port, and adds an ssh to the PATH of p that
// connects to it as "box". The login shell has sshd's environment except HOME, the folder tandem
// is copied to.
func sshServer(t *testing.T, p *harness.Machines) (home string) {
	t.Helper()
	sshd := needs.Program(t, "openssh-server", "sshd")
	client := needs.Program(t, "openssh-client", "ssh")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(p.Dir, name) }
	for _, key := range []string{"hostkey", "userkey"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", in(key)).CombinedOutput(); err != nil {
			t.Fatalf("make a key: %v: %s", err, out)
		}
	}
	home = in("home")
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(in(name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(in("userkey.pub"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	// A banner printed at login, and a PATH without tandem.
	loginScript := fmt.Sprintf("export %s=1 TANDEM_DATA_DIR=%s XDG_CONFIG_HOME=%s; PATH=/usr/bin:/bin; echo Welcome to box; [ ! -e $HOME/startup ] || . $HOME/startup; eval \"$SSH_ORIGINAL_COMMAND\"",
		harness.AsProgram, p.Data("far"), in("none"))
	write("authorized", string(key), 0o600)
	write("login.sh", loginScript+"\n", 0o700)
	// bash reads ~/.bashrc when sshd starts it, even for a script, so HOME is set before that.
	write("sshd_config", fmt.Sprintf("HostKey %s\nAuthorizedKeysFile %s\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPidFile none\n"+
		"PermitRootLogin yes\nSetEnv HOME=%s\nForceCommand sh %s\n", in("hostkey"), in("authorized"), home, in("login.sh")), 0o600)
	write("ssh_config", fmt.Sprintf("Host box\n  HostName 127.0.0.1\n  Port %d\n  User %s\n  IdentityFile %s\n  IdentitiesOnly yes\n  StrictHostKeyChecking accept-new\n  UserKnownHostsFile %s\n",
		port, me.Username, in("userkey"), in("known")), 0o600)
	if err := os.Mkdir(in("bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("bin/ssh", fmt.Sprintf("#!/bin/sh\nexec %s -F %s \"$@\"\n", client, in("ssh_config")), 0o700)
	for i, pair := range p.Env {
		if rest, ok := strings.CutPrefix(pair, "PATH="); ok {
			p.Env[i] = "PATH=" + in("bin") + ":" + rest
		}
	}
	_ = os.MkdirAll("/run/sshd", 0o755) // Debian's sshd needs it when run by root
	end := serveSSH(t, l, in("sshd.log"), sshd, "-i", "-e", "-f", in("sshd_config"))
	t.Cleanup(func() {
		end()
		cmd := exec.Command("/proc/self/exe", "shutdown", "--all", "--yes")
		cmd.Env = append(p.Env, "TANDEM_DATA_DIR="+p.Data("far"))
		_ = cmd.Run() // it may not have run at all
	})
	return home
}

// serveSSH runs an sshd for each connection, as inetd does, until end is called. The test keeps
// the port open: if sshd had to reopen it, another program might take it in between.
func serveSSH(t *testing.T, l net.Listener, log string, argv ...string) (end func()) {
	t.Helper()
	logFile, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	var servers sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background())
	servers.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			socket, err := conn.(*net.TCPConn).File()
			conn.Close()
			if err != nil {
				t.Error(err)
				return
			}
			cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = socket, socket, logFile
			err = cmd.Start()
			socket.Close()
			if err != nil {
				t.Error(err)
				return
			}
			servers.Go(func() { _ = cmd.Wait() }) // the client reports the status
		}
	})
	return func() {
		l.Close()
		stop()
		servers.Wait()
		logFile.Close()
		if t.Failed() {
			text, _ := os.ReadFile(log)
			t.Logf("%s", text)
		}
	}
}

// Over ssh, a machine without tandem can be added: this program is copied there, links find it
// without PATH, and everything shares one connection.
func TestMachineIsAddedOverSSH(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 0)
	home := sshServer(t, p)
	stdout, stderr, status := p.Run("machine", "add", "box", "box")
	if status != 0 || !strings.Contains(stdout, "box: connected, tandem") || !strings.Contains(stderr, "copied tandem") {
		t.Fatalf("add: status %d\n%s%s", status, stdout, stderr)
	}
	if info, err := os.Stat(filepath.Join(home, ".local/bin/tandem")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the copied program: %v, %v", info, err)
	}
	p.Must("--host", "box", "new", "--name", "far", "--", "sh")
	if out := p.Must("ps"); strings.Contains(out, "far") {
		t.Errorf("the process was started locally: %s", out)
	}
	if out := p.Must("--host", "box", "ps"); !strings.Contains(out, "far") {
		t.Errorf("the process was not started remotely: %s", out)
	}
	if out := p.Must("--host", "box", "exec", "--", "sh", "-c", "seq 1 200000 | tail -1"); out != "200000\n" {
		t.Errorf("exec printed %q", out)
	}
	screen, err := harness.StartTerminal(80, 24, p.Env, p.Dir, "--host", "box", "attach", "far")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(screen.Close)
	if err := screen.Press(":echo over-$((40+2))", "enter"); err != nil {
		t.Fatal(err)
	}
	harness.Await(t, screen, "over-42")
	checkFollowOverSSH(t, p)
	checkCopyOverSSH(t, p)
	if stdout, stderr, status := p.Run("machine", "upgrade", "box"); status != 0 || !strings.Contains(stderr, "box has tandem") {
		t.Errorf("upgrade: status %d\n%s%s", status, stdout, stderr)
	}
	p.Must("machine", "remove", "box")
}

// Options of ~/.ssh/config for interactive sessions do not affect Tandem's commands.
func TestSessionOptionsOfSSHConfigAreOverridden(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 0)
	sshServer(t, p)
	for _, option := range []string{"RemoteCommand echo mine\n  RequestTTY force", "StdinNull yes", "SessionType none", "ForkAfterAuthentication yes"} {
		sshOption(t, p, option)
		if stdout, stderr, status := p.Run("machine", "add", "box", "box"); status != 0 || !strings.Contains(stdout, "box: connected") {
			t.Errorf("%s: add: status %d\n%s%s", option, status, stdout, stderr)
			continue
		}
		if out := p.Must("--host", "box", "exec", "--", "echo", "here"); out != "here\n" {
			t.Errorf("%s: exec prints %q", option, out)
		}
		p.Must("machine", "remove", "box")
	}
}

// A background program left by a start-up file keeps ssh's output open, but must not delay adding
// a machine.
func TestProgramLeftByAStartUpFileDoesNotDelayAdding(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 0)
	home := sshServer(t, p)
	pids := filepath.Join(p.Dir, "pids")
	text := fmt.Sprintf("sleep 1000 &\necho $! >>%s\n", pids)
	if err := os.WriteFile(filepath.Join(home, "startup"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	killListed(t, pids)
	if stdout, stderr, status := p.Run("machine", "add", "box", "box"); status != 0 || !strings.Contains(stdout, "box: connected") {
		t.Errorf("add: status %d\n%s%s", status, stdout, stderr)
	}
	if masters := sshMasters(p); len(masters) != 0 {
		t.Errorf("ssh connections left: %q", masters)
	}
	p.Must("machine", "remove", "box")
}

// killListed kills the processes listed in a file when the test ends.
func killListed(t *testing.T, file string) {
	t.Cleanup(func() {
		text, _ := os.ReadFile(file)
		for _, word := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	})
}

// sshMasters returns the control sockets of ssh connections kept in the background.
func sshMasters(p *harness.Machines) []string {
	all, _ := filepath.Glob(filepath.Join(p.Dir, "d", "ssh-*"))
	return all
}

// A key restricted to read-only `tandem bridge` can be added.
func TestReadOnlyKeyCanBeAdded(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 0)
	sshServer(t, p)
	path := filepath.Join(p.Dir, "login.sh")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	forced := func(command string) {
		t.Helper()
		if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte("eval \"$SSH_ORIGINAL_COMMAND\""), []byte(command)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	forced("tandem bridge --read-only")
	if _, stderr, status := p.Run("machine", "add", "box", "box"); status != 1 || !strings.Contains(stderr, "needs the full path") {
		t.Errorf("without its path: status %d: %s", status, stderr)
	}
	forced(os.Args[0] + " bridge --read-only")
	if stdout, stderr, status := p.Run("machine", "add", "box", "box"); status != 0 || !strings.Contains(stdout, "box: connected") ||
		!strings.Contains(stderr, "allows `tandem bridge` only") || strings.Contains(stderr, "needs you") {
		t.Fatalf("add: status %d\n%s%s", status, stdout, stderr)
	}
	p.Must("--host", "box", "ps")
	if _, stderr, status := p.Run("--host", "box", "exec", "--", "true"); status == 0 {
		t.Errorf("a read-only key can run commands: %s", stderr)
	}
	if _, stderr, status := p.Run("machine", "upgrade", "box"); status != 0 {
		t.Errorf("upgrade to the same version: status %d: %s", status, stderr)
	}
	if masters := sshMasters(p); len(masters) != 0 {
		t.Errorf("ssh connections left: %q", masters)
	}
	p.Must("machine", "remove", "box")
}

// A failed attempt to add a machine leaves no ssh connection, for each kind of failure.
func TestFailedAddingLeavesNoLogin(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 0)
	home := sshServer(t, p)
	startup := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(home, "startup"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	left := func(what string) {
		t.Helper()
		if masters := sshMasters(p); len(masters) != 0 {
			t.Errorf("%s: ssh connections left: %q", what, masters)
		}
	}
	startup("exit 0\n")
	if _, stderr, status := p.Run("machine", "add", "box", "box"); status != 1 || !strings.Contains(stderr, "its shell ran nothing") {
		t.Errorf("a shell that runs nothing: status %d: %s", status, stderr)
	}
	left("a shell that runs nothing")
	startup("")
	if err := os.WriteFile(filepath.Join(home, ".local"), nil, 0o600); err != nil { // makes the copy fail
		t.Fatal(err)
	}
	if _, stderr, status := p.Run("machine", "add", "box", "box"); status != 1 || !strings.Contains(stderr, "copy tandem to box") {
		t.Errorf("a failed copy: status %d: %s", status, stderr)
	}
	left("a refused copy")
	probed := filepath.Join(p.Dir, "probed")
	killListed(t, probed) // sshd does not kill it
	startup("echo $$ >" + probed + "; exec sleep 1000\n")
	cmd := exec.Command(os.Args[0], "machine", "add", "box", "box")
	cmd.Env, cmd.Dir = p.Env, p.Dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait.File(t, probed)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	left("interrupted")
	startup("")
	if err := os.Remove(filepath.Join(home, ".local")); err != nil {
		t.Fatal(err)
	}
	p.Must("machine", "add", "box", "box")
	p.Must("machine", "connect", "box")
	if len(sshMasters(p)) != 1 {
		t.Fatalf("connect leaves %q", sshMasters(p))
	}
	p.Must("shutdown", "--all", "--yes")
	left("shutdown --all")
}

// If a connection was kept only because ssh fails without it, the error gives ssh's reason
// instead of asking for the user.
func TestKeptLoginNamesWhySSHFailsWithoutIt(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 0)
	sshServer(t, p)
	sshOption(t, p, "ControlMaster auto\n  ControlPath "+filepath.Join(p.Dir, strings.Repeat("long", 30)))
	stdout, stderr, status := p.Run("machine", "add", "box", "box")
	if status != 0 || !strings.Contains(stdout, "box: connected") || strings.Contains(stderr, "needs you") ||
		!strings.Contains(stderr, "box cannot be reached without this login: ") || !strings.Contains(stderr, "too long") {
		t.Errorf("add: status %d\n%s%s", status, stdout, stderr)
	}
	p.Must("machine", "remove", "box")
	if masters := sshMasters(p); len(masters) != 0 {
		t.Errorf("ssh connections left: %q", masters)
	}
}

// sshOption prepends an option to the user's ssh configuration, replacing the one added before.
func sshOption(t *testing.T, p *harness.Machines, option string) {
	t.Helper()
	path := filepath.Join(p.Dir, "ssh_config")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "# end\n")
	if !found {
		rest = string(text)
	}
	if err := os.WriteFile(path, []byte("Host *\n  "+option+"\n# end\n"+rest), 0o600); err != nil {
		t.Fatal(err)
	}
}

// checkFollowOverSSH follows the log of a remote process.
func checkFollowOverSSH(t *testing.T, p *harness.Machines) {
	t.Helper()
	gate := filepath.Join(p.Dir, "go")
	p.Must("--host", "box", "start", "--name", "job", "--", "sh", "-c", "echo begun; while [ ! -e "+gate+" ]; do sleep 0.01; done; echo goes on; exec sleep 1000")
	cmd := exec.Command(os.Args[0], "--host", "box", "logs", "-f", "job")
	cmd.Env, cmd.Dir = p.Env, p.Dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "begun" {
		t.Fatalf("the log begins with %q: %v", lines.Text(), lines.Err())
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !lines.Scan() || lines.Text() != "goes on" {
		t.Errorf("the log continues with %q: %v", lines.Text(), lines.Err())
	}
}

// checkCopyOverSSH copies a file to the machine in a dashboard, and lists it from here.
func checkCopyOverSSH(t *testing.T, p *harness.Machines) {
	t.Helper()
	from, to := filepath.Join(p.Dir, "from"), filepath.Join(p.Dir, "to")
	for _, dir := range []string{from, to} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	want := []byte(harness.MakeLines(4 << 20))
	if err := os.WriteFile(filepath.Join(from, "large"), want, 0o600); err != nil {
		t.Fatal(err)
	}
	screen, err := harness.StartTerminal(120, 30, p.Env, from)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(screen.Close)
	harness.Await(t, screen, "1 machine")
	harness.Press(t, screen, "ctrl+b", "alt+4")
	harness.Await(t, screen, "large")
	harness.Press(t, screen, "C", "ctrl+u", ":box:"+to+"/", "enter")
	wait.Poll(t, "the file to be listed", func() (string, bool) {
		list := p.Must("--host", "box", "files", "--list", to)
		return list, strings.Contains(list, "large")
	})
	if got, err := os.ReadFile(filepath.Join(to, "large")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d arrived: %v", len(got), len(want), err)
	}
}

// A host with a changed key needs the user, and no command hangs.
func TestChangedHostKeyNeedsTheUser(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 0)
	sshServer(t, p)
	p.Must("machine", "add", "box", "box")
	other, err := os.ReadFile(filepath.Join(p.Dir, "userkey.pub"))
	if err != nil {
		t.Fatal(err)
	}
	known, err := os.ReadFile(filepath.Join(p.Dir, "known"))
	if err != nil {
		t.Fatal(err)
	}
	name, _, _ := strings.Cut(string(known), " ")
	fields := strings.Fields(string(other))
	if err := os.WriteFile(filepath.Join(p.Dir, "known"), []byte(name+" "+fields[0]+" "+fields[1]+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Must("shutdown", "--yes")
	if _, stderr, status := p.Run("--host", "box", "ps"); status != 1 || !strings.Contains(stderr, "it needs you: ") || !strings.Contains(stderr, "Host key verification failed") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// A machine with an older release is upgraded over ssh. Its engine is replaced by one of the new
// release, and programs keep running.
func TestMachineIsUpgradedOverSSH(t *testing.T) {
	t.Parallel()
	p := harness.NewMachines(t, 0)
	bin := filepath.Join(sshServer(t, p), ".local/bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := harness.WriteExecutable(filepath.Join(bin, "tandem-0.1.0"), program); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("tandem-0.1.0", filepath.Join(bin, "tandem")); err != nil {
		t.Fatal(err)
	}
	if stdout, _, _ := p.Run("machine", "add", "box", "box"); !strings.Contains(stdout, "box: connected, tandem 0.1.0") {
		t.Fatalf("added: %s", stdout)
	}
	p.Must("--host", "box", "new", "--name", "far", "--", "sh", "-c", "echo before-$((40+2)); exec cat")
	p.Must("--host", "box", "wait", "far", "--log", "before-42")
	stdout, stderr, status := p.Run("machine", "upgrade", "box")
	if status != 0 || !strings.Contains(stderr, "copied tandem "+harness.Version) {
		t.Fatalf("upgrade: status %d\n%s%s", status, stdout, stderr)
	}
	wait.Poll(t, "the new release to be reported", func() (api.Machine, bool) {
		m := p.State("box")
		return m, m.Version == harness.Version
	})
	p.Must("--host", "box", "send", "far", "--enter", "after")
	wait.Poll(t, "the session to continue", func() (string, bool) {
		screen := p.Must("--host", "box", "screen", "far")
		return screen, strings.Contains(screen, "before-42") && strings.Contains(screen, "after")
	})
	p.Must("machine", "remove", "box") // otherwise its link would keep sshd's output open
}
