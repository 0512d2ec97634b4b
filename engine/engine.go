package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"tandem/engine/agent/approval"
	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/base/panics"
	"tandem/engine/base/secrets"
	"tandem/engine/control/host"
	"tandem/engine/control/launch"
	"tandem/engine/control/usage"
	"tandem/engine/record/history"
	"tandem/engine/record/kept"
	"tandem/engine/record/outputs"
	"tandem/engine/record/scrub"
	"tandem/engine/remote/all"
	"tandem/engine/remote/fleet"
	"tandem/engine/remote/hosts"
	"tandem/engine/remote/hosts/transport"
	"tandem/engine/service"
	"tandem/engine/service/startrules"
	"tandem/engine/system/keeper"
	"tandem/persist/datadir"
	"tandem/persist/inotify"
	"tandem/persist/store"
)

// Options configure an engine. DataDir is required.
type Options struct {
	DataDir  string   // the data directory, absolute
	Version  string   // reported to clients, and to programs as TERM_PROGRAM_VERSION
	Settings          // the settings at the start
	Keeper   []string // arguments that make this executable a keeper; default "keeper"

	// Follow calls tell after each change of the settings, with an error if they cannot be read,
	// until ctx ends. If Follow is nil, the settings never change.
	Follow func(ctx context.Context, tell func(Settings, error))

	// Watches is shared by all parts of this process that watch files. If it is nil, the engine
	// makes its own.
	Watches *inotify.Pool

	// ReadMachines reads the configured machines if the file may have changed since the last call.
	// Thus a machine can be reached before Follow has reported it. If ReadMachines is nil, the
	// machines never change.
	ReadMachines func() (machines []transport.Machine, changed bool, err error)

	AgentRules string // directory of the user's rules for coding agents; "" for none
	Policy     string // path of policy.toml, the user's rules for agents; "" for none
	// Sandbox reads the sandbox configured for agents. It also applies to agents from other
	// machines. If Sandbox is nil, there is none.
	Sandbox    func() (*api.Sandbox, error)
	IdleExpiry time.Duration // unused sessions of agents are stopped after this; default 30 minutes, negative: never

	dial   func(ctx context.Context) (launch.Keeper, error) // connects to the keeper; default: over its socket
	stderr *os.File                                         // default: os.Stderr
}

func (o Options) withDefaults() Options {
	if o.IdleExpiry == 0 {
		o.IdleExpiry = 30 * time.Minute
	}
	if o.Watches == nil {
		o.Watches = new(inotify.Pool)
	}
	if len(o.Keeper) == 0 {
		o.Keeper = []string{"keeper"}
	}
	if o.dial == nil {
		o.dial = func(ctx context.Context) (launch.Keeper, error) { return dialKeeper(ctx, o.DataDir) }
	}
	o.stderr = cmp.Or(o.stderr, os.Stderr)
	return o
}

// An engine holds what Run assembles: the host that starts programs, and the services.
type engine struct {
	o          Options
	lock       *folderLock
	log        *slog.Logger
	startedAt  time.Time
	serving    chan struct{} // closed once clients can connect
	ownLog     *ownLog
	fault      error                   // why the data directory was not writable at start; nil if it was
	stop       func()                  // stops the engine
	stoppedAll atomic.Bool             // the user stopped everything; set before stop
	socket     func() string           // returns the path that clients connect to
	upgrade    atomic.Pointer[upgrade] // what replaces this program; nil if nobody has asked for it
	host       *host.Host
	inherited  *inheritance // from the former program of this process; nil if there was none
	store      *store.Store
	bootID     string
	env        *service.Env
	privacy    startrules.Privacy
	files      *service.Files
	layouts    *service.Layouts
	arbiter    *approval.Arbiter
	usage      *usage.Meter
	others
}

// The others are the engines of other machines, and the connections to them.
type others struct {
	hosts    *hosts.Hosts
	fleet    *fleet.Fleet
	machines all.Machines
}

// Run serves the data directory until ctx ends or a client stops the engine, and then returns nil.
// Sessions and processes keep running under the keeper. The engine logs to standard error. If a
// client upgrades the engine, Run does not return: another program continues in this process.
func Run(ctx context.Context, o Options) (err error) {
	o = o.withDefaults()
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + outputs.Workers) // they run at a low priority
	out := newOwnLog(filepath.Join(o.DataDir, datadir.EngineLog), o.stderr)
	log := newLogger(out)
	data, fault := store.Open(o.DataDir)
	if data == nil {
		return fault
	}
	data.Flusher.Failed = func(err error) { log.Error("write to disk", "error", err) }
	defer data.Flusher.Flush()
	inherited := inherit(log)
	lock, err := lockFolder(o.DataDir, inherited.takeLock())
	if err != nil {
		return err
	}
	defer lock.Close()
	unfinished := scrub.Finish(o.DataDir) // before anything else is read
	bootID, err := store.BootID()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	closed := api.ClosedFolders(o.DataDir, o.Policy)
	e := &engine{o: o, startedAt: time.Now(), serving: make(chan struct{}), inherited: inherited, store: data, bootID: bootID, lock: lock, log: log, ownLog: out, fault: fault, stop: cancel}
	h := host.New(ctx, host.Options{
		DataDir: o.DataDir, Version: o.Version, Log: log, Store: data, BootID: bootID, Inherited: inherited.openTerminals(),
		AgentRules: o.AgentRules, Closed: closed,
	})
	e.host = h
	e.report("scrub", unfinished)
	e.env, err = service.NewEnv(data, log)
	e.report("load environment", err)
	h.Launcher.Env = e.env.All
	e.privacy.SetFolders(o.History.Private)
	e.layouts, err = service.NewLayouts(data)
	e.report("load layouts", err)
	e.report("shells start without prompt marks", h.Apply(o.Engine, o.Agents.Resume))
	defer func() { // after everything else has stopped
		if u := e.upgrade.Load(); u != nil {
			u.stopped.Store(true)
			data.Flusher.Flush()
			u.before()
			err = cmp.Or(u.execute(e), err)
		}
		if h.Link != nil {
			h.Link.Close()
		}
	}()
	e.usage = usage.NewMeter(h.Control.Measurables, &h.Table, o.DataDir)
	e.files = service.NewFiles(ctx, o.DataDir, closed, log)
	e.files.Watches = o.Watches
	e.layouts.Ended, e.layouts.Publish = h.Control.ListEndedIDs, h.Control.Publish
	e.arbiter = approval.New(o.Policy, log, h.Control.Publish)
	e.arbiter.Keep(data)
	e.fleet = e.newFleet()
	e.hosts = &hosts.Hosts{DataDir: o.DataDir, Origin: ownName(), Environ: ownEnviron(), Log: log, Fleet: e.fleet, Read: o.ReadMachines, Tell: func(m api.Machine) { e.noteMachine(&m) }}
	e.machines.Log, e.machines.Connect, e.machines.Known = log, e.connectMachine, e.hosts.Knows
	e.machines.List = func(ctx context.Context) api.MachineListOutput { return e.hosts.List(ctx, 0) }
	e.machines.Start(ctx)
	e.hosts.Start(ctx)
	e.hosts.Set(o.Machines)
	e.files.Machines = func(ctx context.Context, machine string) (api.Engine, error) {
		return e.hosts.Engine(ctx, machine, "engine", "")
	}
	h.Kept = kept.Start(ctx, o.DataDir, h.Logs, log, h.Control.PublishNotice, e.serving)
	h.Kept.Written = data.Flusher.Add
	h.Kept.KeepFor(o.History.KeepOutput.Value())
	defer h.Kept.Close()
	h.History = history.Start(o.DataDir, o.History.Ignore, log, h.Control.PublishNotice, e.serving)
	defer h.History.Close()
	h.History.OnChange(func(n int64) {
		data.Flusher.Add(filepath.Join(o.DataDir, datadir.History+"-wal"))
		h.Control.Publish(api.Event{Type: api.EventHistory, History: n})
	})
	h.Control.History = h.History
	return e.run(ctx)
}

// report logs an error that occurred while the engine started, and shows it to the user. The engine
// serves its sessions nevertheless.
func (e *engine) report(what string, err error) {
	if err != nil {
		e.log.Error(what, "error", err)
		e.host.Problems = append(e.host.Problems, err.Error())
	}
}

// newLogger returns a logger to out that redacts secrets.
func newLogger(out io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{ReplaceAttr: secrets.RedactAttr}))
}

// run connects to the keeper, adopts its children, and serves.
func (e *engine) run(ctx context.Context) error {
	// Deferred calls run in reverse: sessions are closed, then waited for.
	defer e.host.Wait()
	defer e.closeSessions()
	client, err := e.connectKeeper(ctx)
	if err != nil {
		return err
	}
	e.host.Control.OnLeft = e.env.Forget
	e.host.Control.ReapAfter(e.o.Settings.Agents.ReapAfter.Value())
	e.host.Control.AwaitOwners(e.env.Owners())
	return e.serve(ctx, client)
}

// serve runs all services until ctx ends, and then waits for them. Clients can connect once the
// table of processes is complete and on disk.
func (e *engine) serve(ctx context.Context, client launch.Keeper) error {
	var running sync.WaitGroup
	running.Go(e.host.Control.Run)
	running.Go(func() { e.host.Link.Run(ctx) })
	defer func() {
		e.stop()
		running.Wait()
		if u := e.upgrade.Load(); u != nil {
			u.terminals = e.host.KeepTerminals()
		}
	}()
	written, err := e.host.Control.WhenWritten(ctx)
	if err != nil {
		return nil // failed to start
	}
	select {
	case <-written:
	case <-ctx.Done():
		return nil
	}
	e.host.DescribeEngine(time.Time{}, false) // what it says about the previous engine has been used
	running.Go(panics.Logged(e.log, "description of this engine", func() {
		<-ctx.Done()
		e.host.DescribeEngine(time.Now(), e.stoppedAll.Load())
	}))
	first, err := e.listen()
	if err != nil {
		return err
	}
	listener := server.NewLasting(first)
	e.socket = listener.Path
	if err := client.Ready(); err != nil && !errors.Is(err, keeper.ErrLost) { // the link calls Ready on the next keeper
		listener.Close()
		return fmt.Errorf("tell keeper that the engine is ready: %v", err)
	}
	e.inherited.stopDeadline()
	close(e.serving)
	// Rebuilding screens takes time, so it starts only now: until here, all clients wait.
	e.host.AllowReplays()
	loop := func(what string, f func()) { running.Go(panics.Restarted(ctx, e.log, what, f)) }
	loop("watch of the data folder", func() { e.watchFolder(ctx, listener) })
	loop("end of idle sessions", func() { e.host.StopIdle(ctx, e.o.IdleExpiry) })
	loop("policy", func() { e.arbiter.Follow(ctx) })
	mux := e.newMux()
	e.fleet.Accept = func(c net.Conn, v fleet.Visitor) error { return mux.Receive(c, service.OriginOf(v)) }
	loop("configuration", func() {
		e.fleet.Set(e.o.Fleet)
		e.followSettings(ctx)
	})
	loop("what was unreachable", func() { e.host.AdoptLater(ctx) })
	loop("folders of sessions", func() { e.host.RecordFolders(ctx) })
	loop("files that the user's tools run", func() { e.host.Launcher.Tampers.Run(ctx) })
	loop("usage", func() { e.usage.Sample(ctx) })
	e.log.Info("ready", "pid", os.Getpid(), "keeper", client.PID(), "version", e.o.Version)
	err = mux.Serve(ctx, listener)
	e.log.Info("end", "error", err)
	return err
}

// closeSessions releases everything that the engine has open. The keeper still holds the terminals.
// The control goroutine must have stopped.
func (e *engine) closeSessions() {
	e.host.Close()
	e.files.Close()
	e.machines.Close()
	e.hosts.Close()
	e.fleet.Close()
}

// folderCheck is the interval between checks of the data directory and the socket.
const folderCheck = time.Minute
