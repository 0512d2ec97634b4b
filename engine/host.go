package engine

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/access"
	"tandem/engine/agents"
	"tandem/engine/api"
	"tandem/engine/history"
	"tandem/engine/keeper"
	"tandem/engine/logs"
	"tandem/engine/panics"
	"tandem/engine/proctree"
	"tandem/engine/prompt"
	"tandem/engine/sandbox"
	"tandem/engine/service"
	"tandem/engine/sleep"
	"tandem/engine/supervise"
	"tandem/engine/terminal"
	"tandem/engine/vt"
	"tandem/engine/vt10x"
	"tandem/persist/ptylog"
	"tandem/persist/store"
)

const (
	// maxReplays limits how many screens are rebuilt at a time.
	maxReplays = 2
	// lateExitWait is how long to wait for an exited child's status.
	lateExitWait = 2 * time.Second
)

// A host is the executor of a real engine: disk, keeper and terminals.
type host struct {
	o         Options
	log       *slog.Logger
	store     *store.Store
	bootID    string
	cgroups   proctree.Cgroups
	link      *link
	control   *supervise.Control
	replays   chan struct{}
	chunks    *sync.Pool
	displays  terminal.Displays // properties of the user's terminals
	table     proctree.Table
	env       *service.Env
	closed    []string // directories closed to agents: they hold the rules for agents and records of other clients' actions
	history   *history.History
	logs      *logs.Logs
	current   atomic.Pointer[currentSettings]
	proxies   sandbox.Proxies
	agents    *agents.Registry
	problems  []string // found at start, shown to the user
	regainer  *regainer
	unread    atomic.Pointer[unread]
	inherited inheritance
	sessions  sync.WaitGroup

	openChecks sync.Map // process id → name of the readiness check still failing
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

func (h *host) openLog(r store.Record) (terminal.Log, error) {
	limit := r.LogLimit
	if limit == 0 {
		limit = h.settings().LogLimit
	}
	sizes, err := h.store.ReadResizes(r.ID)
	if err != nil {
		return nil, err
	}
	o := ptylog.Options{Limit: limit}
	// After a crash, NULs before the last resize are output rather than preallocated space.
	if len(sizes) > 0 {
		o.Committed = sizes[len(sizes)-1].Offset
	}
	return ptylog.Open(h.store.LogPath(r), o)
}

// Spawn implements supervise.Executor. A child without a terminal writes its log itself.
func (h *host) Spawn(ctx context.Context, r store.Record, former store.Identity, waits func()) (supervise.Launch, error) {
	if ctx.Err() != nil {
		return supervise.Launch{}, h.errCancelled(r)
	}
	if err := checkDescriptors(r.Name); err != nil {
		return supervise.Launch{}, err
	}
	if r.TTY {
		return h.spawnSession(ctx, r, former, waits)
	}
	begin, errorsBegin := logs.FileSize(h.store.LogPath(r)), logs.FileSize(h.store.ErrorLogPath(r))
	s, _, err := h.start(ctx, r, former, waits)
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
	s, master, err := h.start(ctx, r, former, waits)
	if err != nil {
		log.Close()
		return supervise.Launch{}, err
	}
	id := supervise.IdentityOf(s.Child)
	r.Identity = &id
	live := h.newSession(r, master, func() (terminal.Log, error) { return log, nil })
	if resume.typed != "" {
		go panics.Logged(h.log, "resumed command", func() { live.TypeAtPrompt(resume.typed) })()
	}
	s.Live, s.LogStart = live, begin
	return s, nil
}

// errCancelled returns why a start was cancelled.
func (h *host) errCancelled(r store.Record) error {
	if h.control.Context().Err() != nil {
		return api.ErrEnding()
	}
	return api.Errorf(api.CodeConflict, "start %s: it was asked to stop before it started", r.Name)
}

// start asks the keeper for a record's child, and returns its terminal's master. Once the keeper is
// asked, ctx no longer cancels the start. former is the previous child.
func (h *host) start(ctx context.Context, r store.Record, former store.Identity, waits func()) (supervise.Launch, *os.File, error) {
	if h.link.keeperPID() == 0 {
		waits()
	}
	client, err := h.link.awaitClient(ctx)
	if ctx.Err() != nil {
		return supervise.Launch{}, nil, h.errCancelled(r)
	}
	if err != nil {
		return supervise.Launch{}, nil, err
	}
	// From here on only the engine's exit may interrupt, because the child may exist.
	ctx = h.control.Context()
	spec, w, err := h.makeSpec(r, client.PID())
	if err != nil {
		return supervise.Launch{}, nil, api.Errorf(api.CodeInvalid, "%v", err)
	}
	began, since := time.Now(), proctree.BootTicks()
	child, master, err := startChild(ctx, client, r, spec)
	if err != nil && ctx.Err() == nil && !errors.Is(err, keeper.ErrLost) {
		waits()
		child, master, err = h.retryOccupied(ctx, client, spec, err)
	}
	if errors.Is(err, keeper.ErrLost) && ctx.Err() == nil {
		waits()
		child, master, err = h.recoverStart(ctx, r, former, since)
	}
	switch {
	case err == nil:
		return supervise.Launch{Child: child, Began: began, ProxyURL: w.proxyURL}, master, nil
	case ctx.Err() != nil:
		return supervise.Launch{}, nil, api.ErrEnding()
	case errors.Is(err, api.CodeUnavailable), errors.Is(err, api.CodeUnsure):
		return supervise.Launch{}, nil, err
	}
	return supervise.Launch{}, nil, api.Errorf(api.CodeInvalid, "%v", err).WithReason(startReason(spec, err))
}

// makeSpec returns the request for the keeper.
func (h *host) makeSpec(r store.Record, keeperPID int) (spec keeper.Spec, w launchCommand, err error) {
	spec = keeper.Spec{ID: r.ID, Dir: h.store.Dir(r.ID), CWD: r.CWD, TTY: r.TTY, Transient: r.Transient}
	if w, err = h.commandFor(r, keeperPID); err != nil {
		return spec, w, err
	}
	spec.Argv, spec.Env = w.argv, w.env
	if h.cgroups.Create(r.Cgroup) {
		spec.Cgroup = r.Cgroup
	}
	if r.TTY {
		spec.Cols, spec.Rows = uint16(r.Cols), uint16(r.Rows)
	} else {
		spec.Stdout, spec.Stderr, spec.LogLimit = h.store.LogPath(r), h.store.ErrorLogPath(r), h.processLogLimit(r)
		spec.Stdin, err = h.makeInput(r)
	}
	return spec, w, err
}

// makeInput creates the FIFO serving as standard input and returns its path; "" for a process
// without input. The child keeps both ends open, so the FIFO outlives engine and keeper.
func (h *host) makeInput(r store.Record) (string, error) {
	if !r.Stdin {
		return "", nil
	}
	path := h.store.InputPath(r.ID)
	if err := syscall.Mkfifo(path, 0o600); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return path, nil
}

// retryOccupied handles a start refused by the keeper because it knows a child with this id. An
// exited child is about to be forgotten; a live one was started for an earlier engine.
func (h *host) retryOccupied(ctx context.Context, client keeperClient, spec keeper.Spec, refused error) (keeper.Child, *os.File, error) {
	for end := time.Now().Add(lateExitWait); ; {
		all, err := client.List(ctx)
		if err != nil {
			return keeper.Child{}, nil, err
		}
		i := slices.IndexFunc(all, func(c keeper.Child) bool { return c.ID == spec.ID && c.Exit == nil })
		switch {
		case i < 0:
			return client.Start(ctx, spec)
		case supervise.IdentityOf(all[i]).Alive() && spec.TTY:
			master, err := client.Master(ctx, spec.ID)
			return all[i], master, err
		case supervise.IdentityOf(all[i]).Alive():
			return all[i], nil, nil
		case time.Now().After(end):
			return keeper.Child{}, nil, refused
		}
		if err := sleep.For(ctx, 2*time.Millisecond); err != nil {
			return keeper.Child{}, nil, err
		}
	}
}

// adoptSession continues a session of an earlier engine.
func (h *host) adoptSession(r store.Record, c keeper.Child, master *os.File) supervise.Session {
	id := supervise.IdentityOf(c)
	r.Identity = &id
	s := h.newSession(r, master, func() (terminal.Log, error) { return h.openLog(r) })
	if cwd, err := os.Readlink("/proc/" + strconv.Itoa(c.PID) + "/cwd"); err == nil {
		s.SetCWD(cwd)
	}
	return s
}

// ReviveSession implements supervise.Executor.
func (h *host) ReviveSession(r store.Record) *terminal.Session {
	return h.newSession(r, nil, func() (terminal.Log, error) { return h.openLog(r) })
}

func (h *host) newSession(r store.Record, master *os.File, open func() (terminal.Log, error)) *terminal.Session {
	h.sessions.Add(1)
	pid, nonce := 0, ""
	if !r.Sandboxed { // it could not read the scripts
		nonce = h.settings().shells.Nonce(r.ID, r.Argv)
	}
	if master != nil && r.Identity != nil {
		pid = r.Identity.PID
	}
	s := terminal.Start(terminal.Options{
		ID:       r.ID,
		PID:      pid,
		Nonce:    nonce,
		Secret:   h.settings().shells.Secret(r.ID),
		Kind:     prompt.KindOf(r.Argv),
		Actor:    r.Actor,
		From:     r.From,
		Ran:      h.recordCommand,
		Master:   master,
		Cols:     r.Cols,
		Rows:     r.Rows,
		Open:     open,
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
			h.control.PublishNotice(r.Name + ": " + text)
		},
	}, func() {
		h.agents.RemoveExited(r.ID)
		h.sessions.Done()
	})
	// Only a session with a running program can contain an agent.
	if master != nil {
		h.agents.Start(r.ID, pid, r.Agent, s, confinerFor(r, h.store, h.closed))
	}
	s.Admit(r.Keyboard != "", r.Open)
	return s
}

// newEmulator returns the terminal emulator chosen by the user.
func (h *host) newEmulator(o vt.Options) terminal.Emulator {
	now := h.settings()
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

// FindLateExit waits for the keeper to report the exit of a child.
func (h *host) FindLateExit(ctx context.Context, r store.Record) supervise.Ending {
	for end := time.Now().Add(lateExitWait); ; {
		e, ok := h.readExit(r.ID)
		if ok && r.Identity != nil && e.Identity == *r.Identity {
			return supervise.EndingFrom(e)
		}
		if time.Now().After(end) {
			return supervise.Ending{Exit: keeper.Exit{Unknown: true}, At: time.Now()}
		}
		if sleep.For(ctx, 50*time.Millisecond) != nil {
			return supervise.Ending{Exit: keeper.Exit{Unknown: true}}
		}
	}
}

func (h *host) ForgetChild(id string) {
	h.proxies.Revoke(id)
	h.cgroups.Drop(id)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	client, err := h.link.awaitClient(ctx)
	if err == nil {
		err = client.Forget(ctx, id)
	}
	if err != nil {
		h.log.Warn("forget child", "id", id, "error", err)
	}
}

func (h *host) Remove(id string, durable bool) error {
	h.proxies.Revoke(id)
	h.cgroups.Drop(id)
	dir := h.store.Dir(id)
	h.logs.Forget(filepath.Join(dir, store.LogName), filepath.Join(dir, store.StdoutName), filepath.Join(dir, store.StderrName))
	if durable {
		return h.store.Remove(id)
	}
	return h.store.Discard(id)
}

// listHandovers returns the children a new keeper has to look after.
func (h *host) listHandovers(ctx context.Context) []handover {
	var all []handover
	err := h.control.Visit(ctx, func(e supervise.Entry) {
		who := e.Rec.Identity
		if who == nil || e.State.Ended() {
			return
		}
		c := handover{
			child: keeper.Child{ID: e.Rec.ID, PID: who.PID, StartTime: who.StartTime, BootID: who.BootID, TTY: e.Rec.TTY},
			dir:   h.store.Dir(e.Rec.ID),
			logs:  h.logsOf(e.Rec),
		}
		if e.Session != nil {
			c.master = e.Session.Master()
		}
		all = append(all, c)
	})
	if err != nil {
		return nil // the engine is exiting, and the list is incomplete
	}
	return all
}

// reportExit passes an exit reported by the keeper to the control loop.
func (h *host) reportExit(c keeper.Child) {
	end := supervise.Ending{Exit: keeper.Exit{Unknown: true}, At: time.Now()}
	if c.Exit != nil {
		end.Exit = *c.Exit
	}
	// A keeper that adopted the child may know less than the exit file.
	if e, ok := h.readExit(c.ID); end.Exit.Unknown && ok && e.Identity == supervise.IdentityOf(c) {
		end = supervise.EndingFrom(e)
	}
	h.control.ReportExit(c, end)
}
