package service

import (
	"context"
	"slices"
	"strings"

	"tandem/engine/agent/access"
	"tandem/engine/agent/coding"
	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/base/names"
	"tandem/engine/control/supervise"
	"tandem/engine/control/usage"
	"tandem/engine/record/logs"
	"tandem/engine/service/startrules"
	"tandem/engine/session/terminal"
	"tandem/engine/workspace/worktrees"
	"tandem/keys"
	"tandem/persist/store"
)

// Sessions serves the operations on sessions, and attachments to them.
type Sessions struct {
	Control *supervise.Control
	Guard   *access.Guard
	Starter *Starter
	Store   *store.Store
	Logs    *logs.Logs
	Usage   *usage.Meter
	Agents  *coding.Registry
	Trees   worktrees.Trees
	Pipes   *PipeShells

	// DescribeEnd describes a session that has ended without a reboot or crash. It reads the session's log.
	DescribeEnd func(store.Record) store.Interruption
}

// Handle registers the operations.
func (s *Sessions) Handle(m *server.Mux) {
	server.Handle(m, api.SessionStart, s.startSession)
	server.Handle(m, api.SessionList, s.listSessions)
	server.Handle(m, api.SessionGet, s.getSession)
	server.Handle(m, api.SessionWrite, s.typeInput)
	server.Handle(m, api.SessionInsert, s.insertCommand)
	server.Handle(m, api.SessionRead, s.readOutput)
	server.Handle(m, api.SessionScreen, s.readScreen)
	server.Handle(m, api.SessionResize, s.resizeSession)
	server.Handle(m, api.SessionRename, s.renameSession)
	server.Handle(m, api.SessionKill, s.killSession)
	server.Handle(m, api.SessionRecord, s.recordSession)
	server.Handle(m, api.SessionFind, s.findText)
	server.Handle(m, api.SessionText, s.readText)
	server.Handle(m, api.SessionExec, s.execCommand)
	server.Handle(m, api.SessionWait, s.waitForSession)
	server.Handle(m, api.SessionForeground, s.getForeground)
	server.Handle(m, api.SessionKeyboard, s.setKeyboard)
	server.Handle(m, api.SessionRestore, s.restoreSessions)
	server.Handle(m, api.SessionDismiss, s.dismissSessions)
	m.HandleAttach(s.attachSession)
}

func (s *Sessions) startSession(ctx context.Context, in api.SessionStartInput) (api.Process, error) {
	in.Env = s.Starter.Env.withClientVariables(ctx, in.Env)
	if in.CWDOf != "" {
		folder, private, err := folderOf(ctx, s.Control, in.CWDOf)
		if in.Private = in.Private || private; err == nil {
			in.CWD = folder
		}
	}
	rec, err := s.Starter.sessionRecord(api.KindSession, in)
	if err != nil {
		return api.Process{}, err
	}
	return s.Starter.startAndWait(ctx, rec, request{id: in.ID, named: in.Name != "", private: in.Private, lease: in.Lease, sandbox: in.Sandbox})
}

func (s *Sessions) listSessions(ctx context.Context, _ api.Empty) (api.SessionListOutput, error) {
	updateNeeds(ctx, s.Control)
	all, err := s.Control.ListProcesses(ctx)
	sessions := []api.Process{}
	for _, p := range all {
		if p.Kind == api.KindSession {
			sessions = append(sessions, p)
		}
	}
	return api.SessionListOutput{Sessions: sessions}, err
}

func (s *Sessions) getSession(ctx context.Context, in api.IDInput) (view api.Process, err error) {
	e, err := s.Control.FindEntry(ctx, in.ID, api.KindSession)
	if err == nil && e.Session != nil && e.View.PID != 0 {
		e.View.Terminal.Waiting = string(e.Session.Shell().UpdateNeed())
	}
	return e.View, err
}

func (s *Sessions) typeInput(ctx context.Context, in api.SessionWriteInput) (none api.SessionWriteOutput, _ error) {
	typed := make([]keys.Key, len(in.Keys))
	for i, name := range in.Keys {
		k, err := keys.Parse(name)
		if err != nil {
			return none, api.Errorf(api.CodeInvalid, "type key %s: %v", names.Shown(name), err).WithReason(api.ReasonUnknownKey)
		}
		typed[i] = k
	}
	session, view, err := s.openToType(ctx, in.ID)
	if err != nil {
		return none, err
	}
	modes := session.KeyModes()
	var pressed, paste []byte
	for _, k := range typed {
		pressed = keys.Encode(pressed, k, modes)
	}
	if in.Paste != "" {
		paste = keys.EncodePaste(paste, in.Paste, modes)
	}
	watch := s.Agents.Of(view.ID)
	if !watch.HasAgent() {
		return typePieces(ctx, session, nil, piece{bytes: slices.Concat([]byte(in.Text), pressed, paste)})
	}
	// An agent takes text with an Enter right behind it for a paste, so Enter is sent separately.
	text, _ := strings.CutSuffix(in.Text, "\r")
	enter := len(typed) > 0 && typed[0].Code == keys.Enter
	return typePieces(ctx, session, watch,
		piece{bytes: []byte(text)}, piece{[]byte(in.Text[len(text):]), true, true}, piece{pressed, true, enter}, piece{bytes: paste})
}

// openToType returns a session that the caller may type into. It waits until the terminal's modes
// are known.
func (s *Sessions) openToType(ctx context.Context, id string) (*terminal.Session, api.Process, error) {
	session, view, err := s.Control.OpenSession(ctx, id)
	if err == nil {
		err = s.Guard.MayType(ctx, view)
	}
	if err == nil {
		err = session.IsReady(ctx)
	}
	return session, view, err
}

// A piece is one part of a client's input.
type piece struct {
	bytes []byte
	keys  bool // keys rather than text
	enter bool // it begins with Enter
}

// typePieces types into a session. It stops when the terminal does not accept a piece in time. If
// watch is not nil, it waits before Enter until the coding agent has taken the text.
func typePieces(ctx context.Context, session *terminal.Session, watch *coding.Watch, pieces ...piece) (out api.SessionWriteOutput, err error) {
	end := func() int64 { _, end := session.Kept(); return end }
	for _, p := range pieces {
		if len(p.bytes) == 0 || out.Dropped > 0 {
			out.Dropped += len(p.bytes)
			continue
		}
		if p.enter {
			if err := watch.AwaitEnterTime(ctx, end); err != nil {
				return out, err
			}
		}
		if watch != nil && !p.keys {
			watch.RecordTyped(end())
		}
		n, err := session.TypeThrough(ctx, p.bytes)
		if err != nil {
			return out, err
		}
		out.Written, out.Dropped = out.Written+n, len(p.bytes)-n
	}
	return out, nil
}

func (s *Sessions) insertCommand(ctx context.Context, in api.SessionInsertInput) (api.Empty, error) {
	session, view, err := s.openToType(ctx, in.ID)
	if err == nil {
		err = session.Insert(ctx, view.Name, in.Text, in.Lines)
	}
	return api.Empty{}, err
}

func (s *Sessions) readOutput(ctx context.Context, in api.SessionReadInput) (api.SessionReadOutput, error) {
	session, view, err := s.Control.OpenSession(ctx, in.ID)
	if err != nil {
		return api.SessionReadOutput{}, err
	}
	out, err := session.ReadOutput(ctx, in, view.State.Ended())
	out.State = view.State
	return out, err
}

func (s *Sessions) readScreen(ctx context.Context, in api.SessionScreenInput) (api.Screen, error) {
	session, view, err := s.Control.OpenSession(ctx, in.ID)
	if err != nil {
		return api.Screen{}, err
	}
	screen, err := session.Screen(ctx, in)
	screen.State = view.State
	return screen, err
}

func (s *Sessions) resizeSession(ctx context.Context, in api.SessionResizeInput) (api.Empty, error) {
	if err := startrules.CheckSize(in.Cols, in.Rows); err != nil {
		return api.Empty{}, err
	}
	session, view, err := s.Control.OpenSession(ctx, in.ID)
	if err != nil {
		return api.Empty{}, err
	}
	if view.State.Ended() {
		return api.Empty{}, api.Errorf(api.CodeEnded, "resize %s: it has exited", view.Name)
	}
	if err := access.MayChange(ctx, view, "resize"); err != nil {
		return api.Empty{}, err
	}
	return api.Empty{}, session.Resize(ctx, in.Cols, in.Rows)
}

func (s *Sessions) renameSession(ctx context.Context, in api.SessionRenameInput) (api.Process, error) {
	if err := api.Invalid(names.Check(in.Name)); err != nil {
		return api.Process{}, err
	}
	u := supervise.Update{Name: &in.Name, Revision: in.Revision}
	return s.Control.UpdateProcess(ctx, changeRequest(ctx, in.ID, "rename", api.KindSession), u)
}

func (s *Sessions) killSession(ctx context.Context, in api.IDInput) (api.Process, error) {
	return s.Control.StopProcess(ctx, changeRequest(ctx, in.ID, "stop", api.KindSession), "", 0)
}

// attachSession serves session.attach.
func (s *Sessions) attachSession(ctx context.Context, o api.AttachOptions, v *server.Viewer) error {
	session, view, err := s.Control.OpenSession(ctx, o.ID)
	if err != nil {
		return err
	}
	if o.Raw && view.State.Ended() {
		return api.Errorf(api.CodeEnded, "attach to %s: it has exited", view.Name).
			WithHint("tandem screen shows its last screen")
	}
	outside := s.Guard.LeavesSandbox(ctx, view.ID)
	if outside && !o.ReadOnly && !view.State.Ended() && !view.Terminal.Open {
		return access.ErrOutside(view.Name)
	}
	return session.Attach(ctx, o, outside, v)
}

// changeRequest returns a request of the caller to change a process. doing is what the caller is
// doing, for errors.
func changeRequest(ctx context.Context, id, doing string, kinds ...api.Kind) supervise.Request {
	caller := api.CallerOf(ctx)
	return supervise.Request{
		ID: id, Kinds: kinds, By: caller.Actor(), Client: caller.Name,
		Allowed: func(view api.Process) error { return access.MayChange(ctx, view, doing) },
	}
}
