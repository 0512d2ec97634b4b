package engine

import (
	"context"
	"errors"
	"time"

	"tandem/engine/api"
	"tandem/engine/prompt"
	"tandem/engine/supervise"
)

func (h *host) sessionFind(ctx context.Context, in api.SessionFindInput) (api.SessionFindOutput, error) {
	s, _, err := h.control.SessionOf(ctx, in.ID)
	if err != nil {
		return api.SessionFindOutput{}, err
	}
	return s.Find(ctx, in)
}

// folderOf is the folder in which the program that has a session's terminal
// is now.
func (h *host) folderOf(ctx context.Context, id string) (string, error) {
	s, view, err := h.control.SessionOf(ctx, id)
	if err != nil {
		return "", err
	}
	if view.State.Ended() {
		return "", errors.New("find folder: the session has ended")
	}
	return s.Folder(view.PID)
}

// sessionExec runs a command line in a session's shell.
func (h *host) sessionExec(ctx context.Context, in api.SessionExecInput) (api.SessionExecOutput, error) {
	if err := prompt.CheckExec(&in); err != nil {
		return api.SessionExecOutput{}, err
	}
	s, view, err := h.control.SessionOf(ctx, in.ID)
	if err == nil {
		err = h.guard.MayType(ctx, view)
	}
	if err != nil {
		return api.SessionExecOutput{}, err
	}
	return s.Shell().Exec(ctx, in, view.Name)
}

// sessionWait waits until one of the conditions that are set holds, the session
// has ended so that none ever will, or the time is over.
func (h *host) sessionWait(ctx context.Context, in api.SessionWaitInput) (api.SessionWaitOutput, error) {
	port := repeat(func(ctx context.Context) error { return anywhere().port(ctx, in.Port) })
	w, err := prompt.NewConditions(in, port)
	if err != nil {
		return api.SessionWaitOutput{}, err
	}
	s, view, err := h.control.SessionOf(ctx, in.ID)
	if err != nil {
		return api.SessionWaitOutput{}, err
	}
	timeout := waitMost
	if in.TimeoutMS > 0 {
		timeout = min(timeout, time.Duration(in.TimeoutMS)*time.Millisecond)
	}
	watch, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out, err := s.Shell().Await(watch, w)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return api.SessionWaitOutput{}, err
	}
	out.Process, err = h.sessionGet(ctx, api.IDInput{ID: view.ID})
	return out, err
}

func (h *host) sessionText(ctx context.Context, in api.SessionTextInput) (api.SessionTextOutput, error) {
	s, _, err := h.control.SessionOf(ctx, in.ID)
	if err != nil {
		return api.SessionTextOutput{}, err
	}
	return s.Text(ctx, in)
}

// lookAtNeeds looks what the sessions wait for that nobody has looked at for a
// while, those first that have waited longest for it.
func (h *host) lookAtNeeds(ctx context.Context) {
	var all []*prompt.Shell
	err := h.control.Visit(ctx, func(e supervise.Entry) {
		if e.Session != nil && !e.State.Ended() {
			all = append(all, e.Session.Shell())
		}
	})
	if err != nil {
		return
	}
	prompt.LookAtNeeds(ctx, all)
}
