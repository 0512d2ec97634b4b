package keeper

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/tests/wait"
)

func TestChildrenAndTerminalsSurviveTheKeeper(t *testing.T) {
	r := newRig(t)
	k := r.keeper("").mustBeReady()
	c := r.dial()
	child, master := r.start(c, r.ttySpec("a", "echo up; read x; echo got-$x; read x; exit 7"))
	r.readUntil(master, "up")
	k.kill()
	if _, ok := <-c.Exits(); ok {
		t.Error("an exit was told by a dead keeper")
	}
	if _, err := c.List(r.ctx()); !errors.Is(err, ErrLost) {
		t.Errorf("list gives %v, want lost", err)
	}
	master.WriteString("hello\n")
	r.readUntil(master, "got-hello")

	r.keeper("").mustBeReady()
	c = r.dial()
	if err := c.Adopt(r.ctx(), child, filepath.Join(r.dir, "processes", "a"), Logs{}, master); err != nil {
		t.Fatal(err)
	}
	again, err := c.Master(r.ctx(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	again.WriteString("bye\n")
	collect(child.PID)
	want := child
	want.Exit = &Exit{Code: new(7)}
	if diff := cmp.Diff(want, r.ended(c)); diff != "" {
		t.Error(diff)
	}
	if e, ok := readExit(filepath.Join(r.dir, "processes", "a"), child.identity()); !ok || e.Code == nil || *e.Code != 7 {
		t.Errorf("exit.json tells %v, %v", e, ok)
	}
}

// orphan starts a child, kills its keeper and starts another one. It returns the child, its
// directory and a client of the new keeper.
func (r *rig) orphan(script string) (Child, string, *Client) {
	r.t.Helper()
	k := r.keeper("").mustBeReady()
	s := r.spec("a", script)
	child, _ := r.start(r.dial(), s)
	k.kill()
	r.keeper("").mustBeReady()
	return child, s.Dir, r.dial()
}

func TestExitOfAdoptedChildIsReadFromZombie(t *testing.T) {
	r := newRig(t)
	child, dir, c := r.orphan("exec sleep 1000")
	if err := c.Adopt(r.ctx(), child, dir, Logs{}, nil); err != nil {
		t.Fatal(err)
	}
	syscall.Kill(child.PID, syscall.SIGTERM)
	if got := r.ended(c); got.Exit.Signal != "SIGTERM" {
		t.Errorf("exit %v, want SIGTERM", got.Exit)
	}
	collect(child.PID)
}

func TestExitOfZombieIsReadAtAdoption(t *testing.T) {
	r := newRig(t)
	child, dir, c := r.orphan("exec sleep 1000")
	syscall.Kill(child.PID, syscall.SIGKILL)
	wait.Exit(t, child.PID)
	if err := c.Adopt(r.ctx(), child, dir, Logs{}, nil); err != nil {
		t.Fatal(err)
	}
	if got := r.ended(c); got.Exit.Signal != "SIGKILL" {
		t.Errorf("exit %v, want SIGKILL", got.Exit)
	}
}

func TestUnobservedExitIsUnknown(t *testing.T) {
	r := newRig(t)
	child, dir, c := r.orphan("exec sleep 1000")
	syscall.Kill(child.PID, syscall.SIGKILL)
	collect(child.PID)
	if err := c.Adopt(r.ctx(), child, dir, Logs{}, nil); err != nil {
		t.Fatal(err)
	}
	if got := r.ended(c); !got.Exit.Unknown || got.Exit.Code != nil {
		t.Errorf("exit %+v, want unknown", got.Exit)
	}
	if e, ok := readExit(dir, child.identity()); !ok || !e.Unknown {
		t.Errorf("exit.json tells %v, %v", e, ok)
	}
}

func TestAdoptReadsExitOnDisk(t *testing.T) {
	r := newRig(t)
	k := r.keeper("").mustBeReady()
	s := r.spec("a", "exit 3")
	c := r.dial()
	child, _ := r.start(c, s)
	r.ended(c)
	k.kill()
	r.keeper("").mustBeReady()
	c = r.dial()
	if err := c.Adopt(r.ctx(), child, s.Dir, Logs{}, nil); err != nil {
		t.Fatal(err)
	}
	if got := r.ended(c); got.Exit.Code == nil || *got.Exit.Code != 3 {
		t.Errorf("exit %v, want code 3", got.Exit)
	}
}

func TestAdoptIgnoresOlderExitOnDisk(t *testing.T) {
	r := newRig(t)
	child, dir, c := r.orphan("exec sleep 1000")
	older := child.identity()
	older.StartTime--
	if err := writeExit(dir, exitFile{Schema: exitSchema, Identity: older, Exit: Exit{Code: new(0)}}, true); err != nil {
		t.Fatal(err)
	}
	syscall.Kill(child.PID, syscall.SIGKILL)
	collect(child.PID)
	if err := c.Adopt(r.ctx(), child, dir, Logs{}, nil); err != nil {
		t.Fatal(err)
	}
	if got := r.ended(c); !got.Exit.Unknown {
		t.Errorf("exit %v, want unknown", got.Exit)
	}
}

func TestAdoptRejectsReusedPID(t *testing.T) {
	r := newRig(t)
	child, dir, c := r.orphan("exec sleep 1000")
	wrong := []Child{child, child}
	wrong[0].StartTime++
	wrong[1].ID, wrong[1].BootID = "b", "another boot"
	for _, w := range wrong {
		if err := c.Adopt(r.ctx(), w, dir, Logs{}, nil); err != nil {
			t.Fatal(err)
		}
		if got := r.ended(c); !got.Exit.Unknown {
			t.Errorf("exit %v, want unknown", got.Exit)
		}
	}
	if !alive(child.PID) {
		t.Error("the process was harmed")
	}
}

func TestAdoptRejectsInvalidRequests(t *testing.T) {
	r := newRig(t)
	child, dir, c := r.orphan("exec sleep 1000")
	plain, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	for want, adopt := range map[string]func() error{
		"no child given":             func() error { return c.Adopt(r.ctx(), Child{}, dir, Logs{}, nil) },
		"is not an absolute path":    func() error { return c.Adopt(r.ctx(), child, "x", Logs{}, nil) },
		"not the master of a termin": func() error { return c.Adopt(r.ctx(), child, dir, Logs{}, plain) },
	} {
		if err := adopt(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for range 2 {
		if err := c.Adopt(r.ctx(), child, dir, Logs{}, nil); err != nil {
			t.Errorf("adopt twice: %v", err)
		}
	}
	if list, _ := c.List(r.ctx()); len(list) != 1 {
		t.Errorf("%d children", len(list))
	}
	other := child
	other.StartTime++
	if err := c.Adopt(r.ctx(), other, dir, Logs{}, nil); err == nil || !strings.Contains(err.Error(), "has not ended") {
		t.Errorf("adopt over a living child: %v", err)
	}
}

func TestManyAdoptedChildrenAreWatchedTogether(t *testing.T) {
	const n = 40
	r := newRig(t)
	k := r.keeper("").mustBeReady()
	c := r.dial()
	var children []Child
	for i := range n {
		child, _ := r.start(c, r.spec(string(rune('A'+i)), "exec sleep 1000"))
		children = append(children, child)
	}
	k.kill()
	k = r.keeper("").mustBeReady()
	c = r.dial()
	for _, child := range children {
		if err := c.Adopt(r.ctx(), child, r.dir, Logs{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := threadsOf(t, k.cmd.Process.Pid); n > 20 {
		t.Errorf("keeper has %d threads", n)
	}
	for _, child := range children {
		syscall.Kill(child.PID, syscall.SIGKILL)
		collect(child.PID)
	}
	seen := map[string]bool{}
	for range n {
		got := r.ended(c)
		if seen[got.ID] || got.Exit.Signal != "SIGKILL" {
			t.Errorf("exit of %s: %v", got.ID, got.Exit)
		}
		seen[got.ID] = true
	}
}

// An engine outlives its keeper and starts the next one. That keeper must watch the engine,
// although the engine is not its child.
func TestKeeperRestartsTheEngineThatStartedIt(t *testing.T) {
	r := newRig(t)
	k := r.keeper("run").mustBeReady()
	first := r.pidLine(0)
	k.kill()
	if got := r.tell("keeper"); got != "ready" {
		t.Fatalf("new keeper said %q", got)
	}
	if err := r.wake(); err != nil {
		t.Error(err)
	}
	syscall.Kill(first, syscall.SIGKILL)
	collect(first)
	second := r.pidLine(1)
	if second == first || !alive(second) {
		t.Errorf("engine %d does not live", second)
	}
}
