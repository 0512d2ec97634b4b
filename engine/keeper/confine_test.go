package keeper

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"tandem/tests/needs"
)

// confinement is one that lets nothing be written but what a child has open, and
// fails getpriority(2) with EDOM.
func (r *rig) confinement() *Confinement {
	r.t.Helper()
	attr := unix.LandlockRulesetAttr{Handled_access_fs: unix.LANDLOCK_ACCESS_FS_WRITE_FILE, Scoped: r.scopes()}
	ruleset, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		needs.Kernel(r.t, "Landlock", errno)
	}
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_GETPRIORITY, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EDOM)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	c := &Confinement{
		Rulesets: []int{int(ruleset)},
		Filter:   slices.Clone(unsafe.Slice((*byte)(unsafe.Pointer(&filter[0])), 8*len(filter))),
		Keep:     1 << unix.CAP_CHOWN,
		Write:    unix.LANDLOCK_ACCESS_FS_WRITE_FILE,
	}
	r.t.Cleanup(c.Close)
	return c
}

// unconfined checks that no thread of a keeper is held to anything. A child would
// reach a thread that is held to the same.
func (r *rig) unconfined(pid int) {
	r.t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(threads) == 0 {
		r.t.Fatalf("%d threads, %v", len(threads), err)
	}
	want := heldTo("/proc/self/status")
	for _, path := range threads {
		if got := heldTo(path); got != want && got != "" { // it has ended
			r.t.Errorf("%s is held to %s", path, got)
		}
	}
}

// scopes are those of Landlock that this kernel knows.
func (r *rig) scopes() uint64 {
	version, _, _ := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if version < 6 {
		return 0
	}
	return unix.LANDLOCK_SCOPE_SIGNAL
}

// heldTo is what /proc/<pid>/status, or a thread's, says of a confinement.
func heldTo(path string) (held string) {
	status, _ := os.ReadFile(path)
	for line := range strings.Lines(string(status)) {
		switch name, _, _ := strings.Cut(line, ":"); name {
		case "Seccomp", "NoNewPrivs", "CapBnd", "CapEff":
			held += line
		}
	}
	return held
}

func TestAConfinedChildIsHeldAndItsKeeperIsNot(t *testing.T) {
	r := newRig(t)
	k := r.keeper("").mustBeReady()
	c := r.dial()
	if !c.Confines() {
		t.Fatal("the keeper says that it cannot confine")
	}
	pid := k.cmd.Process.Pid
	const n = 40
	before, confined := descriptors(t, pid), r.confinement()
	for i := range n {
		s := r.spec(strconv.Itoa(i), "grep -E 'Seccomp:|NoNewPrivs|CapBnd' /proc/self/status; echo x > outside; nice; true")
		s.Env = append(s.Env, "LC_ALL=C")
		if s.Confinement = confined; i%2 == 1 {
			s.Confinement = nil
		}
		r.start(c, s)
		r.unconfined(pid)
	}
	for range n {
		r.ended(c)
	}
	r.unconfined(pid)
	for i := range n {
		out, err := os.ReadFile(filepath.Join(r.dir, "processes", strconv.Itoa(i), "process.log"))
		if err != nil {
			t.Fatal(err)
		}
		held := i%2 == 0
		for _, want := range []string{"Seccomp:\t2", "NoNewPrivs:\t1", "ermission denied", "nice: cannot get niceness"} {
			if strings.Contains(string(out), want) != held {
				t.Errorf("child %d, held %v: %q in %s", i, held, want, out)
			}
		}
		if os.Geteuid() == 0 && held && !strings.Contains(string(out), "CapBnd:\t0000000000000001") {
			t.Errorf("child %d has more capabilities: %s", i, out)
		}
	}
	if threads := threadsOf(t, pid); threads > 16 {
		t.Errorf("the keeper has %d threads", threads)
	}
	if after := descriptors(t, pid); len(after) != len(before) {
		t.Errorf("descriptors were %v, are %v", before, after)
	}
}

func TestAConfinedChildDoesNotReachItsKeeper(t *testing.T) {
	r := newRig(t)
	if r.scopes() == 0 {
		needs.Kernel(t, "Landlock that confines signals", "this one does not")
	}
	k := r.keeper("").mustBeReady()
	c := r.dial()
	s := r.spec("a", `for t in /proc/$PPID/task/*; do kill -0 ${t##*/} && echo reached $t; done; echo tried $PPID`)
	s.Confinement = r.confinement()
	r.start(c, s)
	r.ended(c)
	out, err := os.ReadFile(s.Stdout)
	if err != nil || strings.Contains(string(out), "reached") || !strings.Contains(string(out), "tried "+strconv.Itoa(k.cmd.Process.Pid)) {
		t.Errorf("it printed %s, %v", out, err)
	}
}

// Go's runtime raises the limit, and gives children what it was.
func TestAConfinedChildHasTheLimitOfOpenFilesOfOthers(t *testing.T) {
	r := newRig(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r.run(exec.Command("sh", "-c", `ulimit -Sn 123; exec "$@"`, "sh", exe, "keeper", r.dir, r.socket, strconv.Itoa(os.Getpid()))).mustBeReady()
	c := r.dial()
	plain, confined, masked := r.spec("a", "ulimit -Sn; ulimit -Hn"), r.spec("a", "ulimit -Sn; ulimit -Hn"), r.spec("a", "ulimit -Sn; ulimit -Hn")
	confined.Confinement, masked.Umask = r.confinement(), "0135"
	for _, s := range []Spec{plain, confined, masked} {
		os.Remove(s.Stdout)
		r.start(c, s)
		r.ended(c)
		var hard unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &hard); err != nil {
			t.Fatal(err)
		}
		if out, err := os.ReadFile(s.Stdout); err != nil || string(out) != fmt.Sprintf("123\n%d\n", hard.Max) {
			t.Errorf("confined %v, umask %q: %s, %v", s.Confinement != nil, s.Umask, out, err)
		}
	}
}

func TestAConfinedChildGetsCleanSignalsAndItsStandardFiles(t *testing.T) {
	r := newRig(t)
	exe, _ := os.Executable()
	r.run(exec.Command(exe, "keeper-signals", r.dir, r.socket, strconv.Itoa(os.Getpid()))).mustBeReady()
	c := r.dial()
	masked := r.ttySpec("c", "")
	masked.Umask = "0135"
	for _, s := range []Spec{r.spec("a", ""), r.ttySpec("b", ""), masked} {
		if s.Argv = []string{"sleep", "1000"}; s.Umask == "" {
			s.Confinement = r.confinement()
		}
		child, _ := r.start(c, s)
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", child.PID))
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range []string{"SigBlk", "SigIgn"} {
			if !strings.Contains(string(status), field+":\t0000000000000000") {
				t.Errorf("child %s: %s is not empty:\n%s", s.ID, field, status)
			}
		}
		r.eventually("child with its standard files alone", func() bool {
			return comm(child.PID) == "sleep" && keysOf(descriptors(t, child.PID)) == "[0 1 2]"
		})
		if cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", child.PID)); err != nil || cwd != r.dir {
			t.Errorf("child %s is in %s, %v", s.ID, cwd, err)
		}
	}
}

func TestAConfinedScriptWithoutAnInterpreterGoesToSh(t *testing.T) {
	r := newRig(t)
	r.keeper("").mustBeReady()
	c := r.dial()
	script := filepath.Join(r.dir, "script")
	if err := os.WriteFile(script, []byte("echo got $1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := r.spec("a", "")
	s.Argv, s.Confinement = []string{script, "one"}, r.confinement()
	r.start(c, s)
	r.ended(c)
	if out, err := os.ReadFile(s.Stdout); err != nil || string(out) != "got one\n" {
		t.Errorf("it printed %q, %v", out, err)
	}
}

func TestAConfinedChildOpensItsOwnTerminal(t *testing.T) {
	r := newRig(t)
	r.keeper("").mustBeReady()
	c := r.dial()
	other := r.ttySpec("other", "tty; exec sleep 1000")
	_, otherMaster := r.start(c, other)
	path, _, _ := strings.Cut(r.readUntil(otherMaster, "\n"), "\r")
	s := r.ttySpec("a", "echo mine > $(tty); echo no > "+path+"; echo done; exec sleep 1000")
	s.Confinement = r.confinement()
	_, master := r.start(c, s)
	got := r.readUntil(master, "done")
	if !strings.Contains(got, "mine") || !strings.Contains(got, "ermission denied") {
		t.Errorf("it printed %q", got)
	}
}

func TestWhatCannotBeConfinedIsNotStarted(t *testing.T) {
	r := newRig(t)
	k := r.keeper("").mustBeReady()
	c := r.dial()
	null, err := openFD(os.DevNull, unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer closeFD(null)
	before := len(descriptors(t, k.cmd.Process.Pid))
	for want, change := range map[string]func(c *Confinement){
		"no Landlock ruleset": func(c *Confinement) { c.Rulesets = nil },
		"allow opening of":    func(c *Confinement) { c.Write = 1 << 63 },
		"restrict with":       func(c *Confinement) { c.Rulesets, c.Write = []int{c.Rulesets[0], null}, 0 },
		"0 bytes":             func(c *Confinement) { c.Filter = nil },
		"9 bytes":             func(c *Confinement) { c.Filter = make([]byte, 9) },
		"80000 bytes":         func(c *Confinement) { c.Filter = make([]byte, 80000) },
		"filter system calls": func(c *Confinement) { c.Filter = make([]byte, 8) },
	} {
		s := r.ttySpec("a", "echo ran")
		s.Confinement = new(*r.confinement())
		change(s.Confinement)
		_, master, err := c.Start(r.ctx(), s)
		if err == nil || !strings.Contains(err.Error(), "confine it: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: it was started, or %v", want, err)
		}
		if master != nil {
			master.Close()
		}
	}
	if list, err := c.List(r.ctx()); err != nil || len(list) != 0 {
		t.Errorf("there is %v, %v", list, err)
	}
	s := r.spec("a", "")
	s.Confinement, s.CWD = r.confinement(), "/missing"
	if _, _, err := c.Start(r.ctx(), s); err == nil {
		t.Error("a missing folder was no error")
	}
	if after := len(descriptors(t, k.cmd.Process.Pid)); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func TestAConfinedProgramThatCannotBeExecutedIsAnError(t *testing.T) {
	r := newRig(t)
	r.keeper("").mustBeReady()
	c := r.dial()
	s := r.spec("a", "")
	s.Confinement = r.confinement()
	attr := unix.LandlockRulesetAttr{Handled_access_fs: unix.LANDLOCK_ACCESS_FS_EXECUTE}
	ruleset, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	s.Confinement.Rulesets, s.Confinement.Write = append(s.Confinement.Rulesets, int(ruleset)), 0
	if _, _, err := c.Start(r.ctx(), s); err == nil || !strings.Contains(err.Error(), "its sandbox may deny reading it") {
		t.Errorf("the start gave %v", err)
	}
}

// A keeper that does not know of confinements would start the child without.
func TestAnOlderKeeperIsNotAskedToConfine(t *testing.T) {
	r := newRig(t)
	r.keeper("").mustBeReady()
	c := r.dial()
	c.confines = false
	s := r.spec("a", "echo ran")
	s.Confinement = r.confinement()
	if _, _, err := c.Start(r.ctx(), s); err == nil || !strings.Contains(err.Error(), "the keeper is older") {
		t.Errorf("the start gave %v", err)
	}
	if list, err := c.List(r.ctx()); err != nil || len(list) != 0 {
		t.Errorf("there is %v, %v", list, err)
	}
}
