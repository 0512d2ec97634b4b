package engine

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
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
	"tandem/engine/record/logs"
	"tandem/engine/screen/vt"
	"tandem/engine/screen/vt10x"
	"tandem/engine/session/prompt"
	"tandem/engine/session/terminal"
	"tandem/engine/system/keeper"
	"tandem/engine/system/proctree"
	"tandem/engine/system/sandbox"
	"tandem/persist/inputnotes"
	"tandem/persist/ptylog"
	"tandem/persist/store"
)

// maxReplays limits how many screens are rebuilt at a time.
const maxReplays = 2

// A host is the executor of a real engine: it owns records, sessions and whole trees. The launcher
// starts its children, and the observer watches them.
type host struct {
	o         Options
	log       *slog.Logger
	store     *store.Store
	bootID    string
	previous  previousEngine
	link      *launch.Link
	launcher  *launch.Launcher
	observer  *observe.Observer
	control   *supervise.Control
	replays   chan struct{}
	chunks    *sync.Pool
	displays  terminal.Displays // properties of the user's terminals
	table     proctree.Table
	history   *history.History
	logs      *logs.Logs
	settings  liveSettings
	agents    *coding.Registry
	problems  []string // found at start, shown to the user
	unread    atomic.Pointer[unread]
	inherited *inheritance // from the former program of this process; nil if there was none
	sessions  sync.WaitGroup
}

// equip gives the host its launcher and observer. closed are the directories closed to agents: they
// hold the rules for agents and records of other clients' actions.
func (h *host) equip(closed []string) {
	h.observer = &observe.Observer{
		Log: h.log, Store: h.store, Logs: h.logs,
		ProcessLogLimit: func() int64 { return h.settings.now().ProcessLogLimit },
	}
	h.launcher = &launch.Launcher{
		DataDir: h.o.DataDir, Version: h.o.Version, BootID: h.bootID,
		Log: h.log, Store: h.store, Table: &h.table, Exits: h.observer, Closed: closed,
		Cgroups:  proctree.Cgroups{Prefix: proctree.CgroupsOf(h.o.DataDir)},
		Proxies:  sandbox.Proxies{Log: h.log},
		Keys:     func() prompt.Keys { return h.settings.now().shells },
		StopTree: h.StopTree,
	}
	h.launcher.Tampers.Tell = func(text string) { h.control.PublishNotice(text) }
	h.observer.DialerFor = h.launcher.Proxies.DialerFor
	h.observer.Command = h.launcher.CommandLike
}

func (h *host) Save(r store.Record, durable bool) error {
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

// NoteUnconfined implements supervise.Executor. The engine itself does not need the note.
func (h *host) NoteUnconfined(r store.Record) {
	if err := access.NoteUnconfined(h.store, r.ID); err != nil {
		h.log.Warn("note that a process is not confined", "id", r.ID, "error", err)
	}
}

// sessionLogLimit returns the limit of a terminal's log with a limit of its own, or 0.
func (h *host) sessionLogLimit(own int64) int64 {
	return max(cmp.Or(own, h.settings.now().LogLimit), terminal.MinLogLimit)
}

func (h *host) openLog(r store.Record) (terminal.Log, error) {
	sizes, err := h.store.ReadResizes(r.ID)
	if err != nil {
		return nil, err
	}
	o := ptylog.Options{Limit: h.sessionLogLimit(r.LogLimit)}
	// After a crash, NULs before the last resize are output rather than preallocated space.
	if len(sizes) > 0 {
		o.Committed = sizes[len(sizes)-1].Offset
	}
	return ptylog.Open(h.store.LogPath(r), o)
}

// Spawn implements supervise.Executor. A child without a terminal writes its log itself.
func (h *host) Spawn(ctx context.Context, r store.Record, former store.Identity, waits func()) (supervise.Launch, error) {
	if ctx.Err() != nil {
		return supervise.Launch{}, h.launcher.ErrCancelled(r)
	}
	if err := launch.CheckDescriptors(r.Name); err != nil {
		return supervise.Launch{}, err
	}
	if r.TTY {
		return h.spawnSession(ctx, r, former, waits)
	}
	begin, errorsBegin := logs.FileSize(h.store.LogPath(r)), logs.FileSize(h.store.ErrorLogPath(r))
	s, _, err := h.launcher.Start(ctx, r, former, waits)
	s.LogStart, s.ErrorLogStart = begin, errorsBegin
	return s, err
}

// ClearPredecessor implements supervise.Executor. The previous run's terminal still has the log
// open, and its other processes may hold ports and files.
func (h *host) ClearPredecessor(ctx context.Context, r store.Record, before supervise.Predecessor) error {
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
func (h *host) spawnSession(ctx context.Context, r store.Record, former store.Identity, waits func()) (supervise.Launch, error) {
	log, err := h.openLog(r)
	if err != nil {
		return supervise.Launch{}, err
	}
	begin := log.End()
	resume := h.planResumption(r, former)
	if resume.instead {
		r.Argv, r.CWD = resume.Argv, cmp.Or(resume.CWD, r.CWD)
	}
	// The size is on disk before the first output, or a replay would use another one.
	if err := h.store.AppendResize(r.ID, store.Resize{Offset: begin, Cols: r.Cols, Rows: r.Rows}); err != nil {
		log.Close()
		return supervise.Launch{}, err
	}
	s, master, err := h.launcher.Start(ctx, r, former, waits)
	if err != nil {
		log.Close()
		return supervise.Launch{}, err
	}
	id := supervise.IdentityOf(s.Child)
	r.Identity = &id
	below := r.Interrupted != nil || former.BootID != "" && former.BootID != h.bootID
	live := h.newSession(r, master, func() (terminal.Log, error) { return log, nil }, screenStart{new: true, below: below})
	s.Live, s.LogStart, s.Typed, s.Typing = live, begin, resume.typed, resume.typing()
	return s, nil
}

// TypeCommand implements supervise.Executor.
func (h *host) TypeCommand(r store.Record, live supervise.Session, note func(context.Context) error) {
	s := live.(*terminal.Session)
	go panics.Logged(h.log, "command of the former run", func() { s.TypeAtPrompt(r.Typed, r.Typing == store.TypingRun, note) })()
}

// adoptSession continues a session of an earlier engine.
func (h *host) adoptSession(r store.Record, c keeper.Child, master *os.File) supervise.Session {
	id := supervise.IdentityOf(c)
	r.Identity = &id
	s := h.newSession(r, master, func() (terminal.Log, error) { return h.openLog(r) }, screenStart{})
	if cwd, err := os.Readlink("/proc/" + strconv.Itoa(c.PID) + "/cwd"); err == nil {
		s.SetCWD(cwd)
	}
	return s
}

// ReviveSession implements supervise.Executor.
func (h *host) ReviveSession(r store.Record) *terminal.Session {
	return h.newSession(r, nil, func() (terminal.Log, error) { return h.openLog(r) }, screenStart{})
}

// A screenStart is how the screen of a session begins.
type screenStart struct {
	new   bool // with a new child
	below bool // below what earlier children printed
}

func (h *host) newSession(r store.Record, master *os.File, open func() (terminal.Log, error), start screenStart) *terminal.Session {
	h.sessions.Add(1)
	pid, nonce := 0, ""
	if !r.Sandboxed { // it could not read the scripts
		nonce = h.settings.now().shells.Nonce(r.ID, r.Argv)
	}
	if master != nil && r.Identity != nil {
		pid = r.Identity.PID
	}
	s := terminal.Start(terminal.Options{
		ID:     r.ID,
		PID:    pid,
		Nonce:  nonce,
		Secret: h.settings.now().shells.Secret(r.ID),
		Kind:   prompt.KindOf(r.Argv),
		Actor:  r.Actor,
		From:   r.From,
		Ran:    h.recordCommand,
		Show:   h.showCommand,
		Master: master,
		New:    start.new,
		Below:  start.below,
		Cols:   r.Cols,
		Rows:   r.Rows,
		Open:   open,
		Notes: func() (*inputnotes.Notes, error) {
			return inputnotes.Open(filepath.Join(h.store.Dir(r.ID), "input"))
		},
		Journal:  h.store,
		Terminal: h.newEmulator,
		Displays: &h.displays,
		Replays:  h.replays,
		Chunks:   h.chunks,
		Log:      h.log,
		Ending:   h.control.Context().Done(),
		Stamp:    func(offset int64) { h.logs.Begin(h.store.LogPath(r), offset) },
		Drained:  func() { h.control.ReportDrained(r.ID) },
		Moved:    func() { h.agents.NoteChange(r.ID) },
		Touched: func() {
			h.agents.NoteChange(r.ID)
			h.control.PublishView(r.ID)
		},
		Notice: func(text string) {
			h.control.PublishNoticeOf(r, text)
		},
	}, func() {
		h.agents.RemoveExited(r.ID)
		h.sessions.Done()
	})
	// Only a session with a running program can contain an agent.
	if master != nil {
		h.agents.Start(r.ID, pid, r.Agent, s, h.launcher.ConfinerFor(r))
	}
	s.Admit(r.Keyboard != "", r.Open)
	return s
}

// newEmulator returns the terminal emulator chosen by the user.
func (h *host) newEmulator(o vt.Options) terminal.Emulator {
	now := h.settings.now()
	o.ScrollbackLines = now.Scrollback
	if now.Emulator == "vt10x" {
		o.Grid = vt10x.New
	}
	return vt.New(o)
}

// stopSteps returns the steps for stopping a record's tree.
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

func (h *host) ForgetChild(id string) {
	h.launcher.Release(id)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	client, err := h.link.Await(ctx)
	if err == nil {
		err = client.Forget(ctx, id)
	}
	if err != nil {
		h.log.Warn("forget child", "id", id, "error", err)
	}
}

func (h *host) Remove(id string, durable bool) error {
	h.launcher.Release(id)
	dir := h.store.Dir(id)
	h.logs.Forget(filepath.Join(dir, store.LogName), filepath.Join(dir, store.StdoutName), filepath.Join(dir, store.StderrName))
	if durable {
		return h.store.Remove(id)
	}
	return h.store.Discard(id)
}

// listHandovers returns the children a new keeper has to look after.
func (h *host) listHandovers(ctx context.Context) []launch.Handover {
	var all []launch.Handover
	err := h.control.Visit(ctx, func(e supervise.Entry) {
		who := e.Rec.Identity
		if who == nil || e.State.Ended() {
			return
		}
		c := launch.Handover{
			Child: keeper.Child{ID: e.Rec.ID, PID: who.PID, StartTime: who.StartTime, BootID: who.BootID, TTY: e.Rec.TTY},
			Dir:   h.store.Dir(e.Rec.ID),
			Logs:  h.observer.LogsOf(e.Rec),
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
