package service

import (
	"cmp"
	"context"
	"os"
	"path/filepath"

	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/engine/control/supervise"
	"tandem/engine/service/startrules"
	"tandem/engine/session/prompt"
)

// restoreSessions serves session.restore.
func (s *Sessions) restoreSessions(ctx context.Context, in api.SessionRestoreInput) (out api.SessionRestoreOutput, err error) {
	if err := cmp.Or(startrules.CheckUmask(in.Umask), checkEnv(in.Environ)); err != nil {
		return out, err
	}
	ids, err := s.interruptedIDs(ctx, in.IDs, in.All, in.RestoreID)
	out.Restored = []api.RestoredSession{}
	for _, id := range ids {
		restored, err := s.restoreSession(ctx, id, in)
		if err == nil {
			out.Restored = append(out.Restored, restored)
			continue
		}
		if ctx.Err() != nil || api.IsEnding(err) {
			return out, err
		}
		failed := api.RestoreFailure{ID: id, Error: err.Error()}
		if e, err := s.Control.FindEntry(ctx, id, api.KindSession); err == nil {
			failed.ID, failed.Name = e.Rec.ID, e.Rec.Name
		}
		out.Failed = append(out.Failed, failed)
	}
	return out, err
}

// interruptedIDs returns ids if all is not set. Otherwise it returns all interrupted sessions,
// oldest first, including those that an earlier call with this restoreID has restored already.
func (s *Sessions) interruptedIDs(ctx context.Context, ids []string, all bool, restoreID string) ([]string, error) {
	if !all {
		return ids, nil
	}
	ids = nil
	restored := map[string]bool{}
	err := s.Control.Visit(ctx, func(e supervise.Entry) {
		restored[e.Rec.ID] = restoreID != "" && e.Rec.RestartID == restoreID
	})
	if err != nil {
		return nil, err
	}
	views, err := s.Control.ListProcesses(ctx)
	for _, p := range views {
		if p.Interrupted != nil || restored[p.ID] {
			ids = append(ids, p.ID)
		}
	}
	return ids, err
}

func (s *Sessions) restoreSession(ctx context.Context, id string, in api.SessionRestoreInput) (out api.RestoredSession, err error) {
	e, err := s.Control.FindEntry(ctx, id, api.KindSession)
	if err != nil {
		return out, err
	}
	as := supervise.Restoration{Command: e.Rec.Command, ID: in.RestoreID}
	as.CWD = e.View.CWD
	if e.View.Interrupted == nil && e.View.State.Ended() && supervise.IsRestorable(e.Rec) {
		end := s.DescribeEnd(e.Rec)
		as.End, as.CWD = &end, cmp.Or(end.Folder, as.CWD)
	}
	if !supervise.IsFromAgent(e.Rec) { // an agent must not get the caller's variables
		as.Environ, as.Umask = in.Environ, cmp.Or(in.Umask, as.Umask)
	}
	if as.Argv = s.Starter.Shell(as.Environ); names.IsPlainShell(e.Rec.Argv) || prompt.KindOf(e.Rec.Argv).IsShell() {
		as.Argv = e.Rec.Argv
	}
	if last := as.CWD; existingFolder(last) != last {
		as.CWD, out.Note = existingFolder(last), "is gone"
		if moved, ok := s.Trees.FindMoved(ctx, last); ok {
			as.CWD, out.Note = existingFolder(moved), "has moved"
		}
		out.Note = names.ShownPath(last) + " " + out.Note + "; the shell starts in " + names.ShownPath(as.CWD) + "."
	}
	out.Folder = as.CWD
	restarted := e.Rec
	restarted.Argv = as.Argv
	as.Cgroup = s.Starter.CgroupOf(restarted)
	out.Process, err = s.Control.RestoreSession(ctx, changeRequest(ctx, e.Rec.ID, "restore", api.KindSession), as)
	return out, err
}

// existingFolder returns path, or its nearest existing parent if the folder is gone.
func existingFolder(path string) string {
	for path != filepath.Dir(path) {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			break
		}
		path = filepath.Dir(path)
	}
	return path
}

// dismissSessions serves session.dismiss.
func (s *Sessions) dismissSessions(ctx context.Context, in api.SessionDismissInput) (api.Empty, error) {
	ids, err := s.interruptedIDs(ctx, in.IDs, in.All, "")
	for _, id := range ids {
		if err == nil {
			_, err = s.Control.DismissInterruption(ctx, changeRequest(ctx, id, "dismiss", api.KindSession))
		}
	}
	return api.Empty{}, err
}
