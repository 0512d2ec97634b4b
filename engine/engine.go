package engine

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"tandem/engine/access"
	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/approval"
	"tandem/engine/history"
	"tandem/engine/keeper"
	"tandem/engine/logs"
	"tandem/engine/proctree"
	"tandem/engine/secrets"
	"tandem/engine/service"
	"tandem/engine/supervise"
	"tandem/engine/terminal"
	"tandem/persist/store"
)

// Options configure an engine. DataDir is required.
type Options struct {
	DataDir  string   // the data folder, absolute
	Version  string   // told to clients, and to programs as TERM_PROGRAM_VERSION
	Settings          // what holds at first
	Keeper   []string // arguments that make this executable a keeper; default "keeper"

	// Follow calls tell with every change of the settings, or with why they cannot
	// be used, until ctx ends; nil: they stay.
	Follow func(ctx context.Context, tell func(Settings, error))

	Policy     string        // path of policy.toml, the person's rules for agents; "" for none
	IdleExpiry time.Duration // sessions of agents that nobody uses are ended after this; default 30 minutes, negative: never
}

func (o Options) withDefaults() Options {
	o.Settings = o.Settings.withDefaults()
	if o.IdleExpiry == 0 {
		o.IdleExpiry = 30 * time.Minute
	}
	if len(o.Keeper) == 0 {
		o.Keeper = []string{"keeper"}
	}
	return o
}

// Run serves the data folder until ctx ends or a client stops the engine; it
// then returns nil. Sessions and processes go on in the keeper. Its log goes to
// standard error.
func Run(ctx context.Context, o Options) error {
	o = o.withDefaults()
	out := newOwnLog(filepath.Join(o.DataDir, "engine.log"))
	log := newLogger(out)
	data, fault := store.Open(o.DataDir)
	if data == nil {
		return fault
	}
	lock, err := lockFolder(o.DataDir)
	if err != nil {
		return err
	}
	defer lock.Close()
	bootID, err := store.BootID()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h := &host{
		o:       o,
		lock:    lock,
		log:     log,
		ownLog:  out,
		store:   data,
		fault:   fault,
		bootID:  bootID,
		cgroups: proctree.CgroupFolder(),
		replays: make(chan struct{}, replaysAtOnce),
		chunks:  terminal.NewChunks(),
		stop:    cancel,
		logs:    logs.New(log),
	}
	h.closed = []string{o.DataDir}
	if o.Policy != "" {
		h.closed = append(h.closed, filepath.Dir(o.Policy))
	}
	h.holdReplays()
	h.gate.log = log
	h.arbiter = approval.New(o.Policy, log, func(e api.Event) { h.control.Tell(e) })
	h.guard = &access.Guard{
		DataDir: o.DataDir, BootID: bootID, SandboxPath: data.SandboxPath,
		KeeperPID: func() int { return h.link.pid() },
		Visit: func(ctx context.Context, f func(store.Record, *terminal.Session)) error {
			return h.control.Visit(ctx, func(e supervise.Entry) { f(e.Rec, e.Session) })
		},
	}
	if h.env, err = service.NewEnv(data, log); err != nil {
		log.Error("load environment", "error", err)
		h.problems = append(h.problems, err.Error())
	}
	if h.layouts, err = service.NewLayouts(data); err != nil {
		log.Error("load layouts", "error", err)
		h.problems = append(h.problems, err.Error())
	}
	if err := h.set(o.Settings); err != nil {
		log.Error("shells are started as they are", "error", err)
		h.problems = append(h.problems, err.Error())
	}
	h.control = supervise.NewControl(ctx, h, log)
	h.files = service.NewFiles(ctx, o.DataDir, h.closed)
	h.layouts.Ended, h.layouts.Tell = h.control.EndedIDs, h.control.Tell
	h.history = history.Start(o.DataDir, o.HistoryIgnore, log, func(text string) {
		h.control.TellNotice(text)
	})
	defer h.history.Close()
	h.history.Tell(func(n int64) {
		h.control.Tell(api.Event{Type: api.EventHistory, History: n})
	})
	h.control.History = h.history
	return h.run(ctx)
}

// newLogger makes the engine's log, which holds no secrets.
func newLogger(out io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{ReplaceAttr: secrets.RedactAttr}))
}

// run connects to the keeper, takes over what is there, and serves.
func (h *host) run(ctx context.Context) error {
	socket, keeperSocket := api.Sockets(h.o.DataDir)
	client, err := keeper.Dial(ctx, keeperSocket)
	if err != nil {
		return err
	}
	if err := h.goOnWithoutWriting(ctx, client); err != nil {
		client.Close()
		return err
	}
	h.link = newLink(client)
	h.link.log = h.log
	h.link.start = h.startKeeper
	h.link.dial = func(ctx context.Context) (keeperClient, error) { return keeper.Dial(ctx, keeperSocket) }
	h.link.charges = h.charges
	h.link.exited = h.exited
	h.link.notice = h.control.TellNotice

	defer h.sessions.Wait()
	defer h.closeSessions()
	if err := h.takeStock(ctx, h.control, client); err != nil {
		client.Close()
		return err
	}
	h.control.Left = h.env.Forget
	h.control.ReapAfter(h.o.ReapAfter)
	h.control.AwaitOwners(h.env.Owners())
	return h.serve(ctx, socket, client)
}

// goOnWithoutWriting decides whether an engine is of use that can save nothing: if
// there are sessions or processes, so that they stay in reach.
func (h *host) goOnWithoutWriting(ctx context.Context, client keeperClient) error {
	if h.fault == nil {
		return nil
	}
	children, err := client.List(ctx)
	if err != nil {
		return fmt.Errorf("list children: %w", err)
	}
	if records, _ := h.store.Load(); len(children) == 0 && len(records) == 0 {
		return h.fault
	}
	h.log.Error("nothing can be saved", "error", h.fault)
	return nil
}

// unsaved tells that nothing can be saved, for as long as that is so; "" if it can.
func (h *host) unsaved() string {
	if h.fault == nil {
		return ""
	}
	if _, err := store.Open(h.o.DataDir); err != nil {
		return "nothing can be saved: " + err.Error()
	}
	return ""
}

// startKeeper gets a new keeper. Without its data folder an engine is of no use
// to anybody: it ends, and does not bring the folder back.
func (h *host) startKeeper(ctx context.Context) error {
	if !holdsFolder(h.lock, h.o.DataDir) {
		h.stop()
		return fmt.Errorf("start keeper: the data folder %s was deleted", h.o.DataDir)
	}
	return startKeeper(ctx, h.o.Keeper, h.o.DataDir)
}

// serve runs everything until ctx ends, then nothing any more. Clients can
// connect once the table is complete and on disk.
func (h *host) serve(ctx context.Context, socket string, client keeperClient) error {
	var running sync.WaitGroup
	running.Go(h.control.Run)
	running.Go(func() { h.link.run(ctx) })
	defer func() {
		h.stop()
		running.Wait()
		h.link.close()
	}()
	written, err := supervise.Ask(ctx, h.control, h.control.Written)
	if err != nil {
		return nil // failed to start
	}
	select {
	case <-written:
	case <-ctx.Done():
		return nil
	}
	listener, err := server.Listen(socket)
	if err != nil && h.fault != nil {
		listener, err = server.Listen(api.SpareSocket(h.o.DataDir))
	}
	if err != nil {
		return err
	}
	if err := client.Ready(); err != nil {
		listener.Close()
		return fmt.Errorf("tell keeper that the engine is ready: %v", err)
	}
	h.allowReplays()
	running.Go(func() { h.watchFolder(ctx) })
	running.Go(func() { h.expireIdle(ctx) })
	running.Go(func() { h.followSettings(ctx) })
	h.log.Info("ready", "pid", os.Getpid(), "keeper", client.PID(), "version", h.o.Version)
	err = h.mux().Serve(ctx, listener)
	h.log.Info("end", "error", err)
	return err
}

// holdReplays keeps screens from being rebuilt until the engine answers: each of
// them can wait, and all clients wait for the engine.
func (h *host) holdReplays() {
	for range cap(h.replays) {
		h.replays <- struct{}{}
	}
}

func (h *host) allowReplays() {
	for range cap(h.replays) {
		<-h.replays
	}
}

// closeSessions lets go of all terminals; the keeper holds them on. It runs
// when the control goroutine does not any more.
func (h *host) closeSessions() {
	h.control.Close()
	h.logs.Close()
	h.gate.close()
	h.files.Close()
}

// folderCheck is the time between looks at whether the data folder is there.
const folderCheck = time.Minute

// watchFolder ends engine and keeper when somebody has deleted the data folder
// and nothing runs any more: nobody could reach them again. It also bounds what
// the runtime has written to engine.log, which does not go through h.log.
func (h *host) watchFolder(ctx context.Context) {
	tick := time.NewTicker(folderCheck)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		h.ownLog.bound()
		if holdsFolder(h.lock, h.o.DataDir) {
			continue
		}
		running, err := supervise.Ask(ctx, h.control, h.control.Running)
		if err != nil || running > 0 {
			continue
		}
		h.log.Warn("the data folder is gone and nothing runs: ending")
		if client, err := h.link.get(ctx); err == nil {
			err = client.Pause(ctx)
			h.log.Info("pause keeper", "error", err)
		}
		h.stop()
		return
	}
}
