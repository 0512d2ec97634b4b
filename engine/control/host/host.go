package host

import (
	"cmp"
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/agent/access"
	"tandem/engine/agent/coding"
	"tandem/engine/api"
	"tandem/engine/base/panics"
	"tandem/engine/control/launch"
	"tandem/engine/control/observe"
	"tandem/engine/control/supervise"
	"tandem/engine/record/history"
	"tandem/engine/record/kept"
	"tandem/engine/record/logs"
	"tandem/engine/record/outputs"
	"tandem/engine/session/prompt"
	"tandem/engine/session/terminal"
	"tandem/engine/system/keeper"
	"tandem/engine/system/proctree"
	"tandem/engine/system/sandbox"
	"tandem/persist/store"
)

// maxReplays limits how many screens are rebuilt at a time.
const maxReplays = 2

// Options describe a host.
type Options struct {
	DataDir    string // the data directory, absolute
	Version    string // for programs, as TERM_PROGRAM_VERSION
	Log        *slog.Logger
	Store      *store.Store
	BootID     string
	Inherited  InheritedTerminals
	AgentRules string   // directory of the user's rules for coding agents; "" for none
	Closed     []string // directories closed to agents: they hold rules for agents and records of other clients' actions
}

// A Host is the executor of the control loop in a real engine. It owns records, sessions and
// process trees. Its launcher starts children, and its observer watches them.
type Host struct {
	Control  *supervise.Control
	Launcher *launch.Launcher
	Observer *observe.Observer
	Logs     *logs.Logs
	Agents   *coding.Registry
	Table    proctree.Table
	Link     *launch.Link     // set before RestoreTable
	History  *history.History // set before RestoreTable
	Kept     *kept.Output     // set before RestoreTable
	Problems []string         // found at start, shown to the user

	o        Options
	log      *slog.Logger
	store    *store.Store
	bootID   string
	previous previousEngine
	replays  chan struct{}
	chunks   *sync.Pool
	displays terminal.Displays // properties of the user's terminals
	settings settings
	private  privateSessions
	unread   atomic.Pointer[unread]
	sessions sync.WaitGroup
}

// New returns a host. Its control loop must be run, and stops when ctx ends. Screens are rebuilt
// only after AllowReplays.
func New(ctx context.Context, o Options) *Host {
	h := &Host{
		o: o, log: o.Log, store: o.Store, bootID: o.BootID,
		Logs:    logs.New(o.Log),
		replays: make(chan struct{}, maxReplays),
		chunks:  terminal.NewChunks(),
	}
	if h.o.Inherited == nil {
		h.o.Inherited = InheritedTerminals{}
	}
	h.Logs.OpenInMemory = h.private.files.Open
	h.Logs.Secret = func(session string) string { return h.settings.now().shells.Secret(session) }
	// Fill the channel, so that no screen is rebuilt yet: all clients wait for the engine to start.
	for range cap(h.replays) {
		h.replays <- struct{}{}
	}
	h.loadLastEngine()
	h.Agents = h.newRegistry(o.AgentRules)
	h.equip()
	h.Control = supervise.NewControl(ctx, h, h.Observer, o.Log)
	h.Launcher.Control, h.Observer.Control = h.Control, h.Control
	return h
}

// AllowReplays lets screens be rebuilt.
func (h *Host) AllowReplays() {
	for range cap(h.replays) {
		<-h.replays
	}
}

// Close releases all terminals; the keeper still holds them open. The control goroutine must have
// stopped. Use Wait to wait until the sessions are closed.
func (h *Host) Close() {
	h.Control.Close()
	h.Logs.Close()
	h.Launcher.Close()
}

// Wait waits until all sessions are closed.
func (h *Host) Wait() { h.sessions.Wait() }

// equip gives the host its launcher and observer.
func (h *Host) equip() {
	h.Observer = &observe.Observer{
		Log: h.log, Store: h.store, Logs: h.Logs,
		ProcessLogLimit: func() int64 { return h.settings.now().ProcessLogLimit },
	}
	h.Launcher = &launch.Launcher{
		DataDir: h.o.DataDir, Version: h.o.Version, BootID: h.bootID,
		Log: h.log, Store: h.store, Table: &h.Table, Exits: h.Observer, Closed: h.o.Closed,
		Cgroups:  proctree.Cgroups{Prefix: proctree.CgroupsOf(h.o.DataDir)},
		Proxies:  sandbox.Proxies{Log: h.log},
		Keys:     func() prompt.Keys { return h.settings.now().shells },
		StopTree: h.StopTree,
	}
	h.Launcher.Tampers.Tell = func(text string) { h.Control.PublishNotice(text) }
	h.Observer.DialerFor = h.Launcher.Proxies.DialerFor
	h.Observer.Command = h.Launcher.CommandLike
}

func (h *Host) Save(r store.Record, durable bool) error {
	if again := r.Restart.Policy != "" && r.Restart.Policy != string(api.PolicyNo); r.Transient || r.TTY && !again {
		r.Environ = nil // never needed again, and it may hold secrets
	}
	switch {
	case durable:
		return h.store.Save(r)
	case supervise.StartsAtBoot(r.Restart):
		return h.store.Write(r)
	}
	return h.store.Update(r)
}

// NoteUnconfined implements supervise.Executor. The note is for readers of the process's folder;
// the engine does not read it.
func (h *Host) NoteUnconfined(r store.Record) {
	if err := access.NoteUnconfined(h.store, r.ID); err != nil {
		h.log.Warn("note that a process is not confined", "id", r.ID, "error", err)
	}
}

// Spawn implements supervise.Executor. A child without a terminal writes its log itself.
func (h *Host) Spawn(ctx context.Context, r store.Record, former store.Identity, onWait func()) (supervise.Launch, error) {
	if ctx.Err() != nil {
		return supervise.Launch{}, h.Launcher.ErrCancelled(r)
	}
	if err := launch.CheckDescriptors(r.Name); err != nil {
		return supervise.Launch{}, err
	}
	if r.TTY {
		return h.spawnSession(ctx, r, former, onWait)
	}
	begin, errorsBegin := logs.FileSize(h.store.LogPath(r)), logs.FileSize(h.store.ErrorLogPath(r))
	s, _, err := h.Launcher.Start(ctx, r, former, onWait)
	s.LogStart, s.ErrorLogStart = begin, errorsBegin
	return s, err
}

// ClearPredecessor implements supervise.Executor. The terminal of the previous run may still have
// the log open, and other processes of the run may hold ports and files.
func (h *Host) ClearPredecessor(ctx context.Context, r store.Record, before supervise.Predecessor) error {
	if before.Live != nil {
		select {
		case <-before.Live.Gone():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if before.Identity.PID == 0 {
		return nil
	}
	r.Identity = &before.Identity
	return h.StopTree(ctx, r, before.AliveUntil, "")
}

// spawnSession opens the log before it starts the child, so that all output can be recorded.
func (h *Host) spawnSession(ctx context.Context, r store.Record, former store.Identity, onWait func()) (supervise.Launch, error) {
	log, err := h.openLog(r)
	if err != nil {
		return supervise.Launch{}, err
	}
	begin := log.End()
	resume := h.planResumption(r, former)
	if resume.instead {
		r.Argv, r.CWD = resume.Argv, cmp.Or(resume.CWD, r.CWD)
	}
	// The size must be on disk before the first output, or a replay would use the previous size.
	if err := h.private.journalFor(r, h.store).AppendResize(r.ID, store.Resize{Offset: begin, Cols: r.Cols, Rows: r.Rows}); err != nil {
		log.Close()
		return supervise.Launch{}, err
	}
	s, master, err := h.Launcher.Start(ctx, r, former, onWait)
	if err != nil {
		log.Close()
		return supervise.Launch{}, err
	}
	id := supervise.IdentityOf(s.Child)
	r.Identity = &id
	below := r.Interrupted != nil || former.BootID != "" && former.BootID != h.bootID
	live := h.newSession(r, master, log, screenStart{new: true, below: below})
	s.Live, s.LogStart, s.Typed, s.Typing = live, begin, resume.typed, resume.typing()
	return s, nil
}

// TypeCommand implements supervise.Executor.
func (h *Host) TypeCommand(r store.Record, live supervise.Session, note func(context.Context) error) {
	s := live.(*terminal.Session)
	go panics.Logged(h.log, "command of the former run", func() { s.TypeAtPrompt(r.Typed, r.Typing == store.TypingRun, note) })()
}

// stopSteps returns the signals and timeouts for stopping a record's tree.
func stopSteps(r store.Record, signal string) []proctree.Step {
	if signal == "" {
		signal = r.StopSignal
	}
	if signal == "" && r.TTY {
		return proctree.TerminalSteps(time.Duration(r.StopTimeoutMS) * time.Millisecond)
	}
	number, err := proctree.ParseSignal(signal)
	if err != nil {
		number = unix.SIGTERM
	}
	return proctree.StopSteps(number, supervise.StopTimeout(r))
}

func (h *Host) ForgetChild(id string) {
	h.Launcher.Release(id)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	client, err := h.Link.Await(ctx)
	if err == nil {
		err = client.Forget(ctx, id)
	}
	if err != nil {
		h.log.Warn("forget child", "id", id, "error", err)
	}
}

// Keep implements supervise.Executor.
func (h *Host) Keep(ended []supervise.Entry) (drop func(ids []string)) {
	var runs []outputs.Target
	for _, e := range ended {
		if e.View.ID == "" || e.Rec.Private { // never announced, or not to be on disk
			continue
		}
		if e.Rec.TTY && e.Session == nil {
			h.logSize(e.Rec) // truncates the log to its content
		}
		runs = append(runs, outputs.Target{Process: e.View, Source: e.Source()})
	}
	return h.Kept.Keep(runs)
}

func (h *Host) Remove(id string, durable bool) error {
	h.Launcher.Release(id)
	dir := h.store.Dir(id)
	h.private.remove(id, filepath.Join(dir, store.LogName))
	h.Logs.Forget(filepath.Join(dir, store.LogName), filepath.Join(dir, store.StdoutName), filepath.Join(dir, store.StderrName))
	if durable {
		return h.store.Remove(id)
	}
	return h.store.Discard(id)
}

// ListOffers returns the children that a new keeper must look after.
func (h *Host) ListOffers(ctx context.Context) []launch.Offer {
	var all []launch.Offer
	err := h.Control.Visit(ctx, func(e supervise.Entry) {
		who := e.Rec.Identity
		if who == nil || e.State.Ended() {
			return
		}
		c := launch.Offer{
			Child: keeper.Child{ID: e.Rec.ID, PID: who.PID, StartTime: who.StartTime, BootID: who.BootID, TTY: e.Rec.TTY},
			Dir:   h.store.Dir(e.Rec.ID),
			Logs:  h.Observer.LogsOf(e.Rec),
		}
		if e.Session != nil {
			c.Master = e.Session.Master()
		}
		all = append(all, c)
	})
	if err != nil {
		return nil // the engine is exiting, and the list is incomplete
	}
	return all
}
