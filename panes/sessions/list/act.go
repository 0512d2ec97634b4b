package list

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// targetSession returns the session an action applies to: the one with the keyboard, or else the
// one under the cursor.
func (p *Pane) targetSession() (api.Process, bool) {
	if !p.shown {
		return api.Process{}, false
	}
	if id, ok := p.env.Focused(); ok {
		return p.env.News().Process(id)
	}
	return p.env.News().Process(p.list.Selected())
}

// AskKill asks before it kills the target session. If the session has exited, it asks whether to
// delete it. An interrupted session is dismissed without asking.
func (p *Pane) AskKill() tea.Cmd {
	session, ok := p.targetSession()
	if !ok {
		return nil
	}
	switch {
	case session.Interrupted != nil:
		return p.Restorer.Dismiss(session.ID)
	case session.State.Ended():
		return p.askDelete()
	}
	p.env.Ask(&dialog.Question{
		Title: fmt.Sprintf("Kill session %s?", states.FullName(&session)),
		Lines: []string{describeKill(&session)},
		Yes:   "kill it",
		Then:  func() tea.Cmd { return p.KillSession(session.ID) },
	})
	return nil
}

// describeKill returns the body of the dialog that asks before a session is killed.
func describeKill(session *api.Process) string {
	if session.Terminal != nil && session.Terminal.Shell {
		return "Kills its shell and everything in it. Daemons started from the shell keep running."
	}
	return "Kills its program and everything it started."
}

func (p *Pane) KillSession(id string) tea.Cmd {
	// Record the stop first: news of the exit may arrive before the reply.
	forget := p.ExpectStop(id)
	p.Trees.killed[id] = true
	return panes.Call(p.env.Context(), p.env, func(ctx context.Context, e panes.Engine) (api.Process, error) {
		return api.SessionKill.Call(ctx, e, api.IDInput{ID: id})
	}, func(_ api.Process, err error) tea.Cmd {
		if err == nil {
			return nil
		}
		forget()
		delete(p.Trees.killed, id)
		return p.env.Say(panes.ErrorText(err), true)
	})
}

func (p *Pane) askDelete() tea.Cmd {
	session, ok := p.targetSession()
	if !ok {
		return nil
	}
	if !session.State.Ended() {
		return p.env.Say("the session is running; kill it first", true)
	}
	p.env.Ask(&dialog.Question{
		Title: fmt.Sprintf("Delete session %s?", states.FullName(&session)),
		Lines: []string{"Its record and log are deleted."},
		Yes:   "delete it",
		Then: func() tea.Cmd {
			return panes.Do(p.env, func(ctx context.Context, e panes.Engine) error {
				return api.ProcessRemove.Run(ctx, e, api.IDInput{ID: session.ID})
			})
		},
	})
	return nil
}

func (p *Pane) askName() tea.Cmd {
	session, ok := p.targetSession()
	if !ok {
		return nil
	}
	p.env.Ask(dialog.NewPrompt("Rename session", session.Name, func(name string) tea.Cmd {
		if name == session.Name {
			return nil
		}
		return panes.Do(p.env, func(ctx context.Context, e panes.Engine) error {
			return api.SessionRename.Run(ctx, e, api.SessionRenameInput{ID: session.ID, Name: name, Revision: session.Revision})
		})
	}))
	return nil
}

func (p *Pane) askFilter() tea.Cmd {
	if !p.shown {
		return nil
	}
	var names []string
	for _, session := range p.env.News().Processes {
		if session.Kind == api.KindSession {
			names = append(names, text.Clean(session.Name))
		}
	}
	p.env.Ask(dialog.NewFilter("Show sessions with", "", p.filter, func(text string) tea.Cmd {
		p.filter = text
		p.Refresh()
		return nil
	}).SuggestWords(names))
	return nil
}

func (p *Pane) clearFilter() tea.Cmd {
	p.filter = ""
	p.Refresh()
	return nil
}

// toggleKeyboard switches the keyboard lock of a session.
func (p *Pane) toggleKeyboard() tea.Cmd {
	session, ok := p.typableTarget()
	if !ok {
		return nil
	}
	take := session.Terminal.Keyboard == ""
	note, undoes := "Agents can type into ", " stops them again"
	if take {
		note, undoes = "Agents can't type into ", " lets them again"
	}
	return p.setKeyboard(api.SessionKeyboardInput{ID: session.ID, Take: take}, func() tea.Cmd {
		return p.reportToggle(note+text.Clean(session.Name), keymap.SessionKeyboard, undoes)
	})
}

// toggleSandboxAccess switches whether sandboxed agents may type into a session outside their
// sandbox. In the list it asks first, because the key may have been meant for the terminal.
func (p *Pane) toggleSandboxAccess() tea.Cmd {
	session, ok := p.typableTarget()
	if !ok {
		return nil
	}
	name := text.Clean(session.Name)
	open := !session.Terminal.Open
	note, undoes := "Sandboxed agents can't type into ", " lets them again"
	if open {
		note, undoes = "Sandboxed agents can type into ", " stops them again"
	}
	set := p.setKeyboard(api.SessionKeyboardInput{ID: session.ID, Open: open}, func() tea.Cmd {
		return p.reportToggle(note+name, keymap.SessionOpen, undoes)
	})
	if _, terminal := p.env.Focused(); terminal || !open {
		return set
	}
	p.env.Ask(&dialog.Question{
		Title: "Let sandboxed agents type into " + name + "?",
		Lines: []string{"The session runs outside their sandbox."},
		Yes:   "let them",
		Then:  func() tea.Cmd { return set },
	})
	return nil
}

// typableTarget returns the target session; ok is false if it cannot be typed into.
func (p *Pane) typableTarget() (session api.Process, ok bool) {
	session, ok = p.targetSession()
	return session, ok && session.Terminal != nil && !session.State.Ended()
}

// setKeyboard sets who may type into a session. Once the engine has done so, it calls next.
func (p *Pane) setKeyboard(in api.SessionKeyboardInput, next func() tea.Cmd) tea.Cmd {
	return panes.Call(p.env.Context(), p.env, func(ctx context.Context, e panes.Engine) (api.Process, error) {
		return api.SessionKeyboard.Call(ctx, e, in)
	}, panes.ReportErrors(p.env.Say, func(api.Process) tea.Cmd { return next() }))
}

// reportToggle reports, in the list, what a key has switched and how to switch it back. In a
// terminal the pane's own note shows the new state, so only an older message is removed.
func (p *Pane) reportToggle(text string, a keymap.Action, undoes string) tea.Cmd {
	if _, terminal := p.env.Focused(); terminal {
		p.env.ClearNote()
		return nil
	}
	return p.env.Say(text+p.env.Bindings().WithKey("; ", a, undoes, keymap.ScopeSessions), false)
}

// keyboardNote says who may type into the target session, and whether an agent was the last to
// type.
func (p *Pane) keyboardNote() string {
	session, ok := p.targetSession()
	if !ok || session.Terminal == nil || session.State.Ended() {
		return ""
	}
	var parts []string
	if name, agent := strings.CutPrefix(session.Terminal.Typist, "agent:"); agent {
		name, _, _ = strings.Cut(name, "/")
		parts = append(parts, "agent "+text.Clean(name)+" typed last")
	}
	if session.Terminal.Keyboard != "" {
		parts = append(parts, "agents can't type here now")
	}
	if session.Terminal.Open {
		parts = append(parts, "open to sandboxed agents")
	}
	return strings.Join(parts, " · ")
}

// ExpectStop records that the user has stopped a session in this dashboard, so that its exit needs
// no note. Call forget if the stop fails.
func (p *Pane) ExpectStop(id string) (forget func()) {
	maps.DeleteFunc(p.stopping, func(id string, run time.Time) bool {
		session, _ := p.env.News().Process(id)
		return !run.IsZero() && !run.Equal(session.StartedAt)
	})
	session, _ := p.env.News().Process(id)
	p.stopping[id] = session.StartedAt
	return func() { delete(p.stopping, id) }
}

// takeStop reports whether the user has stopped this run of a session in this dashboard. A second
// call reports false.
func (p *Pane) takeStop(session *api.Process) bool {
	run, ok := p.stopping[session.ID]
	delete(p.stopping, session.ID)
	return ok && (run.IsZero() || run.Equal(session.StartedAt))
}
