//go:build amd64 || arm64

package sandbox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"tandem/tests/needs"
)

// ordinary is the id of a user owning nothing, and stranger that of another one.
const ordinary, stranger = 65534, 65533

// eachUser runs a test as the current user and, if that is root, as an ordinary user as well.
func eachUser(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	needs.FullRun(t) // hundreds of processes
	t.Run(fmt.Sprintf("user %d", os.Getuid()), func(t *testing.T) { test(t, newRig(t)) })
	if os.Getuid() != 0 {
		return
	}
	t.Run("ordinary user", func(t *testing.T) { test(t, newOrdinaryRig(t)) })
}

// newOrdinaryRig returns a rig owned by an unprivileged user, with a copy of the program.
func newOrdinaryRig(t *testing.T) *rig {
	t.Helper()
	dir, err := os.MkdirTemp("", "sandbox")
	if err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "program"), program, 0o755)
	}
	if err == nil {
		err = os.Chown(dir, ordinary, ordinary)
	}
	if err != nil {
		t.Fatal(err)
	}
	return newRigOf(t, rig{dir: dir, uid: ordinary, self: filepath.Join(dir, "program")})
}

// victim starts a process of the same user outside any sandbox and returns its PID. The process
// exits when its standard input ends.
func (r *rig) victim() int {
	r.t.Helper()
	cmd := exec.Command(r.self, "probe", "after", "pid")
	r.setUser(cmd)
	end, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		end.Close()
		cmd.Wait()
	})
	awaitProgram(r.t, cmd.Process.Pid)
	return cmd.Process.Pid
}

// runOpen runs a probe without a sandbox.
func (r *rig) runOpen(args ...string) string {
	r.t.Helper()
	cmd := exec.Command(r.self, append([]string{"probe"}, args...)...)
	r.setUser(cmd)
	got, _, _ := r.wait(cmd)
	return got
}

// An attack is one attempt of a confined program.
type attack struct {
	name         string
	probe        []string
	refused      string // with one of these errors
	worksOutside bool   // works without a sandbox
}

func TestAttacksOnFilesFail(t *testing.T) {
	eachUser(t, func(t *testing.T, r *rig) {
		link(t, r.at("secret"), r.at("open/link"))
		link(t, r.at("secret/key"), r.at("work/link"))
		link(t, r.dir, r.at("work/up"))
		r.extraLayers = Layers{{Filesystem: Filesystem{AllowWrite: []string{r.at("work/up")}}}}
		root := "/proc/self/root"
		attacks := []attack{
			{"read", []string{"read", r.at("secret/key")}, "EACCES", true},
			{"read by ..", []string{"read", r.at("open") + "/../secret/key"}, "EACCES", true},
			{"read by a link to the folder", []string{"read", r.at("open/link/key")}, "EACCES", true},
			{"read by a link to the file", []string{"read", r.at("work/link")}, "EACCES", true},
			{"read by /proc", []string{"read", root + r.at("secret/deep/key")}, "EACCES", true},
			{"read by /proc of a thread", []string{"read", "/proc/thread-self/root" + r.at("secret/key")}, "EACCES", true},
			{"list", []string{"list", r.at("secret")}, "EACCES", true},
			{"write outside", []string{"write", r.at("open/file")}, "EACCES", true},
			{"write outside by ..", []string{"write", r.at("work") + "/../open/file"}, "EACCES", true},
			{"write outside by a link that a layer grants", []string{"write", r.at("work/up/open/file")}, "EACCES", true},
			{"write outside where a layer grants it", []string{"write", r.at("open/new")}, "EACCES", true},
			{"write outside by /proc", []string{"write", root + r.at("open/file")}, "EACCES", true},
			{"truncate outside", []string{"truncate", r.at("open/file")}, "EACCES", true},
			{"write the profile", []string{"write", r.at("profile/sandbox.json")}, "EACCES", true},
			{"steal by hard link", []string{"link", r.at("secret/key"), r.at("work/key")}, "EXDEV EACCES", true},
			{"steal by rename", []string{"rename", r.at("secret/key"), r.at("work/key")}, "EXDEV EACCES", true},
			{"put outside by rename", []string{"rename", r.at("work/sub/file"), r.at("open/put")}, "EXDEV EACCES", true},
			{"put outside by hard link", []string{"link", r.at("work/keep/file"), r.at("open/linked")}, "EXDEV EACCES", true},
			{"make a program run as its owner", []string{"set-user-id", r.at("work/keep/file")}, "EPERM", true},
			{"give a secret away", []string{"give away", r.at("secret/key")}, "EPERM", r.uid == 0},
			{"give a folder away", []string{"give away", r.at("secret")}, "EPERM", r.uid == 0},
			{"give its own file away", []string{"give away", r.at("work/keep/file")}, "EPERM", r.uid == 0},
			{"in a child", []string{"child", "child", "read", r.at("secret/key")}, "EACCES", false},
		}
		if os.Getuid() == 0 {
			r.put("foreign")
			if err := os.Chown(r.at("foreign"), stranger, -1); err != nil {
				t.Fatal(err)
			}
			attacks = append(attacks, attack{"open another user's file to all", []string{"chmod", r.at("foreign")}, "EPERM", r.uid == 0})
		}
		r.wantRefused(attacks)
		if os.Getuid() == 0 && unix.Mount(r.at("secret"), r.at("open"), "", unix.MS_BIND, "") == nil {
			t.Cleanup(func() { unix.Unmount(r.at("open"), unix.MNT_DETACH) })
			r.wantRefused([]attack{{"read by another mount", []string{"read", r.at("open/key")}, "EACCES", true}})
		}
	})
}

func TestAttacksOnOtherProcessesFail(t *testing.T) {
	eachUser(t, func(t *testing.T, r *rig) {
		victim := strconv.Itoa(r.victim())
		attacks := []attack{
			{"attach a debugger", []string{"call", "ptrace-seize", victim}, "EPERM", true},
			{"read its memory", []string{"call", "vmread", victim}, "EPERM", true},
			{"read its memory as a file", []string{"opendevice", "/proc/" + victim + "/mem"}, "EACCES", true},
			{"read its environment", []string{"read", "/proc/" + victim + "/environ"}, "EACCES EPERM", true},
			{"see what it has open", []string{"readlink", "/proc/" + victim + "/fd/0"}, "EACCES EPERM", true},
			{"open its input", []string{"read", "/proc/" + victim + "/fd/0"}, "EACCES EPERM", false},
			{"go through its root", []string{"read", "/proc/" + victim + "/root" + r.at("open/file")}, "EACCES EPERM", true},
			{"take its descriptor", []string{"call", "getfd", victim}, "EPERM", true},
			{"compare its files", []string{"call", "kcmp", victim}, "EPERM", true},
			{"lower its priority", []string{"call", "setpriority", victim}, "EPERM", true},
			{"lower its group's priority", []string{"call", "setpriority-group", victim}, "EPERM", false},
			{"lower its user's priority", []string{"call", "setpriority-user", victim}, "EPERM", false},
			{"lower its disk priority", []string{"call", "ioprio", victim}, "EPERM", true},
			{"change its scheduling", []string{"call", "scheduler", victim}, "EPERM", true},
			{"change its limits", []string{"prlimit", victim}, "EPERM", true},
		}
		if currentKernel().landlock >= landlockScopes {
			attacks = append(attacks,
				attack{"signal", []string{"kill0", victim}, "EPERM", true},
				attack{"queue a signal", []string{"call", "sigqueue", victim}, "EPERM", true},
				attack{"signal by descriptor", []string{"call", "pidfd-signal", victim}, "EPERM", true},
				attack{"signal a thread", []string{"call", "tgkill", victim}, "EPERM", true},
			)
		}
		r.wantRefused(attacks)
		r.expect("done", "call", "setpriority", "0")
		r.expect("done", "call", "ioprio", "0")
		r.expect("done", "call", "scheduler", "0")
		r.expect("done", "call", "affinity", "0")
	})
}

func TestAttacksOnTheKernelFail(t *testing.T) {
	eachUser(t, func(t *testing.T, r *rig) {
		attacks := []attack{
			{"io_uring", []string{"uring"}, "ENOSYS", false},
			{"a user namespace for a child", []string{"call", "clone-user"}, "EPERM", false},
			{"a user namespace", []string{"call", "unshare-user"}, "EPERM", false},
			{"a mount namespace", []string{"call", "unshare-mount"}, "EPERM", false},
			{"a time namespace", []string{"call", "unshare-time"}, "EPERM", false},
			{"flags that no filter sees", []string{"call", "clone3"}, "ENOSYS", false},
			{"another namespace", []string{"call", "setns"}, "EPERM", false},
			{"typing", []string{"sti"}, "EPERM", false},
			{"a disk's node", []string{"mknod", r.at("work/disk")}, "EACCES EPERM", false},
			{"the kernel's messages", []string{"call", "syslog"}, "EPERM", false},
		}
		for _, name := range []string{"fsopen", "fsconfig", "fsmount", "fspick", "open_tree", "open_tree_attr", "move_mount", "mount_setattr", "mount", "umount", "pivot_root", "bpf", "keyctl", "quotactl_fd"} {
			attacks = append(attacks, attack{name, []string{"call", name}, "EPERM", false})
		}
		r.wantRefused(attacks)
	})
}

func TestAttacksOnDevicesFail(t *testing.T) {
	eachUser(t, func(t *testing.T, r *rig) {
		if r.uid != 0 {
			t.Log("what root alone may open is left out")
		}
		var attacks []attack
		for _, name := range []string{"console", "tty0", "tty1", "ttyS0", "vcs", "vcsa", "input/event0", "uinput", "kmsg", "mem", "port", "loop0", "sda", "vda"} {
			if _, err := os.Lstat("/dev/" + name); err == nil {
				attacks = append(attacks, attack{name, []string{"opendevice", "/dev/" + name}, "EACCES", false})
			}
		}
		r.wantRefused(attacks)
		if got, _, _ := r.run("list", "/dev"); strings.HasPrefix(got, "E") || got == "0" {
			t.Errorf("listing /dev gave %s", got)
		}
		for _, name := range []string{"null", "zero", "urandom"} {
			r.expect("opened", "opendevice", "/dev/"+name)
		}
	})
}

// wantRefused runs attacks that must fail in a sandbox, first without one if they must work there.
func (r *rig) wantRefused(attacks []attack) {
	r.t.Helper()
	probes := make([][]string, len(attacks))
	for i, a := range attacks {
		probes[i] = a.probe
	}
	text, err := json.Marshal(probes)
	if err != nil {
		r.t.Fatal(err)
	}
	got, stderr, _ := r.run("all", string(text)) // by one program, unchanged after each refusal
	var outcomes []string
	if err := json.Unmarshal([]byte(got), &outcomes); err != nil || len(outcomes) != len(attacks) {
		r.t.Fatalf("the attacker gave %q: %v; %s", got, err, stderr)
	}
	for i, a := range attacks {
		if !slices.Contains(strings.Fields(a.refused), outcomes[i]) {
			r.t.Errorf("%s: %q gave %q, want %s", a.name, a.probe, outcomes[i], a.refused)
		}
	}
	for _, a := range attacks {
		if !a.worksOutside {
			continue
		}
		if got := r.runOpen(a.probe...); strings.HasPrefix(got, "E") {
			r.t.Errorf("%s: without a sandbox %q gave %q", a.name, a.probe, got)
		}
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// terminal opens a new terminal owned by the rig's user.
func (r *rig) terminal() (master, slave *os.File) {
	r.t.Helper()
	master, slave, err := pty.Open()
	if err == nil {
		err = slave.Chown(r.uid, -1)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		master.Close()
		slave.Close()
	})
	return master, slave
}

func TestConfinedProcessCannotReadAnotherTerminal(t *testing.T) {
	eachUser(t, func(t *testing.T, r *rig) {
		master, slave := r.terminal()
		var ends []io.Closer
		var outputs []*bufio.Reader
		var readers []*exec.Cmd
		for range 20 {
			cmd := r.command("eavesdrop", slave.Name())
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			stdout, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			output := bufio.NewReader(stdout)
			ends, outputs, readers = append(ends, stdin), append(outputs, output), append(readers, cmd)
			if line, err := output.ReadString('\n'); err != nil || line != "ready\n" {
				t.Fatalf("a reader said %q, %v", line, err)
			}
		}
		// A session losing its input to a reader must not wait forever.
		if err := slave.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		typed := bufio.NewReader(slave)
		for i := range 6 {
			password := fmt.Sprintf("password %d\n", i)
			if _, err := master.WriteString(password); err != nil {
				t.Fatal(err)
			}
			if got, err := typed.ReadString('\n'); got != password {
				t.Errorf("the terminal's own program got %q, %v", got, err)
			}
		}
		for i, cmd := range readers {
			ends[i].Close()
			got, _ := io.ReadAll(outputs[i])
			if err := cmd.Wait(); err != nil || string(got) != "EACCES" {
				t.Errorf("a reader gave %q, %v", got, err)
			}
		}
	})
}

func TestConfinedProcessReadsItsOwnTerminal(t *testing.T) {
	eachUser(t, func(t *testing.T, r *rig) {
		for path, want := range map[string]string{"/dev/tty": "opened", "/dev/stdin": "opened", "": "opened"} {
			_, slave := r.terminal()
			if path == "" {
				path = slave.Name()
			}
			cmd := r.command("opendevice", path)
			cmd.Stdin, cmd.Stdout = slave, nil
			if cmd.SysProcAttr == nil {
				cmd.SysProcAttr = &syscall.SysProcAttr{}
			}
			cmd.SysProcAttr.Setsid, cmd.SysProcAttr.Setctty = true, true
			if got, stderr, _ := r.wait(cmd); got != want {
				t.Errorf("%s gave %q: %s", path, got, stderr)
			}
		}
	})
}

// A device in allowWrite is open for reading too.
func TestDeviceInAllowWriteIsOpen(t *testing.T) {
	checkNamedDevice(t, newRig(t))
}

func checkNamedDevice(t *testing.T, r *rig) {
	_, slave := r.terminal()
	r.profile.Filesystem.AllowWrite = append(r.profile.Filesystem.AllowWrite, slave.Name())
	r.expect("opened", "opendevice", slave.Name())
	r.profile.Filesystem.AllowWrite = []string{"/dev"}
	r.expect("EACCES", "opendevice", slave.Name())
}

func TestUnixSocketsOfAnotherProcessAreUnreachable(t *testing.T) {
	eachUser(t, func(t *testing.T, r *rig) {
		path := filepath.Join(r.at("open"), "s")
		if len(path) > 100 {
			t.Fatalf("%s is too long for a socket's address", path)
		}
		stream, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		name := fmt.Sprintf("tandem-sandbox-attack-%d-%d", os.Getpid(), r.uid)
		abstract, err := net.Listen("unix", "@"+name)
		if err != nil {
			t.Fatal(err)
		}
		defer abstract.Close()
		if err := os.Chmod(path, 0o666); err != nil {
			t.Fatal(err)
		}
		r.wantRefused([]attack{
			{"pathname", []string{"dial", "unix", path}, "EACCES EPERM", true},
			{"abstract", []string{"abstract", name}, "EACCES EPERM", true},
		})
	})
}

// tryAttack performs an attack in a probe.
func tryAttack(what string, args []string) (string, error) {
	switch what {
	case "call":
		pid := 0
		if len(args) > 1 {
			pid, _ = strconv.Atoi(args[1])
		}
		return "done", attackCall(args[0], pid)
	case "opendevice":
		fd, err := unix.Open(args[0], unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err == unix.ENXIO || err == unix.ENODEV || err == unix.EIO || err == unix.EBUSY {
			err = nil // the call was allowed
		}
		if err == nil {
			unix.Close(fd)
		}
		return "opened", err
	case "eavesdrop":
		return eavesdrop(args[0])
	case "readlink":
		return os.Readlink(args[0])
	case "special-mode":
		return trySpecialMode(args)
	}
	return "", fmt.Errorf("no probe %q", what)
}

// eavesdrop reads a terminal until standard input ends, and counts the bytes.
func eavesdrop(path string) (string, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	fmt.Print("ready\n")
	if err != nil {
		io.Copy(io.Discard, os.Stdin)
		return "", err
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		file.Close()
	}()
	data, err := io.ReadAll(file)
	if errors.Is(err, os.ErrClosed) {
		err = nil
	}
	return fmt.Sprintf("%d bytes", len(data)), err
}

func attackCall(what string, pid int) error {
	call := func(number uintptr, args ...uintptr) error {
		var a [6]uintptr
		copy(a[:], args)
		if _, _, errno := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
			return errno
		}
		return nil
	}
	p := uintptr(pid)
	switch what {
	case "ptrace-seize":
		return call(unix.SYS_PTRACE, unix.PTRACE_SEIZE, p)
	case "vmread":
		var b [1]byte
		_, err := unix.ProcessVMReadv(pid, []unix.Iovec{{Base: &b[0], Len: 1}}, []unix.RemoteIovec{{Base: 1 << 12, Len: 1}}, 0)
		if err == unix.EFAULT {
			err = nil // the process was looked up
		}
		return err
	case "getfd":
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			return err
		}
		_, err = unix.PidfdGetfd(fd, 0, 0)
		return err
	case "kcmp":
		return call(unix.SYS_KCMP, uintptr(os.Getpid()), p, 2) // KCMP_FILES
	case "setpriority":
		return call(unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, p, lowestPriority)
	case "setpriority-group":
		return call(unix.SYS_SETPRIORITY, unix.PRIO_PGRP, 0, lowestPriority)
	case "setpriority-user":
		return call(unix.SYS_SETPRIORITY, unix.PRIO_USER, 0, 0)
	case "ioprio":
		return call(unix.SYS_IOPRIO_SET, ioprioProcess, p, 2<<13|7) // best effort, lowest
	case "scheduler":
		return unix.SchedSetAttr(pid, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_BATCH, Nice: lowestPriority}, 0)
	case "affinity":
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(pid, &set); err != nil {
			return err
		}
		return unix.SchedSetaffinity(unix.Gettid(), &set)
	}
	return attackMore(what, p, call)
}

// lowestPriority is the niceness that any process may give itself.
const lowestPriority = 19

func attackMore(what string, p uintptr, call func(number uintptr, args ...uintptr) error) error {
	switch what {
	case "sigqueue":
		info := [16]int64{1: -1} // si_code: SI_QUEUE
		if _, _, errno := unix.Syscall(unix.SYS_RT_SIGQUEUEINFO, p, 0, uintptr(unsafe.Pointer(&info))); errno != 0 {
			return errno
		}
		return nil
	case "pidfd-signal":
		fd, err := unix.PidfdOpen(int(p), 0)
		if err != nil {
			return err
		}
		return call(unix.SYS_PIDFD_SEND_SIGNAL, uintptr(fd), 0)
	case "tgkill":
		return call(unix.SYS_TGKILL, p, p, 0)
	case "clone-user":
		cmd := exec.Command("/proc/self/exe", "probe", "pid")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
		return cmd.Run()
	case "unshare-user":
		return call(unix.SYS_UNSHARE, unix.CLONE_NEWUSER)
	case "unshare-mount":
		return call(unix.SYS_UNSHARE, unix.CLONE_NEWNS)
	case "unshare-time":
		return call(unix.SYS_UNSHARE, unix.CLONE_NEWTIME)
	case "syslog":
		return call(unix.SYS_SYSLOG, 10) // SYSLOG_ACTION_SIZE_BUFFER
	}
	numbers := map[string]uintptr{
		"clone3": unix.SYS_CLONE3, "setns": unix.SYS_SETNS, "fsopen": unix.SYS_FSOPEN, "fsconfig": unix.SYS_FSCONFIG, "fsmount": unix.SYS_FSMOUNT,
		"fspick": unix.SYS_FSPICK, "open_tree": unix.SYS_OPEN_TREE, "open_tree_attr": unix.SYS_OPEN_TREE_ATTR, "move_mount": unix.SYS_MOVE_MOUNT,
		"mount_setattr": unix.SYS_MOUNT_SETATTR, "mount": unix.SYS_MOUNT, "umount": unix.SYS_UMOUNT2, "pivot_root": unix.SYS_PIVOT_ROOT,
		"bpf": unix.SYS_BPF, "keyctl": unix.SYS_KEYCTL, "quotactl_fd": unix.SYS_QUOTACTL_FD,
	}
	number, ok := numbers[what]
	if !ok {
		return fmt.Errorf("no call %q", what)
	}
	return call(number, ^uintptr(0))
}
