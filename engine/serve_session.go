package engine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/names"
	"tandem/engine/terminal"
	"tandem/keys"
	"tandem/persist/store"
)

const (
	defaultCols, defaultRows = 80, 24
)

func (h *host) sessionStart(ctx context.Context, in api.SessionStartInput) (api.Process, error) {
	in.Env = h.clientEnv(ctx, in.Env)
	if in.CWDOf != "" {
		if folder, err := h.folderOf(ctx, in.CWDOf); err == nil {
			in.CWD = folder
		}
	}
	rec, err := h.recordOf(api.KindSession, in)
	if err == nil {
		err = own(ctx, &rec, in.Lease)
	}
	if err == nil && in.ID != "" {
		rec.ID, err = in.ID, h.claim(in.ID)
	}
	if err == nil {
		err = h.confine(&rec, layersFor(ctx, in.Sandbox))
	}
	if err != nil {
		return api.Process{}, err
	}
	return h.startRecord(ctx, rec, in.Name != "")
}

// claim takes an id that a client has made.
func (h *host) claim(id string) error {
	switch err := h.store.Claim(id); {
	case errors.Is(err, store.ErrNoID):
		return api.Errorf(api.CodeInvalid, "start session: id %q is not 12 lower-case hex digits", names.Shown(id))
	case errors.Is(err, fs.ErrExist):
		return api.Errorf(api.CodeConflict, "start session: id %s is taken", id)
	case err != nil:
		return api.Errorf(api.CodeUnavailable, "start session: %v", err)
	}
	return nil
}

// recordOf checks what a client asks to start and makes a record of it.
func (h *host) recordOf(kind api.Kind, in api.SessionStartInput) (store.Record, error) {
	none := store.Record{}
	id, err := h.store.NewID()
	if err != nil {
		return none, api.Errorf(api.CodeUnavailable, "start %s: %v", kind, err)
	}
	r := newRecord(id, kind)
	r.TTY = true
	if r.Argv = in.Command; len(r.Argv) == 0 {
		r.Argv = h.shell()
	}
	if r.Argv[0] == "" {
		return none, api.Errorf(api.CodeInvalid, "start %s: the program's name is empty", kind)
	}
	if r.CWD, err = workingFolder(in.CWD); err != nil {
		return none, err
	}
	if r.Name = in.Name; r.Name == "" {
		r.Name = names.OfProgram(r.Argv)
	}
	if err := names.Check(r.Name); err != nil {
		return none, err
	}
	if r.Cols, r.Rows, err = startSize(in.Cols, in.Rows); err != nil {
		return none, err
	}
	if in.Actor != "" {
		r.Actor = in.Actor
	}
	if names.Check(r.Actor) != nil {
		return none, api.Errorf(api.CodeInvalid, "start %s: actor %q is no name", kind, names.Shown(r.Actor))
	}
	r.Env, r.Environ = in.Env, in.Environ
	if err := checkEnv(in.Environ); err != nil {
		return none, err
	}
	return r, checkEnv(in.Env)
}

// workingFolder checks where a program is to be started.
func workingFolder(path string) (string, error) {
	if path == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "/", nil
		}
		path = home
		if _, err := os.Stat(path); err != nil {
			return "/", nil
		}
	}
	if !filepath.IsAbs(path) {
		return "", api.Errorf(api.CodeInvalid, "start in %s: the path is not absolute", names.Shown(path))
	}
	path = filepath.Clean(path)
	info, err := os.Stat(path)
	if err != nil {
		return "", api.Errorf(api.CodeInvalid, "start in %s: %v", names.Shown(path), store.Cause(err))
	}
	if !info.IsDir() {
		return "", api.Errorf(api.CodeInvalid, "start in %s: it is not a directory", names.Shown(path))
	}
	return path, nil
}

func startSize(cols, rows int) (int, int, error) {
	if cols == 0 {
		cols = defaultCols
	}
	if rows == 0 {
		rows = defaultRows
	}
	return cols, rows, checkSize(cols, rows)
}

func checkSize(cols, rows int) error {
	if cols != terminal.ClampSide(cols) || rows != terminal.ClampSide(rows) {
		return api.Errorf(api.CodeInvalid, "size %dx%d: both sides must be 1 to %d", cols, rows, terminal.MaxSide)
	}
	return nil
}

// wordMost is how long an argument or a variable of a program may be (execve(2),
// MAX_ARG_STRLEN), its end included.
const wordMost = 128 << 10

func checkEnv(env map[string]string) error {
	for name, value := range env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return api.Errorf(api.CodeInvalid, "environment variable %s: it cannot be set", names.Shown(name))
		}
		if len(name)+len("=")+len(value) >= wordMost {
			return api.Errorf(api.CodeInvalid, "environment variable %s: it is longer than 128 KB", names.Shown(name)).
				WithHint("write the value to a file and give the file's path")
		}
	}
	return nil
}

// start puts a new record into the table. reply is answered when its announced
// state is as wanted, or it could not be started.
func (c *control) start(r store.Record, logPath string, named bool, until func(api.State) bool, reply chan<- outcome) error {
	switch other := c.namedLive(r.Name); {
	case c.closing:
		return api.ErrEnding()
	case other != nil && named:
		return api.Errorf(api.CodeConflict, "start %s: %s %s is called %s already", r.Kind, other.rec.Kind, other.rec.ID, r.Name).
			WithHint("choose another name")
	}
	r.Name = c.freeName(r.Name)
	p := c.insert(r, logPath)
	p.await(reply, until)
	c.spawnFirst(p)
	return nil
}

func hasStarted(s api.State) bool { return s != api.StateStarting }

func (h *host) sessionList(ctx context.Context, _ api.Empty) (api.SessionListOutput, error) {
	h.lookAtNeeds(ctx)
	all, err := ask(ctx, h.control, h.control.listed)
	sessions := []api.Process{}
	for _, p := range all {
		if p.Kind == api.KindSession {
			sessions = append(sessions, p)
		}
	}
	return api.SessionListOutput{Sessions: sessions}, err
}

// withProc finds a process and runs f on it, on the control goroutine.
func withProc(ctx context.Context, h *host, id string, f func(p *proc) error, kinds ...api.Kind) error {
	failed, err := ask(ctx, h.control, func() error {
		p, err := h.control.find(id, kinds...)
		if err != nil {
			return err
		}
		return f(p)
	})
	if err != nil {
		return err
	}
	return failed
}

func (h *host) sessionGet(ctx context.Context, in api.IDInput) (view api.Process, err error) {
	var live *terminal.Session
	err = withProc(ctx, h, in.ID, func(p *proc) error {
		live, _ = p.live.(*terminal.Session)
		view = h.control.current(p)
		return nil
	}, api.KindSession)
	if err == nil && live != nil && view.PID != 0 {
		view.Terminal.Waiting = string(live.LookAtNeed())
	}
	return view, err
}

// sessionOf finds a session; that of a program that has ended is made anew from
// its log if need be.
func (h *host) sessionOf(ctx context.Context, id string) (s *terminal.Session, view api.Process, err error) {
	err = withProc(ctx, h, id, func(p *proc) error {
		waiting := p.state() == api.StateBackoff
		if p.live == nil && !p.state().Ended() && !waiting {
			return api.Errorf(api.CodeUnavailable, "use session %s: its terminal is not there", p.rec.Name)
		}
		view = h.control.current(p)
		if p.live == nil {
			revived := h.revive(p.rec)
			if !waiting { // its viewers stay for the next run
				revived.Finish(view)
			}
			p.live = revived
		}
		if p.state().Ended() {
			h.control.dropIdle(p)
		}
		s = p.live.(*terminal.Session)
		s.NoteUse()
		return nil
	}, api.KindSession)
	return s, view, err
}

func (h *host) sessionWrite(ctx context.Context, in api.SessionWriteInput) (api.Empty, error) {
	typed := make([]keys.Key, len(in.Keys))
	for i, name := range in.Keys {
		k, err := keys.Parse(name)
		if err != nil {
			return api.Empty{}, api.Errorf(api.CodeInvalid, "type key %s: %v", names.Shown(name), err)
		}
		typed[i] = k
	}
	s, view, err := h.sessionOf(ctx, in.ID)
	if err != nil {
		return api.Empty{}, err
	}
	if err := h.mayType(ctx, view); err != nil {
		return api.Empty{}, err
	}
	if err := s.IsReady(ctx); err != nil {
		return api.Empty{}, err
	}
	modes := s.KeyModes()
	p := []byte(in.Text)
	for _, k := range typed {
		p = keys.Encode(p, k, modes)
	}
	if in.Paste != "" {
		p = keys.EncodePaste(p, in.Paste, modes)
	}
	return api.Empty{}, s.TypeInto(ctx, p)
}

func (h *host) sessionRead(ctx context.Context, in api.SessionReadInput) (api.SessionReadOutput, error) {
	s, view, err := h.sessionOf(ctx, in.ID)
	if err != nil {
		return api.SessionReadOutput{}, err
	}
	out, err := s.Printed(ctx, in, view.State.Ended())
	out.State = view.State
	return out, err
}

func (h *host) sessionScreen(ctx context.Context, in api.SessionScreenInput) (api.Screen, error) {
	s, view, err := h.sessionOf(ctx, in.ID)
	if err != nil {
		return api.Screen{}, err
	}
	screen, err := s.Screen(ctx, in)
	screen.State = view.State
	return screen, err
}

func (h *host) sessionResize(ctx context.Context, in api.SessionResizeInput) (api.Empty, error) {
	if err := checkSize(in.Cols, in.Rows); err != nil {
		return api.Empty{}, err
	}
	s, view, err := h.sessionOf(ctx, in.ID)
	if err != nil {
		return api.Empty{}, err
	}
	if view.State.Ended() {
		return api.Empty{}, api.Errorf(api.CodeEnded, "resize %s: it has ended", view.Name)
	}
	if err := mayChange(ctx, view, "resize"); err != nil {
		return api.Empty{}, err
	}
	return api.Empty{}, s.Resize(ctx, in.Cols, in.Rows)
}

func (h *host) sessionRename(ctx context.Context, in api.SessionRenameInput) (api.Process, error) {
	if err := names.Check(in.Name); err != nil {
		return api.Process{}, err
	}
	reply := make(chan outcome, 1)
	err := withProc(ctx, h, in.ID, func(p *proc) error {
		if err := mayChange(ctx, h.control.current(p), "rename"); err != nil {
			return err
		}
		if other := h.control.namedLive(in.Name); other != nil && other != p && !p.state().Ended() {
			return api.Errorf(api.CodeConflict, "rename %s: %s is called %s already", p.rec.Name, other.rec.ID, in.Name)
		}
		p.rec.Name = in.Name
		p.waiters = append(p.waiters, waiter{until: always, reply: reply})
		h.control.save(p)
		return nil
	}, api.KindSession)
	if err != nil {
		return api.Process{}, err
	}
	return await(ctx, h.control, reply)
}

func always(api.State) bool { return true }

func (h *host) sessionKill(ctx context.Context, in api.IDInput) (api.Process, error) {
	return h.request(ctx, in.ID, evStop, api.KindSession)
}

func (h *host) processRemove(ctx context.Context, in api.IDInput) (api.Empty, error) {
	_, err := h.request(ctx, in.ID, evRemove)
	return api.Empty{}, err
}

// request feeds an event that is answered.
func (h *host) request(ctx context.Context, id string, kind eventKind, kinds ...api.Kind) (api.Process, error) {
	return h.requestWith(ctx, id, event{kind: kind}, kinds...)
}

// requestWith hands an event to a process and waits for the answer.
func (h *host) requestWith(ctx context.Context, id string, e event, kinds ...api.Kind) (api.Process, error) {
	reply := make(chan outcome, 1)
	e.reply, e.by = reply, server.CallerOf(ctx).Actor()
	refused, err := ask(ctx, h.control, func() error {
		p, err := h.control.findToEnd(id, kinds...)
		if err != nil {
			return err
		}
		if err := mayChange(ctx, h.control.current(p), e.kind.verb()); err != nil {
			return err
		}
		h.log.Info("request", "event", e.kind, "id", p.rec.ID, "by", server.CallerOf(ctx).Name)
		h.control.handle(p.rec.ID, e)
		return nil
	})
	if err == nil {
		err = refused
	}
	if err != nil {
		return api.Process{}, err
	}
	return await(ctx, h.control, reply)
}

// attach serves session.attach.
func (h *host) attach(ctx context.Context, o api.AttachOptions, v *server.Viewer) error {
	s, view, err := h.sessionOf(ctx, o.ID)
	if err != nil {
		return err
	}
	if o.Raw && view.State.Ended() {
		return api.Errorf(api.CodeEnded, "attach to %s: it has ended", view.Name).
			WithHint("tandem screen shows its last screen")
	}
	outside := h.leavesSandbox(ctx, view.ID)
	if outside && !o.ReadOnly && !view.State.Ended() && !view.Terminal.Open {
		return errOutside(view.Name)
	}
	return s.Attach(ctx, o, outside, v)
}
