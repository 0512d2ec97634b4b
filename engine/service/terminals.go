package service

import (
	"context"
	"errors"

	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/engine/control/supervise"
	"tandem/engine/session/prompt"
)

func (s *Sessions) findText(ctx context.Context, in api.SessionFindInput) (api.SessionFindOutput, error) {
	session, _, err := s.Control.OpenSession(ctx, in.ID)
	if err != nil {
		return api.SessionFindOutput{}, err
	}
	return session.Find(ctx, in)
}

// folderOf returns the working directory of a session's foreground program, and whether the session
// is private.
func folderOf(ctx context.Context, c *supervise.Control, id string) (folder string, private bool, err error) {
	e, err := c.FindEntry(ctx, id, api.KindSession)
	if err != nil {
		return "", false, err
	}
	private = e.Rec.Private // also if its terminal cannot be reached
	s, view, err := c.OpenSession(ctx, id)
	switch {
	case err != nil:
	case view.State.Ended():
		err = errors.New("find folder: the session has exited")
	default:
		folder, err = s.Folder(view.PID)
	}
	return folder, private, err
}

// execCommand runs a command line in a session's shell, or in a shell without a terminal.
func (s *Sessions) execCommand(ctx context.Context, in api.SessionExecInput) (api.SessionExecOutput, error) {
	if _, err := s.Control.FindEntry(ctx, in.ID, api.KindSession); errors.Is(err, api.CodeNotFound) {
		if e, err := s.Control.FindEntry(ctx, in.ID, api.KindProcess); err == nil && e.Rec.Stdin {
			return s.execInPipe(ctx, e, in)
		}
	}
	if err := prompt.CheckExec(&in, true); err != nil {
		return api.SessionExecOutput{}, err
	}
	session, view, err := s.openToType(ctx, in.ID)
	if err != nil {
		return api.SessionExecOutput{}, err
	}
	return session.Shell().Exec(ctx, in, view.Name)
}

// waitForSession waits until one of the given conditions is met, the session exits, or the timeout
// expires.
func (s *Sessions) waitForSession(ctx context.Context, in api.SessionWaitInput) (api.SessionWaitOutput, error) {
	w, err := prompt.NewConditions(in, untilListening(s.Control, s.Usage, in.ID, in.Port))
	if err != nil {
		return api.SessionWaitOutput{}, err
	}
	session, view, err := s.Control.OpenSession(ctx, in.ID)
	if err != nil {
		return api.SessionWaitOutput{}, err
	}
	watch, cancel := waitTimeout(ctx, in.TimeoutMS)
	defer cancel()
	out, err := session.Shell().Await(watch, w)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return api.SessionWaitOutput{}, err
	}
	if in.Port != 0 && out.Met == "" {
		out.PortHolder = s.Usage.PortHolder(ctx, view.ID, in.Port)
	}
	out.Process, err = s.getSession(ctx, api.IDInput{ID: view.ID})
	return out, err
}

// getForeground describes the program now reading a session's input.
func (s *Sessions) getForeground(ctx context.Context, in api.IDInput) (api.SessionForegroundOutput, error) {
	session, _, err := s.Control.OpenSession(ctx, in.ID)
	if err != nil {
		return api.SessionForegroundOutput{}, err
	}
	return session.Shell().Foreground(ctx)
}

func (s *Sessions) readText(ctx context.Context, in api.SessionTextInput) (api.SessionTextOutput, error) {
	session, _, err := s.Control.OpenSession(ctx, in.ID)
	if err != nil {
		return api.SessionTextOutput{}, err
	}
	return session.Text(ctx, in)
}

// updateNeeds checks what sessions wait for. It begins with those that have not been checked for
// longest.
func updateNeeds(ctx context.Context, c *supervise.Control) {
	var all []*prompt.Shell
	err := c.Visit(ctx, func(e supervise.Entry) {
		if e.Session != nil && !e.State.Ended() {
			all = append(all, e.Session.Shell())
		}
	})
	if err != nil {
		return
	}
	prompt.UpdateNeeds(ctx, all)
}

// setKeyboard blocks agents from typing into a session, or allows them to. It returns once the
// change is on disk and announced.
func (s *Sessions) setKeyboard(ctx context.Context, in api.SessionKeyboardInput) (api.Process, error) {
	if in.Take && in.Open {
		return api.Process{}, api.Errorf(api.CodeInvalid, "keyboard of %s: give take or open, not both", names.Shown(in.ID))
	}
	caller := api.CallerOf(ctx)
	holder := ""
	if in.Take {
		holder = keyboardName(caller)
	}
	return s.Control.SetKeyboard(ctx, supervise.Request{ID: in.ID}, holder, in.Open)
}

func keyboardName(c api.Caller) string {
	if names.CheckLabel(c.Name) != nil {
		return api.Person
	}
	return c.Name
}
