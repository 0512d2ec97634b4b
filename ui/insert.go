package ui

import (
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
	"tandem/panes/sessions"
	"tandem/panes/terminal"
)

// maxForegroundWait is how long to wait for the name of a session's foreground program, and
// maxInsertWait for the session's terminal to take the command. Input is held meanwhile.
const (
	maxForegroundWait = 3 * time.Second
	maxInsertWait     = 6 * time.Second
)

// An inserter types commands into sessions.
type inserter struct {
	env          panes.Env
	sessions     *sessions.View
	showTerminal func() // focuses the pane used last
	dropTyped    func() // drops the queued input
}

// insertText types text at the prompt of the session used last, or of a new one if that
// has exited. If a program other than the shell runs, it asks the user first.
func (i *inserter) insertText(text string) tea.Cmd {
	i.env.Close()
	p := i.sessions.CurrentPane()
	if cannotType(p) {
		return i.insertNew(text)
	}
	i.showTerminal()
	if p.Starting {
		return i.typeOnceStarted(p, text)
	}
	ctx, cancel := context.WithTimeout(i.env.Context(), maxForegroundWait)
	return panes.AwaitAnswer(ctx, i.env, func(ctx context.Context, e panes.Engine) (api.SessionForegroundOutput, error) {
		return api.SessionForeground.Call(ctx, e, api.IDInput{ID: p.ID})
	}, func(now api.SessionForegroundOutput, err error) tea.Cmd {
		cancel()
		return i.insertInto(p, text, now, err)
	})
}

// insertInto types a command once the session's foreground program is known.
func (i *inserter) insertInto(p *terminal.Pane, command string, now api.SessionForegroundOutput, err error) tea.Cmd {
	switch {
	case cannotType(p):
		return i.insertNew(command)
	case err != nil:
		return i.env.Say("not inserted: "+panes.ErrorText(err), true)
	case now.Prompt:
		return i.typeCommand(p, command, false)
	}
	// Queued keys were meant for a prompt, and would answer the question.
	i.dropTyped()
	session, _ := i.env.News().Process(p.ID)
	title := text.Clip(text.Clean(session.Name), 30) + " is not at its prompt"
	if now.Program != "" {
		title = text.Clip(text.Clean(session.Name), 30) + " is running " + text.Clip(text.Clean(now.Program), 30)
	}
	i.env.Ask(&dialog.Question{
		Title: title + ".",
		Lines: []string{"Type it there anyway, or open a new session?"},
		Replies: []dialog.Reply{
			{Key: "t", Does: "type it there", Then: func() tea.Cmd { return i.typeCommand(p, command, false) }},
			{Key: "n", Does: "new session", Then: func() tea.Cmd { return i.insertNew(command) }},
		},
	})
	return nil
}

// insertNew types text into a new session.
func (i *inserter) insertNew(text string) tea.Cmd {
	start := i.sessions.Launcher.NewSession()
	i.showTerminal()
	return tea.Batch(start, i.typeOnceStarted(i.sessions.CurrentPane(), text))
}

// typeOnceStarted types a command once the session of p is started.
func (i *inserter) typeOnceStarted(p *terminal.Pane, command string) tea.Cmd {
	isOpen := func() bool { tab, _ := i.sessions.Tabs.FindSession(p.ID); return tab != nil } // not if the start failed
	return i.env.Await(panes.Pending{
		Ready: func() bool { return !p.Starting || !isOpen() },
		Then: func() tea.Cmd {
			if p.Starting {
				return nil
			}
			return i.typeCommand(p, command, false)
		},
	})
}

// typeCommand types a command into the session of p. If the command has several lines and the
// program may run each as it arrives, typeCommand asks the user first, unless lines is set.
func (i *inserter) typeCommand(p *terminal.Pane, command string, lines bool) tea.Cmd {
	p.LeaveScroll()
	ctx, cancel := context.WithTimeout(i.env.Context(), maxInsertWait)
	return panes.AwaitAnswer(ctx, i.env, func(ctx context.Context, e panes.Engine) (api.Empty, error) {
		return api.SessionInsert.Call(ctx, e, api.SessionInsertInput{ID: p.ID, Text: command, Lines: lines})
	}, func(_ api.Empty, err error) tea.Cmd {
		cancel()
		switch {
		case errors.Is(err, api.ReasonRunsLines):
			i.dropTyped() // it would answer the question
			i.env.Ask(&dialog.Question{
				Title: "Insert " + text.Itoa(strings.Count(strings.TrimRight(command, "\n"), "\n")+1) + " lines at the prompt?",
				Lines: []string{"This program may run each line as it arrives."},
				Yes:   "insert",
				Then:  func() tea.Cmd { return i.typeCommand(p, command, true) },
			})
		case err != nil:
			return i.env.Say("not inserted: "+panes.ErrorText(err), true)
		}
		return nil
	})
}

// cannotType reports whether p is nil or its session takes no input.
func cannotType(p *terminal.Pane) bool { return p == nil || p.FinalState() != nil || p.Err() != nil }
