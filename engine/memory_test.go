package engine

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/control/host"
	"tandem/engine/control/launch"
	"tandem/engine/control/supervise"
	"tandem/engine/remote/hosts/transport"
	"tandem/engine/session/prompt"
	"tandem/engine/system/keeper"
	"tandem/persist/config/settings"
	"tandem/persist/datadir"
	"tandem/persist/store"
)

// A memoryKeeper is a keeper without processes. Its children have a terminal or a log, but print
// and exit only when a test asks for it.
type memoryKeeper struct {
	launch.Keeper // for the calls that no test makes
	exits         chan keeper.Child
	program       func(c *memoryChild) // called for each child that starts; may be nil

	mu       sync.Mutex
	children map[string]*memoryChild
	started  int
	isFull   bool // it has no descriptor left to duplicate a terminal
}

func newMemoryKeeper() *memoryKeeper {
	return &memoryKeeper{exits: make(chan keeper.Child, 1000), children: map[string]*memoryChild{}}
}

// A memoryChild is a child of a memoryKeeper.
type memoryChild struct {
	keeper.Child
	spec          keeper.Spec
	keeper        *memoryKeeper
	master, slave *os.File // of its terminal; nil without one
}

// firstFakePID is beyond the kernel's largest PID.
const firstFakePID = 1 << 23

// PID returns the PID of the test, because the keeper must be a process that exists.
func (*memoryKeeper) PID() int                     { return os.Getpid() }
func (*memoryKeeper) Ready() error                 { return nil }
func (*memoryKeeper) Close() error                 { return nil }
func (*memoryKeeper) Pause(context.Context) error  { return nil }
func (k *memoryKeeper) Exits() <-chan keeper.Child { return k.exits }

func (k *memoryKeeper) Start(_ context.Context, s keeper.Spec) (keeper.Child, *os.File, error) {
	if _, err := keeper.LookPath(s.Argv[0], s.CWD, s.Env); err != nil {
		return keeper.Child{}, nil, err
	}
	boot, err := store.BootID()
	if err != nil {
		return keeper.Child{}, nil, err
	}
	c := &memoryChild{spec: s, keeper: k}
	var master *os.File
	if s.TTY {
		if c.master, c.slave, err = pty.Open(); err == nil {
			master, err = c.duplicateMaster()
		}
		if err != nil {
			return keeper.Child{}, nil, err
		}
	} else {
		c.print("") // creates the log
	}
	k.mu.Lock()
	k.started++
	c.Child = keeper.Child{ID: s.ID, PID: firstFakePID + k.started, StartTime: 7, BootID: boot, TTY: s.TTY}
	k.children[s.ID] = c
	k.mu.Unlock()
	if k.program != nil {
		k.program(c)
	}
	return c.Child, master, nil
}

func (k *memoryKeeper) List(context.Context) (all []keeper.Child, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.children {
		all = append(all, c.Child)
	}
	return all, nil
}

func (k *memoryKeeper) Master(_ context.Context, id string) (*os.File, error) {
	k.mu.Lock()
	c, isFull := k.children[id], k.isFull
	k.mu.Unlock()
	if isFull {
		return nil, unix.EMFILE
	}
	return c.duplicateMaster()
}

func (k *memoryKeeper) Adopt(context.Context, keeper.Child, string, keeper.Logs, *os.File) error {
	return nil
}

func (k *memoryKeeper) Forget(_ context.Context, id string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.children, id)
	return nil
}

func (k *memoryKeeper) setFull(isFull bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.isFull = isFull
}

func (k *memoryKeeper) child(id string) *memoryChild {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.children[id]
}

func (k *memoryKeeper) closeTerminals() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.children {
		if c.TTY {
			c.master.Close()
			c.slave.Close()
		}
	}
}

func (c *memoryChild) duplicateMaster() (*os.File, error) {
	fd, err := unix.FcntlInt(c.master.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	return os.NewFile(uintptr(fd), "pty"), err
}

// print prints to the terminal, or appends to the log.
func (c *memoryChild) print(text string) {
	out := c.slave
	if !c.TTY {
		var err error
		if out, err = os.OpenFile(c.spec.Stdout, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600); err != nil {
			panic(err)
		}
		defer out.Close()
	}
	if _, err := out.WriteString(text); err != nil {
		panic(err)
	}
}

// mark returns a mark of a shell's prompt or command (OSC 133).
func (c *memoryChild) mark(text string) string {
	return "\x1b]133;" + text + ";aid=" + c.variable(prompt.NonceVariable) + "\a"
}

// prompt shows the prompt of a shell.
func (c *memoryChild) prompt() { c.print(c.mark("A") + "$ " + c.mark("B")) }

// run shows what a shell prints for a command line, without the command's exit.
func (c *memoryChild) run(line, output string) {
	c.print("\r\n\x1b]633;E;" + line + ";" + c.variable(prompt.NonceVariable) + "\a" + c.mark("C") + output)
}

// variable returns the value of an environment variable of the child.
func (c *memoryChild) variable(name string) (value string) {
	for _, pair := range c.spec.Env {
		if len(pair) > len(name) && pair[:len(name)+1] == name+"=" {
			value = pair[len(name)+1:]
		}
	}
	return value
}

// exit lets the child exit.
func (c *memoryChild) exit(e keeper.Exit) {
	if c.TTY {
		c.slave.Close()
	}
	c.keeper.mu.Lock()
	c.Exit = &e
	exited := c.Child
	c.keeper.mu.Unlock()
	c.keeper.exits <- exited
}

// exitAtStop makes the child exit as if it had received the engine's signals. There is no process
// that could receive them.
func (c *memoryChild) exitAtStop(t testing.TB, e keeper.Exit) {
	t.Helper()
	text, err := json.Marshal(store.Exit{Schema: 1, Identity: supervise.IdentityOf(c.Child), Code: e.Code, Signal: e.Signal, ExitedAt: time.Now()})
	if err == nil {
		err = os.WriteFile(filepath.Join(c.spec.Dir, "exit.json"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if c.TTY {
		c.slave.Close()
	}
}

// exitCode returns an exit with a code.
func exitCode(n int) keeper.Exit { return keeper.Exit{Code: &n} }

// A memoryMachine is an engine in the test's own process with a memoryKeeper.
type memoryMachine struct {
	*machine
	keeper *memoryKeeper
	stop   func() // stops the engine
}

func startInMemory(t testing.TB) *memoryMachine {
	t.Helper()
	dir, err := os.MkdirTemp("", "td") // short, for the sockets
	if err != nil {
		t.Fatal(err)
	}
	m := &memoryMachine{machine: &machine{TB: t, dir: dir}, keeper: newMemoryKeeper()}
	t.Cleanup(func() {
		m.stop()
		m.keeper.closeTerminals()
		if m.checkInvariants(); t.Failed() {
			t.Log(m.log())
		}
		os.RemoveAll(dir)
	})
	m.startEngine()
	return m
}

// startEngine starts the engine and waits until it answers.
func (m *memoryMachine) startEngine() {
	m.Helper()
	log, err := os.OpenFile(filepath.Join(m.dir, datadir.EngineLog), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		m.Fatal(err)
	}
	o := Options{
		DataDir: m.dir, Version: "1.2.3", Settings: Settings{Engine: settings.Defaults().Engine, Agents: settings.Agents{Resume: host.ResumeOffer},
			Machines: []transport.Machine{{Name: "box", Transport: []string{"false"}}}}, // nobody can reach it
		dial: func(context.Context) (launch.Keeper, error) { return m.keeper, nil }, stderr: log,
	}
	o.Shell = []string{"/bin/sh"}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		defer log.Close()
		ended <- Run(ctx, o)
	}()
	m.stop = func() {
		cancel()
		if err := <-ended; err != nil {
			m.Errorf("the engine: %v", err)
		}
	}
	m.eventually("an engine", func() bool {
		m.client, err = client.Connect(m.Context(), m.options())
		return err == nil
	})
	m.Cleanup(m.client.Close)
}

// restart replaces the engine. The keeper stays.
func (m *memoryMachine) restart() {
	m.Helper()
	m.stop()
	m.startEngine()
}

// reboot replaces engine and keeper, and makes the records those of another boot.
func (m *memoryMachine) reboot() {
	m.Helper()
	m.loseBoth(func(*store.Record) {})
	m.startEngine()
}

// loseBoth stops engine and keeper in a boot before this one, and changes the records.
func (m *memoryMachine) loseBoth(change func(*store.Record)) {
	m.Helper()
	m.stop()
	m.stop = func() {}
	m.keeper.closeTerminals()
	m.keeper = newMemoryKeeper()
	m.changeRecords(func(r *store.Record) {
		if r.Identity != nil {
			r.Identity.BootID = "another boot"
		}
		change(r)
	})
}

// child returns the child of a process.
func (m *memoryMachine) child(p api.Process) *memoryChild {
	m.Helper()
	c := m.keeper.child(p.ID)
	if c == nil {
		m.Fatalf("%s has no child", p.ID)
	}
	return c
}

// awaitRun waits for a run of a process after the one with a PID, and returns its child.
func (m *memoryMachine) awaitRun(p api.Process, after int) *memoryChild {
	m.Helper()
	m.awaitProcess(p.ID, "running again", func(now api.Process) bool { return now.State == api.StateRunning && now.PID != after })
	return m.child(p)
}

// kill kills a session whose program exits at SIGHUP.
func (m *memoryMachine) kill(p api.Process) api.Process {
	m.Helper()
	m.child(p).exitAtStop(m, keeper.Exit{Signal: "SIGHUP"})
	return call(m.machine, api.SessionKill, api.IDInput{ID: p.ID})
}

// stopProcess stops a process whose program exits at a signal.
func (m *memoryMachine) stopProcess(p api.Process, signal string) api.Process {
	m.Helper()
	m.child(p).exitAtStop(m, keeper.Exit{Signal: signal})
	return call(m.machine, api.ProcessStop, api.ProcessStopInput{ID: p.ID, Signal: signal})
}
