package list

import (
	"context"
	"os"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/text"
)

// A Restorer restores sessions, and dismisses those ended by a reboot or crash.
type Restorer struct {
	env    Env
	target func() (api.Process, bool) // the session that keys apply to

	restoring map[string]bool      // some may run already
	automatic map[string]time.Time // by session: the time of the last interruption that RestoreAutomatically has handled
}

// Offers reports whether the user is offered to restore a session: a reboot or crash has ended it.
func (r *Restorer) Offers(id string) bool {
	p, ok := r.env.News().Process(id)
	return ok && p.Interrupted != nil
}

// Hints returns the hints shown if an interrupted session is selected in the list.
func (r *Restorer) Hints() []keymap.Hint {
	b := r.env.Bindings()
	return []keymap.Hint{
		b.Hint(keymap.Open, "restore", keymap.ScopeList),
		b.Hint(keymap.SessionRestoreAll, "restore all", keymap.ScopeSessions),
		b.Hint(keymap.SessionKill, "dismiss", keymap.ScopeSessions),
		b.Hint(keymap.Help, "keys", keymap.ScopeList),
	}
}

func (r *Restorer) restoreTarget() tea.Cmd {
	if p, ok := r.target(); ok && p.State.Ended() {
		return r.Restore(p.ID)
	}
	return r.env.Say("this session has not ended", false)
}

func (r *Restorer) restoreAll() tea.Cmd {
	ids := r.interrupted(func(*api.Process) bool { return true })
	if len(ids) == 0 {
		return r.env.Say("no session to restore", false)
	}
	return r.Restore(ids...)
}

// RestoreAutomatically restores each interrupted session once if the user has set restore = "yes".
// The sessions of an offline machine are restored when it is connected.
func (r *Restorer) RestoreAutomatically() tea.Cmd {
	if r.env.Settings().Restore != "yes" {
		return nil
	}
	return r.Restore(r.interrupted(func(p *api.Process) bool {
		again := r.automatic[p.ID].Equal(p.Interrupted.At) || !r.env.News().CanReach(p.ID)
		if !again {
			r.automatic[p.ID] = p.Interrupted.At
		}
		return !again
	})...)
}

// interrupted returns the ids of the interrupted sessions for which matches returns true.
func (r *Restorer) interrupted(matches func(*api.Process) bool) (ids []string) {
	all := r.env.News().Processes
	for i := range all {
		if all[i].Interrupted != nil && matches(&all[i]) {
			ids = append(ids, all[i].ID)
		}
	}
	return ids
}

// Restore restores sessions, with one call for each machine. Sessions of this machine get the
// environment of the shell that opened the dashboard. Keys typed meanwhile are dropped, because a
// second enter would run the command that restoring types at the prompt.
func (r *Restorer) Restore(ids ...string) (cmd tea.Cmd) {
	byMachine := map[string][]string{}
	for _, id := range ids {
		if !r.isRestoring(id) {
			r.restoring[id] = true
			machine, _ := api.MachineOf(id)
			byMachine[machine] = append(byMachine[machine], id)
		}
	}
	for _, ids := range byMachine {
		cmd = tea.Batch(cmd, panes.Call(r.env.Context(), r.env, restoreCall(ids...), func(out api.SessionRestoreOutput, err error) tea.Cmd {
			for _, id := range ids {
				if !slices.ContainsFunc(out.Restored, func(s api.RestoredSession) bool { return s.Process.ID == id }) {
					delete(r.restoring, id)
				}
			}
			return r.report(out, err)
		}))
	}
	return cmd
}

// RestoreAndShow restores a session and then shows it. What the user types meanwhile waits.
func (r *Restorer) RestoreAndShow(id string) tea.Cmd {
	return panes.AwaitAnswer(r.env.Context(), r.env, restoreCall(id), func(out api.SessionRestoreOutput, err error) tea.Cmd {
		if len(out.Restored) == 0 {
			return r.report(out, err)
		}
		return tea.Batch(r.report(out, err), r.env.ShowSession(id))
	})
}

// restoreCall returns the call that restores sessions of one machine.
func restoreCall(ids ...string) func(context.Context, panes.Engine) (api.SessionRestoreOutput, error) {
	in := api.SessionRestoreInput{IDs: ids, RestoreID: api.NewID(), Environ: api.Environ(os.Environ()), Umask: api.Umask()}
	return func(ctx context.Context, e panes.Engine) (api.SessionRestoreOutput, error) {
		return api.SessionRestore.Call(ctx, e, in)
	}
}

// isRestoring reports whether a session is being restored.
func (r *Restorer) isRestoring(id string) bool {
	if p, ok := r.env.News().Process(id); !ok || !p.State.Ended() {
		delete(r.restoring, id)
	}
	return r.restoring[id]
}

// report tells the user which sessions could not be restored, and which not in their last folder.
func (r *Restorer) report(out api.SessionRestoreOutput, err error) tea.Cmd {
	if err != nil {
		return r.env.Say(panes.ErrorText(err), true)
	}
	var notes []string
	for _, f := range out.Failed {
		notes = append(notes, text.Clean(f.Error))
	}
	for _, restored := range out.Restored {
		if restored.Note != "" {
			notes = append(notes, text.Clean(restored.Process.Name+": "+restored.Note))
		}
	}
	if len(notes) == 0 {
		return nil
	}
	return r.env.Say(text.First(notes), true)
}

func (r *Restorer) dismissTarget() tea.Cmd {
	if p, ok := r.target(); ok && p.Interrupted != nil {
		return r.Dismiss(p.ID)
	}
	return r.env.Say("no reboot or crash ended this session", false)
}

// Dismiss stops offering to restore a session, and no longer lists it.
func (r *Restorer) Dismiss(id string) tea.Cmd {
	r.env.HideSession(id)
	return panes.Do(r.env, func(ctx context.Context, e panes.Engine) error {
		return api.SessionDismiss.Run(ctx, e, api.SessionDismissInput{IDs: []string{id}})
	})
}
