package panes

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// An Env is what a pane may ask of the dashboard around it.
type Env interface {
	Context() context.Context // ends with the dashboard
	// Engine waits until the engine can be asked. It is for commands, not for
	// Bubble Tea's goroutine.
	Engine(context.Context) (Engine, error)
	News() *News
	Learn(...api.Process) tea.Cmd // what an operation has answered with, before there are news of it

	Home() string   // the person's home folder; "" if that is unknown
	Folder() string // where the dashboard was opened

	Say(text string, bad bool) tea.Cmd
	Unsay()              // takes away what was said last
	UnsayNote()          // the same, but leaves what went wrong
	Ask(overlay.Overlay) // puts a dialog over everything
	Shows(overlay.Overlay) bool
	overlay.Host
	Save(Saving) tea.Cmd
	Await(Pending) tea.Cmd // does it at once if it is ready
	Colors() int           // how many the terminal shows
	FileIcons() bool       // its font has icons for files
	OpenWith() []string    // the person's own command lines to open files with
	// Copy puts text on the clipboard; what says in words how much it is, "" if
	// that is to be counted.
	Copy(text, what string) tea.Cmd

	Elsewhere
}

// Elsewhere is what a pane wants of the others. They are shown with it.
type Elsewhere interface {
	ShowSession(id string) tea.Cmd
	Session() (id, folder string) // that was used last, and where it is
	Insert(text string) tea.Cmd   // types text into that session, or into a new one
	// StartSession starts a command in a new session, a shell without one. Visit
	// comes back to this pane, and does then, when the session is closed.
	StartSession(command []string, folder string) tea.Cmd
	Visit(command []string, folder string, then func() tea.Cmd) tea.Cmd
	StartProcess() tea.Cmd // asks what is to be started
	// Ending notes that the person has asked for the end of a process here, so
	// that nobody tells them of it.
	Ending(id string)
}

// AskReplace asks before a file that is there is written over.
func AskReplace(env Env, path string, then tea.Cmd) {
	env.Ask(&overlay.Question{
		Title: "Replace " + widget.ClipLeft(widget.ShortPath(path, env.Home()), 48) + "?",
		Lines: []string{"The file already exists."},
		Yes:   "replace it",
		Then:  then,
	})
}

// Call runs an operation on the engine as a command. What it cannot be asked
// becomes a message by failed.
func Call(env Env, do func(context.Context, Engine) tea.Msg, failed func(error) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		e, err := env.Engine(env.Context())
		if err != nil {
			return failed(err)
		}
		return do(env.Context(), e)
	}
}

// Ask has the engine do something as a command, for as long as ctx lasts, and goes
// on with the answer.
func Ask[T any](ctx context.Context, env Env, ask func(context.Context, Engine) (T, error), then func(T, error) tea.Cmd) tea.Cmd {
	return func() tea.Msg {
		var answer T
		e, err := env.Engine(ctx)
		if err == nil {
			answer, err = ask(ctx, e)
		}
		return Result(func() tea.Cmd { return then(answer, err) })
	}
}

// A Pending is an action of the user's that cannot be done yet. Input typed meanwhile
// waits, because the action may decide where it goes.
type Pending struct {
	Ready  func() bool    // called after every message
	Then   func() tea.Cmd // the action
	Cancel func()         // called instead if the user cancels; may be nil
}

// AwaitAnswer is Ask with typed input waiting for the answer. The user may cancel it.
func AwaitAnswer[T any](ctx context.Context, env Env, ask func(context.Context, Engine) (T, error), then func(T, error) tea.Cmd) tea.Cmd {
	ctx, cancel := context.WithCancel(ctx)
	var answered Result
	waiting := env.Await(Pending{
		Ready:  func() bool { return answered != nil },
		Then:   func() tea.Cmd { return answered() },
		Cancel: cancel,
	})
	return tea.Batch(waiting, Ask(ctx, env, ask, func(answer T, err error) tea.Cmd {
		cancel()
		answered = func() tea.Cmd { return then(answer, err) }
		return nil
	}))
}

// After goes on when a time has passed.
func After(d time.Duration, then func() tea.Cmd) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return Result(then) })
}

// Result is what a command has brought: how Bubble Tea's goroutine goes on with
// it.
type Result func() tea.Cmd

// Cmd is a command that brings the result.
func (r Result) Cmd() tea.Msg { return r }

// Do has the engine do something whose effect comes as news: only its error is
// told.
func Do(env Env, do func(context.Context, Engine) error) tea.Cmd {
	return func() tea.Msg {
		e, err := env.Engine(env.Context())
		if err == nil {
			err = do(env.Context(), e)
		}
		return DoneMsg{err}
	}
}

// DoneMsg is the outcome of an operation whose effect comes as news.
type DoneMsg struct{ Err error }

// ErrorText is an error with its hint on one line.
func ErrorText(err error) string {
	e := api.AsError(err)
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + " – " + e.Hint
}

// FirstError is the first of errors, with how many more there are.
func FirstError(errs []error) error {
	var first error
	n := 0
	for _, err := range errs {
		if err == nil {
			continue
		}
		if n++; first == nil {
			first = err
		}
	}
	if n > 1 {
		return fmt.Errorf("%s (and %d more)", ErrorText(first), n-1)
	}
	return first
}
