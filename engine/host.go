package engine

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/engine/vt"
	"tandem/engine/vt10x"
	"tandem/persist"
)

const (
	logName = "process.log"
	// replaysAtOnce bounds how many screens are rebuilt at a time.
	replaysAtOnce = 2
	// lateExitWait is how long a dead child's exit status may be on its way.
	lateExitWait = 2 * time.Second
)

// A host is the world of a real engine: disk, keeper, terminals.
type host struct {
	o        Options
	lock     *os.File // on the data folder
	log      *slog.Logger
	store    *persist.Store
	bootID   string
	link     *link
	control  *control
	replays  chan struct{}
	chunks   *sync.Pool
	table    processTable
	problems []string // found at the start, told to the first who watches; owned by control
	stop     func()   // ends the engine
	sessions sync.WaitGroup
}

func (h *host) save(r persist.Record) error { return h.store.Save(r) }

func (h *host) logPath(r persist.Record) string {
	return filepath.Join(h.store.Dir(r.ID), logName)
}

func (h *host) openLog(path string) (sessionLog, error) {
	return persist.OpenLog(path, persist.LogOptions{Limit: h.o.LogLimit})
}

// spawn opens the log before it starts the child, so that nothing runs that
// could not be recorded.
func (h *host) spawn(ctx context.Context, r persist.Record) (keeper.Child, liveSession, error) {
	log, err := h.openLog(h.logPath(r))
	if err != nil {
		return keeper.Child{}, nil, err
	}
	size := persist.Resize{Offset: log.End(), Cols: r.Cols, Rows: r.Rows}
	if err := h.store.AppendResize(r.ID, size); err != nil {
		log.Close()
		return keeper.Child{}, nil, err
	}
	child, master, err := h.start(ctx, r)
	if err != nil {
		log.Close()
		return keeper.Child{}, nil, err
	}
	open := func() (sessionLog, error) { return log, nil }
	return child, h.session(r, master, open), nil
}

func (h *host) start(ctx context.Context, r persist.Record) (keeper.Child, *os.File, error) {
	client, err := h.link.get(ctx)
	if err != nil {
		return keeper.Child{}, nil, err
	}
	child, master, err := client.Start(ctx, keeper.Spec{
		ID:   r.ID,
		Dir:  h.store.Dir(r.ID),
		Argv: r.Argv,
		Env:  h.childEnv(r),
		CWD:  r.CWD,
		TTY:  r.TTY,
		Cols: uint16(r.Cols),
		Rows: uint16(r.Rows),
	})
	switch {
	case err == nil:
		return child, master, nil
	case errors.Is(err, keeper.ErrLost), ctx.Err() != nil:
		return keeper.Child{}, nil, api.Errorf(api.CodeUnavailable, "start %s: %v", r.Name, err).WithHint("try again")
	}
	return keeper.Child{}, nil, api.Errorf(api.CodeInvalid, "%v", err)
}

// adoptSession goes on with a session of an earlier engine.
func (h *host) adoptSession(r persist.Record, c keeper.Child, master *os.File) liveSession {
	s := h.session(r, master, func() (sessionLog, error) { return h.openLog(h.logPath(r)) })
	if cwd, err := os.Readlink("/proc/" + strconv.Itoa(c.PID) + "/cwd"); err == nil {
		s.setCWD(cwd)
	}
	return s
}

// revive makes the session of a record that has ended: only its screen.
func (h *host) revive(r persist.Record) *session {
	return h.session(r, nil, func() (sessionLog, error) { return h.openLog(h.logPath(r)) })
}

func (h *host) session(r persist.Record, master *os.File, open func() (sessionLog, error)) *session {
	h.sessions.Add(1)
	return startSession(sessionOptions{
		id:       r.ID,
		master:   master,
		cols:     r.Cols,
		rows:     r.Rows,
		open:     open,
		journal:  h.store,
		terminal: h.terminal,
		replays:  h.replays,
		chunks:   h.chunks,
		log:      h.log,
		ending:   h.control.ctx.Done(),
		drained:  func() { h.control.post(r.ID, event{kind: evDrained}) },
		touched:  func() { h.control.touched(r.ID) },
		notice: func(text string) {
			h.control.box.post(func() { h.control.notice(r.Name + ": " + text) })
		},
	}, h.sessions.Done)
}

// terminal makes the emulator that the person has chosen.
func (h *host) terminal(o vt.Options) terminal {
	o.ScrollbackLines = h.o.Scrollback
	if h.o.Emulator == "vt10x" {
		o.Grid = vt10x.New
	}
	return vt.New(o)
}

func (h *host) endTree(ctx context.Context, who persist.Identity) error {
	return endTree(ctx, &h.table, who, os.Getpid(), h.link.pid())
}

// lateExit waits for the keeper's word about a child that is gone.
func (h *host) lateExit(ctx context.Context, r persist.Record) ending {
	for end := time.Now().Add(lateExitWait); ; {
		e, ok := h.pastExit(r.ID)
		if ok && r.Identity != nil && e.Identity == *r.Identity {
			return ending{exit: keeper.Exit{Code: e.Code, Signal: e.Signal, Unknown: e.Unknown}, at: e.ExitedAt}
		}
		if time.Now().After(end) {
			return ending{exit: keeper.Exit{Unknown: true}, at: time.Now()}
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return ending{exit: keeper.Exit{Unknown: true}}
		}
	}
}

func (h *host) forget(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	client, err := h.link.get(ctx)
	if err == nil {
		err = client.Forget(ctx, id)
	}
	if err != nil {
		h.log.Warn("forget child", "id", id, "error", err)
	}
}

func (h *host) remove(id string) error { return h.store.Remove(id) }

// charges are the children that a new keeper has to take over.
func (h *host) charges(ctx context.Context) []charge {
	all, err := ask(ctx, h.control, func() []charge {
		var all []charge
		for id, p := range h.control.procs {
			if p.rec.Identity == nil || p.state().Ended() {
				continue
			}
			who := p.rec.Identity
			c := charge{
				child: keeper.Child{ID: id, PID: who.PID, StartTime: who.StartTime, BootID: who.BootID, TTY: p.rec.TTY},
				dir:   h.store.Dir(id),
			}
			if s, ok := p.live.(*session); ok {
				c.master = s.o.master
			}
			all = append(all, c)
		}
		return all
	})
	if err != nil {
		return nil
	}
	return all
}

// exited takes an exit from the keeper.
func (h *host) exited(c keeper.Child) {
	end := ending{exit: keeper.Exit{Unknown: true}, at: time.Now()}
	if c.Exit != nil {
		end.exit = *c.Exit
	}
	h.control.post(c.ID, event{kind: evExited, child: c, ending: end})
}
