package panes

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
	"tandem/persist/config/settings"
)

// An Env is the dashboard as all panes see it.
type Env interface {
	Waiter
	NewsSource
	Reporter
	Dialogs
	dialog.Host
	Folders
	Sessions

	Settings() settings.Dashboard // the user's, which may change between calls
	Colors() int                  // number of colors the terminal supports
	// Copy puts text on the clipboard and says so. amount says how much that is, such as "3 lines"; if
	// it is "", Copy counts.
	Copy(text, amount string) tea.Cmd
	StartProcess() tea.Cmd // opens the form for a new process
	// ExpectStop records that the user has stopped a process here, so that its exit causes no note.
	// Call forget if the stop fails.
	ExpectStop(id string) (forget func())
}

// A Caller calls the engine.
type Caller interface {
	Context() context.Context // cancelled when the dashboard exits
	// Engine waits until the engine is connected. It blocks, so it must be called from a command,
	// never from Bubble Tea's goroutine.
	Engine(context.Context) (Engine, error)
}

// A Waiter calls the engine for actions, and makes typed input wait until they are done.
type Waiter interface {
	Caller
	Await(Pending) tea.Cmd // runs it at once if it is ready
}

// A NewsSource provides the state of the engine as reported so far.
type NewsSource interface {
	News() *News
	AddProcesses(...api.Process) tea.Cmd // adds processes from a reply, ahead of their events
}

// A Reporter shows messages in the status bar.
type Reporter interface {
	Say(text string, bad bool) tea.Cmd
	ClearMessage() // removes the last message
	ClearNote()    // the same, but keeps an error, and that something waits for the user
}

// An Urgency is how much an event needs the user.
type Urgency int

const (
	NeedsNothing Urgency = iota
	NeedsAnswer          // a program or an agent waits for the user
	HasFailed
)

// Dialogs are shown one at a time.
type Dialogs interface {
	// Ask opens a dialog while the user's input is being handled. At any other time it queues the
	// dialog: the status bar names it, and a key opens it. An answer of the engine counts as input
	// only if typed input waits for it (Await).
	Ask(dialog.Overlay)
	Shows(dialog.Overlay) bool // reports whether this dialog is open or queued; for nil, whether none is open
}

// Folders are on the dashboard's machine.
type Folders interface {
	Home() string   // the user's home folder; "" if unknown
	Folder() string // working directory of the dashboard
}

// Sessions is what other panes can do with sessions. All methods but Session and IsClosed show the
// view of sessions.
type Sessions interface {
	ShowSession(id string) tea.Cmd
	RestoreSession(id string) tea.Cmd // starts a shell in an ended one, below its screen, and shows it
	Session() (id, folder string)     // the session used last, and its directory
	Insert(text string) tea.Cmd       // types text into that session, or into a new one
	// IsClosed reports whether the user has closed the pane of an exited session, so that its
	// failure no longer counts.
	IsClosed(id string) bool
	// StartSession starts a command in a new session, or a shell if the command is empty.
	StartSession(command []string, folder string) tea.Cmd
	StartOn(machine string) tea.Cmd // starts a shell in a new session on a machine
	// Visit starts a command in a new session called name, or after its program if name is "". When
	// the program has exited, it calls next, which may be nil, and a note names the key that goes back
	// to this pane.
	Visit(name string, command []string, folder string, next func() tea.Cmd) tea.Cmd
}

// AskReplace asks before an existing file is overwritten.
func AskReplace(env Env, path string, then func() tea.Cmd) {
	env.Ask(&dialog.Question{
		Title: "Replace " + text.ClipLeft(text.ShortPath(path, env.Home()), 48) + "?",
		Lines: []string{"The file already exists."},
		Yes:   "replace it",
		Then:  then,
	})
}

// Call returns a command that calls the engine with call. The call is cancelled with ctx. Its answer
// is passed to next on Bubble Tea's goroutine.
func Call[T any](ctx context.Context, env Caller, call func(context.Context, Engine) (T, error), next func(T, error) tea.Cmd) tea.Cmd {
	return func() tea.Msg {
		var answer T
		e, err := env.Engine(ctx)
		if err == nil {
			answer, err = call(ctx, e)
		}
		return Result(func() tea.Cmd { return next(answer, err) })
	}
}

// A LatestCall cancels a call when the next one begins, because only the latest answer is of use.
// The zero value has no call yet.
type LatestCall struct{ cancel context.CancelFunc }

// Begin cancels the previous call and returns the context of the next one.
func (l *LatestCall) Begin(parent context.Context) (ctx context.Context) {
	l.Cancel()
	ctx, l.cancel = context.WithCancel(parent)
	return ctx
}

// Cancel cancels the call, if there is one.
func (l *LatestCall) Cancel() {
	if l.cancel != nil {
		l.cancel()
	}
}

// ReportErrors returns a handler of answers for Call. It reports an error with say, and passes a
// successful answer to next.
func ReportErrors[T any](say func(text string, bad bool) tea.Cmd, next func(T) tea.Cmd) func(T, error) tea.Cmd {
	return func(answer T, err error) tea.Cmd {
		if err != nil {
			return say(ErrorText(err), true)
		}
		return next(answer)
	}
}

// A Pending is an action of the user that must wait for something. Input typed meanwhile waits too,
// because the action may decide where that input goes.
type Pending struct {
	Ready  func() bool    // called after every message
	Then   func() tea.Cmd // the action
	Cancel func()         // called instead if the user cancels; may be nil
}

// AwaitAnswer is like Call, but input that the user types waits until next has been called. The user
// can cancel the call.
func AwaitAnswer[T any](ctx context.Context, env Waiter, call func(context.Context, Engine) (T, error), next func(T, error) tea.Cmd) tea.Cmd {
	ctx, cancel := context.WithCancel(ctx)
	var answered Result
	waiting := env.Await(Pending{
		Ready:  func() bool { return answered != nil },
		Then:   func() tea.Cmd { return answered() },
		Cancel: cancel,
	})
	return tea.Batch(waiting, Call(ctx, env, call, func(answer T, err error) tea.Cmd {
		// The answer has arrived, so release the context.
		cancel()
		answered = func() tea.Cmd { return next(answer, err) }
		return nil
	}))
}

// After returns a command that calls next once d has passed.
func After(d time.Duration, next func() tea.Cmd) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return Result(next) })
}

// A Result is a message with the continuation of a command. The dashboard calls it on Bubble Tea's
// goroutine.
type Result func() tea.Cmd

// Cmd returns the result as a message.
func (r Result) Cmd() tea.Msg { return r }

// Do returns a command that calls the engine by do. It reports only an error to the user, because
// the effect of the call arrives as an event.
func Do(env Caller, do func(context.Context, Engine) error) tea.Cmd {
	return func() tea.Msg {
		e, err := env.Engine(env.Context())
		if err == nil {
			err = do(env.Context(), e)
		}
		return DoneMsg{err}
	}
}

// DoneMsg is the outcome of a Do.
type DoneMsg struct{ Err error }

// ErrorText returns an error with its hint on one line.
func ErrorText(err error) string {
	e := api.AsError(err)
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + " – " + e.Hint
}

// FirstError returns the first error that is not nil. If there are others, its text ends with their
// number.
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
