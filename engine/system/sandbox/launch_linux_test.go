//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/tests/needs"
)

// A rig is a directory with one file of each kind, and a profile about it.
type rig struct {
	t           *testing.T
	dir         string // its own, without symbolic links
	uid         int    // user running the probes
	self        string // the test binary
	profile     Profile
	extraLayers Layers   // layers added to the profile
	env         []string // of the probe
	own         []string // of the launch stage
	dataDir     string
	proxy       string     // its URL
	files       []*os.File // inherited by mistake
}

func newRig(t *testing.T) *rig {
	t.Helper()
	temp, err := os.MkdirTemp("", "ts") // paths of sockets must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	dir, err := filepath.EvalSymlinks(temp)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return newRigOf(t, rig{dir: dir, uid: os.Getuid(), self: self})
}

func newRigOf(t *testing.T, in rig) *rig {
	t.Helper()
	r := &in
	r.t = t
	for _, name := range []string{"secret/key", "secret/deep/key", "open/file", "work/file", "work/keep/file", "work/sub/file"} {
		r.put(name)
	}
	r.profile.Filesystem = Filesystem{
		DenyRead:   []string{r.at("secret")},
		AllowWrite: []string{r.at("work")},
	}
	if err := r.layers().Check(); err != nil {
		if _, stderr, status := r.run("pid"); status != 126 || !strings.Contains(stderr, "kernel") {
			t.Errorf("a kernel that cannot confine gave status %d: %s", status, stderr)
		}
		needs.Kernel(t, "Landlock and seccomp", err)
	}
	return r
}

func (r *rig) layers() Layers { return append(Layers{r.profile}, r.extraLayers...) }

func (r *rig) at(name string) string { return filepath.Join(r.dir, name) }

func (r *rig) put(name string) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(r.at(name)), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(r.at(name), []byte("content"), 0o600); err != nil {
		r.t.Fatal(err)
	}
	for path := r.at(name); path != r.dir; path = filepath.Dir(path) {
		if err := os.Chown(path, r.uid, -1); err != nil {
			r.t.Fatal(err)
		}
	}
}

// command returns the command of a confined probe.
func (r *rig) command(args ...string) *exec.Cmd {
	r.t.Helper()
	data, err := json.Marshal(map[string]Layers{"layers": r.layers()})
	if err != nil {
		r.t.Fatal(err)
	}
	path := r.at("profile/sandbox.json")
	r.put("profile/sandbox.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		r.t.Fatal(err)
	}
	argv := Command(r.self, path, "", append([]string{r.self, "probe"}, args...))
	cmd := exec.Command(argv[0], argv[1:]...)
	r.setUser(cmd)
	// With the race detector, a program would wait a second before it exits.
	const hurry = "GORACE=atexit_sleep_ms=0"
	env := append(append(os.Environ(), hurry), r.env...)
	env = append(env, r.layers().Env(r.proxy)...)
	cmd.Env = append(append(Environ(env, r.dataDir, r.proxy), hurry), r.own...)
	cmd.ExtraFiles = r.files
	return cmd
}

// setUser makes a command run as the rig's user.
func (r *rig) setUser(cmd *exec.Cmd) {
	if r.uid != os.Getuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(r.uid), Gid: uint32(r.uid)}}
	}
}

func (r *rig) run(args ...string) (stdout, stderr string, status int) {
	r.t.Helper()
	return r.wait(r.command(args...))
}

func (r *rig) wait(cmd *exec.Cmd) (stdout, stderr string, status int) {
	r.t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// expect runs a probe and compares its output.
func (r *rig) expect(want string, args ...string) {
	r.t.Helper()
	got, stderr, status := r.run(args...)
	if got != want || status != 0 {
		r.t.Errorf("%v gave %q, status %d, want %q; %s", args, got, status, want, stderr)
	}
}

// wantNoLaunch runs a launch that must fail.
func (r *rig) wantNoLaunch(part string) {
	r.t.Helper()
	got, stderr, status := r.run("pid")
	if status != 126 || got != "" || !strings.Contains(stderr, part) {
		r.t.Errorf("the launch gave %q, status %d and %q, want 126 and %q", got, status, stderr, part)
	}
}

func TestDeniedFilesCannotBeReadByAnyPath(t *testing.T) {
	r := newRig(t)
	if err := os.Symlink(r.at("secret"), r.at("open/link")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		r.at("secret/key"), r.at("secret/deep/key"), r.at("open/link/key"),
		r.at("open") + "/../secret/key", "/proc/self/root" + r.at("secret/key"), "/proc/self/cwd/../../../../../../../.." + r.at("secret/key"),
	} {
		r.expect("EACCES", "read", path)
	}
	r.expect("EACCES", "list", r.at("secret"))
	r.expect("EACCES", "list", r.at("secret/deep"))
	r.expect("content", "read", r.at("open/file"))
	r.expect("1", "list", r.at("work/sub"))
}

// The guarded directory contains logs, pipes and locks of other processes, and records of agents'
// calls.
func TestGuardedFoldersCannotBeRead(t *testing.T) {
	r := newRig(t)
	r.dataDir = r.at("data")
	r.put("data/audit.jsonl")
	r.put("data/processes/other/process.log")
	if err := os.Symlink(r.dataDir, r.at("open/link")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"data/audit.jsonl", "data/processes/other/process.log", "open/link/audit.jsonl", "profile/sandbox.json"} {
		r.expect("EACCES", "read", r.at(path))
	}
	r.expect("content", "read", r.at("open/file"))
	// A process's own standard input is there too.
	cmd := r.command("read", "/dev/stdin")
	cmd.Stdin, _ = os.Open(r.at("data/audit.jsonl"))
	if got, stderr, _ := r.wait(cmd); got != "content" {
		t.Errorf("its standard input gave %q; %s", got, stderr)
	}
}

func TestDenialOfALinkCoversItsTarget(t *testing.T) {
	r := newRig(t)
	if err := os.Symlink("../secret/key", r.at("open/link")); err != nil {
		t.Fatal(err)
	}
	r.profile.Filesystem.DenyRead = []string{r.at("open/link")}
	r.expect("EACCES", "read", r.at("secret/key"))
	r.expect("content", "read", r.at("secret/deep/key"))
}

func TestFolderOfADeniedFileCanBeListed(t *testing.T) {
	r := newRig(t)
	r.profile.Filesystem.DenyRead = []string{r.at("secret/key")}
	r.expect("2", "list", r.at("secret"))
	r.expect("EACCES", "read", r.at("secret/key"))
	r.expect("content", "read", r.at("secret/deep/key"))
}

func TestDeniedPathCreatedLaterStaysDenied(t *testing.T) {
	r := newRig(t)
	r.profile.Filesystem.DenyRead = []string{r.at("open/later")}
	r.profile.Filesystem.DenyWrite = []string{r.at("work/sub/later")}
	r.expect("content", "read", r.at("open/file"))
	r.expect("EACCES", "write", r.at("work/sub/later"))
	r.expect("EACCES", "mkdir", r.at("work/sub/later"))
	r.expect("written", "write", r.at("work/keep/new"))

	cmd := r.command("child", "read", r.at("open/file"))
	if output, err := cmd.Output(); err != nil || string(output) != "content" {
		t.Errorf("beside it, reading gave %q, %v", output, err)
	}
	r.readLater("open/later", "EACCES")
	r.profile.Filesystem.DenyRead = []string{r.at("secret")}
	r.readLater("open/other", "content")
}

// readLater runs a process reading a file created while it runs.
func (r *rig) readLater(name, want string) {
	r.t.Helper()
	cmd := r.command("after", "read", r.at(name))
	var out bytes.Buffer
	cmd.Stdout = &out
	stdin, err := cmd.StdinPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	awaitProgram(r.t, cmd.Process.Pid)
	r.put(name)
	stdin.Close()
	if err := cmd.Wait(); err != nil || out.String() != want {
		r.t.Errorf("reading %s, made later, gave %q, %v, want %q", name, out.String(), err, want)
	}
}

// awaitProgram waits until the launch stage, or a child of the process, has become the program.
func awaitProgram(t *testing.T, pid int) {
	t.Helper()
	for {
		if _, err := os.Stat("/proc/" + strconv.Itoa(pid)); err != nil {
			t.Fatal(err)
		}
		tasks, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
		if err != nil {
			t.Fatal(err)
		}
		candidates := strconv.Itoa(pid)
		for _, task := range tasks {
			children, _ := os.ReadFile(task) // the thread may have exited
			candidates += " " + string(children)
		}
		for _, candidate := range strings.Fields(candidates) {
			line, _ := os.ReadFile("/proc/" + candidate + "/cmdline")
			if fields := strings.Split(string(line), "\x00"); len(fields) > 1 && fields[1] == "probe" {
				return
			}
		}
		runtime.Gosched()
	}
}

func TestDeniedFilesCannotBeMovedOutOfADenial(t *testing.T) {
	r := newRig(t)
	r.profile.Filesystem.DenyRead = []string{r.at("work/keep")}
	for _, verb := range []string{"rename", "link"} {
		got, _, _ := r.run(verb, r.at("work/keep/file"), r.at("work/sub/stolen"))
		if got != "EXDEV" && got != "EACCES" {
			t.Errorf("%s gave %q", verb, got)
		}
	}
	r.expect("EACCES", "read", r.at("work/keep/file"))
	// Nor can it rename the directory, so that the profile would miss it at the next start.
	r.expect("EACCES", "rename", r.at("work/keep"), r.at("work/kept"))
	r.profile.Filesystem.DenyRead = []string{r.at("work/keep/file")}
	r.expect("EACCES", "rename", r.at("work/keep/file"), r.at("work/keep/kept"))
	r.expect("EACCES", "write", r.at("work/keep/file"))
}

func TestLinkInAWritableFolderGrantsNothingOutside(t *testing.T) {
	r := newRig(t)
	if err := os.Symlink(r.at("open"), r.at("work/more")); err != nil {
		t.Fatal(err)
	}
	r.profile.Filesystem.AllowWrite = []string{r.at("work"), r.at("work/more")}
	r.wantNoLaunch("a symbolic link leads out of")
	r.profile.Filesystem.AllowWrite = []string{r.at("work"), r.at("work/sub")}
	r.expect("written", "write", r.at("work/sub/file"))
	r.expect("EACCES", "write", r.at("work/more/file"))
}

func TestLayerCannotWidenAnotherThroughALink(t *testing.T) {
	r := newRig(t)
	if err := os.Symlink(r.dir, r.at("work/l")); err != nil {
		t.Fatal(err)
	}
	r.extraLayers = Layers{{Filesystem: Filesystem{AllowWrite: []string{r.at("work/l")}}}}
	r.expect("EACCES", "write", r.at("open/file"))
	r.expect("EACCES", "write", r.at("work/l/open/new"))
	r.expect("EACCES", "read", r.at("secret/key"))
	r.expect("EACCES", "read", r.at("work/l/secret/key"))
	r.expect("written", "write", r.at("work/file"))
}

func TestLayersGrantOnlyCommonAccess(t *testing.T) {
	r := newRig(t)
	r.profile.Limits = &Limits{OpenFiles: 64}
	r.extraLayers = Layers{
		{Filesystem: Filesystem{AllowWrite: []string{r.at("work/sub"), r.at("open")}, DenyRead: []string{r.at("work/keep")}}, Network: &Network{}},
		{Filesystem: Filesystem{AllowWrite: []string{r.dir}}, Limits: &Limits{OpenFiles: 128, CPUSeconds: 9}},
	}
	r.expect("written", "write", r.at("work/sub/new"))
	r.expect("renamed", "rename", r.at("work/sub/new"), r.at("work/sub/other"))
	r.expect("EACCES", "write", r.at("work/file"))
	r.expect("EACCES", "write", r.at("open/file"))
	r.expect("EACCES", "read", r.at("work/keep/file"))
	r.expect("EACCES", "read", r.at("secret/key"))
	r.expect("content", "read", r.at("open/file"))
	r.expect("64 64", "limit", "open_files")
	r.expect("9 10", "limit", "cpu_seconds")
	r.expect("EACCES", "socket", strconv.Itoa(unix.AF_INET), strconv.Itoa(unix.SOCK_STREAM), "0")
	r.expect("written", "write", "/dev/null")
	for len(r.layers()) < maxLayers {
		r.extraLayers = append(r.extraLayers, Profile{Filesystem: Filesystem{AllowWrite: []string{r.at("work")}}})
	}
	r.expect("written", "write", r.at("work/sub/last"))
	r.extraLayers = append(r.extraLayers, Profile{})
	r.wantNoLaunch("there are 9 layers")
}

func TestOneLayerSufficesToGuardAFolder(t *testing.T) {
	r := newRig(t)
	r.dataDir = r.at("open")
	r.extraLayers = Layers{{Filesystem: Filesystem{AllowWrite: []string{r.dir}}}}
	if err := r.layers().Check(r.at("open")); err != nil {
		t.Errorf("the check gave %v", err)
	}
	r.expect("EACCES", "write", r.at("open/file"))
	r.profile.Filesystem.AllowWrite = []string{r.at("open")}
	r.wantNoLaunch("could use to lift the sandbox")
	if err := r.layers().Check(r.at("open")); err == nil {
		t.Error("the check found nothing wrong")
	}
}

func TestOnlyAllowedPathsCanBeWritten(t *testing.T) {
	r := newRig(t)
	r.expect("written", "write", r.at("work/file"))
	r.expect("written", "write", r.at("work/new"))
	r.expect("made", "mkdir", r.at("work/dir"))
	r.expect("removed", "remove", r.at("work/dir"))
	r.expect("renamed", "rename", r.at("work/new"), r.at("work/sub/new"))
	for _, path := range []string{r.at("open/file"), r.at("open/new"), r.at("work") + "/../open/file", "/proc/self/comm"} {
		r.expect("EACCES", "write", path)
	}
	r.expect("EACCES", "truncate", r.at("open/file"))
	r.expect("EACCES", "mkdir", r.at("open/dir"))
	r.expect("EACCES", "remove", r.at("open/file"))
	r.expect("EACCES", "rename", r.at("open/file"), r.at("open/other"))
	if data, err := os.ReadFile(r.at("open/file")); err != nil || string(data) != "content" {
		t.Errorf("the file outside is %q now, %v", data, err)
	}
}

func TestDenyWriteWinsOverAllowWrite(t *testing.T) {
	r := newRig(t)
	r.profile.Filesystem.DenyWrite = []string{r.at("work/keep")}
	r.expect("EACCES", "write", r.at("work/keep/file"))
	r.expect("EACCES", "write", r.at("work/keep/new"))
	r.expect("EACCES", "remove", r.at("work/keep/file"))
	r.expect("EACCES", "rename", r.at("work/keep"), r.at("work/kept"))
	r.expect("written", "write", r.at("work/file"))
	r.expect("written", "write", r.at("work/sub/new"))
	r.expect("content", "read", r.at("work/keep/file"))

	r.profile.Filesystem.DenyWrite = []string{r.dir}
	r.expect("EACCES", "write", r.at("work/file"))
}

func TestStandardStreamsCanBeReopenedWithTheirAccess(t *testing.T) {
	r := newRig(t)
	input, err := os.Open(r.at("open/file"))
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	output, err := os.OpenFile(r.at("open/log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	for path, want := range map[string]string{"/dev/stdin": "content", "/dev/stderr": "changed"} {
		cmd := r.command("write", path)
		cmd.Stdin, cmd.Stderr = input, output
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		target := map[string]string{"/dev/stdin": "open/file", "/dev/stderr": "open/log"}[path]
		if data, err := os.ReadFile(r.at(target)); err != nil || string(data) != want {
			t.Errorf("after writing to %s, %s is %q, %v, want %q", path, target, data, err, want)
		}
	}
}

func TestNullDevicesCanBeWritten(t *testing.T) {
	r := newRig(t)
	r.expect("written", "write", "/dev/null")
	r.expect("EACCES", "otherterminal")
	if got, _, _ := r.run("mknod", r.at("work/disk")); got != "EACCES" && got != "EPERM" {
		t.Errorf("making a disk's node gave %q", got)
	}
}

func TestConfinementAppliesToChildren(t *testing.T) {
	r := newRig(t)
	r.profile.Network = &Network{}
	r.expect("EACCES", "child", "child", "read", r.at("secret/key"))
	r.expect("EACCES", "child", "write", r.at("open/file"))
	r.expect("EACCES", "child", "socket", strconv.Itoa(unix.AF_INET), strconv.Itoa(unix.SOCK_STREAM), "0")
}

func TestProgramKeepsThePIDAndInheritsNoDescriptors(t *testing.T) {
	r := newRig(t)
	file, err := os.Open(r.at("secret/key"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r.files = []*os.File{file}
	r.expect("", "fds")

	cmd := r.command("pid")
	output, err := cmd.Output()
	if err != nil || string(output) != strconv.Itoa(cmd.Process.Pid) {
		t.Errorf("the program ran as %s, started as %d: %v", output, cmd.Process.Pid, err)
	}
}

func TestConfinedProcessHasNoPrivileges(t *testing.T) {
	r := newRig(t)
	status, _, _ := r.run("status")
	for _, want := range []string{"NoNewPrivs:\t1", "Seccomp:\t2"} {
		if !strings.Contains(status, want) {
			t.Errorf("its status lacks %q:\n%s", want, status)
		}
	}
	for line := range strings.Lines(status) {
		name, value, _ := strings.Cut(line, ":")
		if name != "CapPrm" && name != "CapEff" && name != "CapBnd" || name == "CapBnd" && os.Geteuid() != 0 {
			continue
		}
		if set, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64); err != nil || set&^keptCapabilities() != 0 {
			t.Errorf("it has capabilities: %s", line)
		}
	}
	r.expect("ENOSYS", "uring")
	r.expect("EPERM", "sti")
	r.expect("EPERM", "prlimit", strconv.Itoa(os.Getpid()))
	r.expect("changed", "prlimit", "0")
	if currentKernel().landlock >= landlockScopes {
		r.expect("EPERM", "kill0", strconv.Itoa(os.Getpid()))
	}
}

func TestLimitsAreEnforced(t *testing.T) {
	needs.FullRun(t)
	r := newRig(t)
	r.profile.Limits = &Limits{OpenFiles: 64, Processes: 5000, MemoryBytes: 4 << 30, CPUSeconds: 1}
	r.expect("64 64", "limit", "open_files")
	r.expect("5000 5000", "limit", "processes")
	r.expect("4294967296 4294967296", "limit", "memory_bytes")
	r.expect("1 2", "child", "limit", "cpu_seconds")

	// Go's runtime survives SIGXCPU, so the hard limit kills it.
	err := r.command("cpuhog").Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !exit.Sys().(syscall.WaitStatus).Signaled() && exit.ExitCode() == 0 {
		t.Errorf("a program over its processor time ended with %v", err)
	}
}

func TestUnenforceableProfileStartsNothing(t *testing.T) {
	r := newRig(t)
	r.profile.Filesystem.AllowWrite = []string{r.at("missing")}
	r.wantNoLaunch("missing: no such file or directory; create it first")
	if err := r.layers().Check(); err == nil || !strings.Contains(err.Error(), "create it first") {
		t.Errorf("the check gave %v", err)
	}

	r.profile.Filesystem.AllowWrite = []string{"relative"}
	r.wantNoLaunch("not absolute")

	r.profile.Filesystem.AllowWrite = nil
	r.profile.Network = &Network{AllowedDomains: []string{"example.org"}}
	r.wantNoLaunch("proxy")
}

func TestProfilesFolderCannotBeMadeWritable(t *testing.T) {
	r := newRig(t)
	r.dataDir = r.at("work/sub")
	r.wantNoLaunch("could use to lift the sandbox")
	if err := r.layers().Check(r.at("work/sub")); err == nil || !strings.Contains(err.Error(), "could use to lift the sandbox") {
		t.Errorf("the check gave %v", err)
	}
	r.profile.Filesystem.DenyWrite = []string{r.at("work/sub")}
	if err := r.layers().Check(r.at("work/sub")); err != nil {
		t.Errorf("the check gave %v", err)
	}
	r.expect("written", "write", r.at("work/file"))
	r.expect("EACCES", "write", r.at("work/sub/file"))
}

func TestEmptyAllowedDomainsMeansNoNetwork(t *testing.T) {
	r := newRig(t)
	r.profile.Network = &Network{DeniedDomains: []string{"example.org"}}
	server, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	r.expect("EACCES", "dial", "tcp", server.Addr().String())
	r.expect("EACCES", "dial", "udp", server.Addr().String())
	for _, family := range []int{unix.AF_INET, unix.AF_INET6, unix.AF_PACKET, unix.AF_VSOCK} {
		r.expect("EACCES", "socket", strconv.Itoa(family), strconv.Itoa(unix.SOCK_DGRAM), "0")
	}
	r.expect("made", "socket", strconv.Itoa(unix.AF_NETLINK), strconv.Itoa(unix.SOCK_RAW), strconv.Itoa(unix.NETLINK_ROUTE))
	r.expect("EACCES", "socket", strconv.Itoa(unix.AF_NETLINK), strconv.Itoa(unix.SOCK_RAW), strconv.Itoa(unix.NETLINK_AUDIT))

	r.profile.Network = nil
	r.expect("connected", "dial", "tcp", server.Addr().String())
}

func TestUnixSocketsReachNothingOutside(t *testing.T) {
	r := newRig(t)
	dir, err := os.MkdirTemp("", "td")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	stream, err := net.Listen("unix", filepath.Join(dir, "stream"))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	datagram, err := net.ListenPacket("unixgram", filepath.Join(dir, "datagram"))
	if err != nil {
		t.Fatal(err)
	}
	defer datagram.Close()
	name := "tandem-sandbox-test-" + strconv.Itoa(os.Getpid())
	abstract, err := net.Listen("unix", "@"+name)
	if err != nil {
		t.Fatal(err)
	}
	defer abstract.Close()
	for _, args := range [][]string{
		{"dial", "unix", filepath.Join(dir, "stream")},
		{"dial", "unixgram", filepath.Join(dir, "datagram")},
		{"sendpair", filepath.Join(dir, "datagram")},
		{"abstract", name},
		{"child", "dial", "unix", filepath.Join(dir, "stream")},
	} {
		if got, _, _ := r.run(args...); got != "EACCES" && got != "EPERM" {
			t.Errorf("%v gave %q", args, got)
		}
	}
}
