package service

import (
	"context"
	"errors"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/names"
	"tandem/engine/prompt"
	"tandem/engine/supervise"
	"tandem/engine/terminal"
)

func (s *Sessions) find(ctx context.Context, in api.SessionFindInput) (api.SessionFindOutput, error) {
	session, _, err := s.Control.OpenSession(ctx, in.ID)
	if err != nil {
		return api.SessionFindOutput{}, err
	}
	return session.Find(ctx, in)
}

// folderOf is the folder in which the program that has a session's terminal
// is now.
func folderOf(ctx context.Context, c *supervise.Control, id string) (string, error) {
	s, view, err := c.OpenSession(ctx, id)
	if err != nil {
		return "", err
	}
	if view.State.Ended() {
		return "", errors.New("find folder: the session has ended")
	}
	return s.Folder(view.PID)
}

// exec runs a command line in a session's shell.
func (s *Sessions) exec(ctx context.Context, in api.SessionExecInput) (api.SessionExecOutput, error) {
	if err := prompt.CheckExec(&in); err != nil {
		return api.SessionExecOutput{}, err
	}
	session, view, err := s.Control.OpenSession(ctx, in.ID)
	if err == nil {
		err = s.Guard.MayType(ctx, view)
	}
	if err != nil {
		return api.SessionExecOutput{}, err
	}
	return session.Shell().Exec(ctx, in, view.Name)
}

// wait waits until one of the conditions that are set holds, the session
// has ended so that none ever will, or the time is over.
func (s *Sessions) wait(ctx context.Context, in api.SessionWaitInput) (api.SessionWaitOutput, error) {
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
		out.PortHolder = s.Usage.portHolder(ctx, view.ID, in.Port)
	}
	out.Process, err = s.get(ctx, api.IDInput{ID: view.ID})
	return out, err
}

// foreground tells what would take what is typed into a session now.
func (s *Sessions) foreground(ctx context.Context, in api.IDInput) (api.SessionForegroundOutput, error) {
	session, _, err := s.Control.OpenSession(ctx, in.ID)
	if err != nil {
		return api.SessionForegroundOutput{}, err
	}
	return session.Shell().Foreground(ctx)
}

func (s *Sessions) text(ctx context.Context, in api.SessionTextInput) (api.SessionTextOutput, error) {
	session, _, err := s.Control.OpenSession(ctx, in.ID)
	if err != nil {
		return api.SessionTextOutput{}, err
	}
	return session.Text(ctx, in)
}

// lookAtNeeds looks what the sessions wait for that nobody has looked at for a
// while, those first that have waited longest for it.
func lookAtNeeds(ctx context.Context, c *supervise.Control) {
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

// keyboard takes a session's keyboard away from agents, or gives it
// back. The answer comes when that is on disk and announced.
func (s *Sessions) keyboard(ctx context.Context, in api.SessionKeyboardInput) (api.Process, error) {
	if in.Take && in.Open {
		return api.Process{}, api.Errorf(api.CodeInvalid, "keyboard of %s: give take or open, not both", names.Shown(in.ID))
	}
	caller := server.CallerOf(ctx)
	holder := ""
	if in.Take {
		holder = keyboardName(caller)
	}
	return s.Control.SetKeyboard(ctx, supervise.Request{ID: in.ID}, holder, in.Open)
}

func keyboardName(c server.Caller) string {
	if names.Check(c.Name) != nil {
		return terminal.PersonActor
	}
	return c.Name
}
