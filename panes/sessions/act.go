package sessions

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// target is the session that an action is about: that of the terminal that has
// the keyboard, or the one under the cursor.
func (p *Pane) target() (api.Process, bool) {
	if !p.shown {
		return api.Process{}, false
	}
	if id, ok := p.env.Focused(); ok {
		return p.env.News().Process(id)
	}
	return p.env.News().Process(p.list.Selected())
}

// AskEnd asks before a session is ended.
func (p *Pane) AskEnd() tea.Cmd {
	session, ok := p.target()
	if !ok {
		return nil
	}
	if session.State.Ended() {
		return p.askForget()
	}
	p.env.Ask(&overlay.Question{
		Title: fmt.Sprintf("Kill session %s?", widget.FullName(&session)),
		Lines: []string{describeKill(&session)},
		Yes:   "kill it",
		Then:  panes.Result(func() tea.Cmd { return p.End(session.ID) }).Cmd,
	})
	return nil
}

// describeKill returns the text of the question before a session is killed.
func describeKill(session *api.Process) string {
	if session.Terminal != nil && session.Terminal.Shell {
		return "Kills its shell and everything in it. Daemons started from the shell keep running."
	}
	return "Kills its program and everything it started."
}

// End ends a session.
func (p *Pane) End(id string) tea.Cmd {
	p.ExpectStop(id)
	p.Trees.ending(id)
	return panes.Do(p.env, func(ctx context.Context, e panes.Engine) error {
		return api.SessionKill.Run(ctx, e, api.IDInput{ID: id})
	})
}

func (p *Pane) askForget() tea.Cmd {
	session, ok := p.target()
	if !ok {
		return nil
	}
	if !session.State.Ended() {
		return p.env.Say("the session is running; kill it first", true)
	}
	p.env.Ask(&overlay.Question{
		Title: fmt.Sprintf("Delete session %s?", widget.FullName(&session)),
		Lines: []string{"Its record and log are deleted."},
		Yes:   "delete it",
		Then: panes.Do(p.env, func(ctx context.Context, e panes.Engine) error {
			return api.ProcessRemove.Run(ctx, e, api.IDInput{ID: session.ID})
		}),
	})
	return nil
}

func (p *Pane) askName() tea.Cmd {
	session, ok := p.target()
	if !ok {
		return nil
	}
	p.env.Ask(overlay.NewPrompt("Rename session", session.Name, func(name string) tea.Cmd {
		if name == "" || name == session.Name {
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
			names = append(names, widget.Clean(session.Name))
		}
	}
	p.env.Ask(overlay.NewFilter("Show sessions with", "", p.filter, func(text string) tea.Cmd {
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

// toggleKeyboard takes the session's keyboard away from agents, or gives it back.
func (p *Pane) toggleKeyboard() tea.Cmd {
	session, ok := p.typable()
	if !ok {
		return nil
	}
	take := session.Terminal.Keyboard == ""
	said, undoes := "Agents can type into ", " stops them again"
	if take {
		said, undoes = "Agents can't type into ", " lets them again"
	}
	return tea.Batch(p.setKeyboard(api.SessionKeyboardInput{ID: session.ID, Take: take}),
		p.sayToggled(said+widget.Clean(session.Name), keymap.SessionKeyboard, undoes))
}

// toggleOpen lets agents type into a session outside the sandbox that they are
// held to, or stops that. In the list a key may be meant for the terminal: there it
// asks before that.
func (p *Pane) toggleOpen() tea.Cmd {
	session, ok := p.typable()
	if !ok {
		return nil
	}
	name := widget.Clean(session.Name)
	set := p.setKeyboard(api.SessionKeyboardInput{ID: session.ID, Open: !session.Terminal.Open})
	said := func(text, undoes string) tea.Cmd { return p.sayToggled(text+name, keymap.SessionOpen, undoes) }
	if session.Terminal.Open {
		return tea.Batch(set, said("Sandboxed agents can't type into ", " lets them again"))
	}
	open := tea.Batch(set, said("Sandboxed agents can type into ", " stops them again"))
	if _, terminal := p.env.Focused(); terminal {
		return open
	}
	p.env.Ask(&overlay.Question{
		Title: "Let sandboxed agents type into " + name + "?",
		Lines: []string{"The session runs outside their sandbox."},
		Yes:   "let them",
		Then:  open,
	})
	return nil
}

// typable is the session that is meant, if somebody can type into it.
func (p *Pane) typable() (session api.Process, ok bool) {
	session, ok = p.target()
	return session, ok && session.Terminal != nil && !session.State.Ended()
}

// setKeyboard says who may type into a session.
func (p *Pane) setKeyboard(in api.SessionKeyboardInput) tea.Cmd {
	return panes.Do(p.env, func(ctx context.Context, e panes.Engine) error {
		return api.SessionKeyboard.Run(ctx, e, in)
	})
}

// sayToggled says what a key has switched in the list, and that the same key switches
// it back. A terminal has a note of its own, which an older message would hide.
func (p *Pane) sayToggled(text string, a keymap.Action, undoes string) tea.Cmd {
	if _, terminal := p.env.Focused(); terminal {
		p.env.ClearNote()
		return nil
	}
	return p.env.Say(text+panes.WithKey(p.env.Bindings(), "; ", a, undoes, keymap.ScopeSessions), false)
}

// keyboardNote says who may type into the session, and that an agent typed last.
func (p *Pane) keyboardNote() string {
	session, ok := p.target()
	if !ok || session.Terminal == nil || session.State.Ended() {
		return ""
	}
	var parts []string
	if name, agent := strings.CutPrefix(session.Terminal.Typist, "agent:"); agent {
		name, _, _ = strings.Cut(name, "/")
		parts = append(parts, "agent "+widget.Clean(name)+" typed last")
	}
	if session.Terminal.Keyboard != "" {
		parts = append(parts, "agents can't type here now")
	}
	if session.Terminal.Open {
		parts = append(parts, "open to sandboxed agents")
	}
	return strings.Join(parts, " · ")
}

// Ending notes that the person has asked for the end of a session here.
func (p *Pane) ExpectStop(id string) { p.ending[id] = true }

// HideSession takes an ended session out of the list, in the next dashboards too. It
// reports whether it was there.
func (p *Pane) HideSession(id string) (was bool) {
	was = !p.closed[id]
	p.closed[id] = true
	return was
}

// IsHidden reports whether a session was taken out of the list.
func (p *Pane) IsHidden(id string) bool { return p.closed[id] }

// Reopen takes sessions that run again out of those that were put away. It reports
// whether there were any.
func (p *Pane) Reopen() (any bool) {
	for _, session := range p.env.News().Processes {
		if p.closed[session.ID] && !session.State.Ended() {
			delete(p.closed, session.ID)
			any = true
		}
	}
	return any
}

// WriteHidden are the newest of the ended sessions that were put away and would
// be listed else, by id.
func (p *Pane) WriteHidden() (ids []string) {
	for _, session := range slices.Backward(p.env.News().Processes) {
		if len(ids) == api.MaxClosed {
			break
		}
		if p.closed[session.ID] && session.Kind == api.KindSession && widget.Failed(&session) {
			ids = append(ids, session.ID)
		}
	}
	slices.Sort(ids)
	return ids
}
