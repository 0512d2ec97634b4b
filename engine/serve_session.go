package engine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"tandem/engine/access"
	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/names"
	"tandem/engine/service"
	"tandem/engine/supervise"
	"tandem/engine/terminal"
	"tandem/keys"
	"tandem/persist/store"
)

const (
	defaultCols, defaultRows = 80, 24
)

func (h *host) sessionStart(ctx context.Context, in api.SessionStartInput) (api.Process, error) {
	in.Env = h.env.With(ctx, in.Env)
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
		err = h.confine(&rec, access.Layers(ctx, in.Sandbox))
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
	r := supervise.NewRecord(id, kind)
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
	if err := service.CheckEnv(in.Environ); err != nil {
		return none, err
	}
	return r, service.CheckEnv(in.Env)
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

func (h *host) sessionList(ctx context.Context, _ api.Empty) (api.SessionListOutput, error) {
	h.lookAtNeeds(ctx)
	all, err := supervise.Ask(ctx, h.control, h.control.Listed)
	sessions := []api.Process{}
	for _, p := range all {
		if p.Kind == api.KindSession {
			sessions = append(sessions, p)
		}
	}
	return api.SessionListOutput{Sessions: sessions}, err
}
func (h *host) sessionGet(ctx context.Context, in api.IDInput) (view api.Process, err error) {
	e, err := h.control.Entry(ctx, in.ID, api.KindSession)
	if err == nil && e.Session != nil && e.View.PID != 0 {
		e.View.Terminal.Waiting = string(e.Session.Shell().LookAtNeed())
	}
	return e.View, err
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
	s, view, err := h.control.SessionOf(ctx, in.ID)
	if err != nil {
		return api.Empty{}, err
	}
	if err := h.guard.MayType(ctx, view); err != nil {
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
	s, view, err := h.control.SessionOf(ctx, in.ID)
	if err != nil {
		return api.SessionReadOutput{}, err
	}
	out, err := s.Printed(ctx, in, view.State.Ended())
	out.State = view.State
	return out, err
}

func (h *host) sessionScreen(ctx context.Context, in api.SessionScreenInput) (api.Screen, error) {
	s, view, err := h.control.SessionOf(ctx, in.ID)
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
	s, view, err := h.control.SessionOf(ctx, in.ID)
	if err != nil {
		return api.Empty{}, err
	}
	if view.State.Ended() {
		return api.Empty{}, api.Errorf(api.CodeEnded, "resize %s: it has ended", view.Name)
	}
	if err := access.MayChange(ctx, view, "resize"); err != nil {
		return api.Empty{}, err
	}
	return api.Empty{}, s.Resize(ctx, in.Cols, in.Rows)
}

func (h *host) sessionRename(ctx context.Context, in api.SessionRenameInput) (api.Process, error) {
	if err := names.Check(in.Name); err != nil {
		return api.Process{}, err
	}
	return h.control.Rename(ctx, asked(ctx, in.ID, "rename", api.KindSession), in.Name)
}
func (h *host) sessionKill(ctx context.Context, in api.IDInput) (api.Process, error) {
	return h.control.StopProcess(ctx, asked(ctx, in.ID, "end", api.KindSession), "", 0)
}

func (h *host) processRemove(ctx context.Context, in api.IDInput) (api.Empty, error) {
	_, err := h.control.RemoveProcess(ctx, asked(ctx, in.ID, "remove"))
	return api.Empty{}, err
}

// asked is what the caller asks to do to a process: doing says that in a word or
// two.
func asked(ctx context.Context, id, doing string, kinds ...api.Kind) supervise.Request {
	caller := server.CallerOf(ctx)
	return supervise.Request{
		ID: id, Kinds: kinds, By: caller.Actor(), Client: caller.Name,
		Allowed: func(view api.Process) error { return access.MayChange(ctx, view, doing) },
	}
}

// attach serves session.attach.
func (h *host) attach(ctx context.Context, o api.AttachOptions, v *server.Viewer) error {
	s, view, err := h.control.SessionOf(ctx, o.ID)
	if err != nil {
		return err
	}
	if o.Raw && view.State.Ended() {
		return api.Errorf(api.CodeEnded, "attach to %s: it has ended", view.Name).
			WithHint("tandem screen shows its last screen")
	}
	outside := h.guard.LeavesSandbox(ctx, view.ID)
	if outside && !o.ReadOnly && !view.State.Ended() && !view.Terminal.Open {
		return access.ErrOutside(view.Name)
	}
	return s.Attach(ctx, o, outside, v)
}
