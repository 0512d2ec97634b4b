// Package ui is the dashboard: the one Bubble Tea program, with its views,
// keys, overlays and bars. It shows what the engine's API tells and sends what
// the person types; it owns no session, and ending it ends nothing.
package ui

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/files"
	"tandem/panes/history"
	"tandem/panes/machines"
	"tandem/panes/processes"
	"tandem/panes/web"
	"tandem/themes"
	"tandem/ui/conn"
	"tandem/ui/display"
	"tandem/ui/screen"
)

// Options are what the dashboard needs from its surroundings.
type Options struct {
	// Connect reaches the engine, starting it if need be. It is called again
	// whenever the connection is lost.
	Connect func(context.Context) (*client.Client, error)

	Settings // what holds at first
	// Follow calls tell with every change of the settings until ctx ends; nil:
	// they stay.
	Follow func(ctx context.Context, tell func(Settings))
	// KeepTheme makes a theme the person's for good and returns the path of the
	// file that says so; nil: it cannot.
	KeepTheme func(name string) (path string, err error)

	// KeepPrefix makes a prefix key the person's for good, as KeepTheme does a
	// theme; nil: it cannot.
	KeepPrefix func(key string) (path string, err error)
	// CreateConfig makes config.toml if it does not exist, and returns its path; nil: the
	// dashboard does not offer to edit it.
	CreateConfig func() (path string, err error)
	Command      string // runs the dashboard again; default tandem
	InTmux       bool   // tmux is between the dashboard and the person

	Tips     bool   // newcomers are told a few keys
	HideTips func() // the person has had enough of them; may be nil

	Files string // the folder that the files view begins with; "" begins with the sessions
	File  string // that the cursor is on there
	// Left is told the folder of the files view when the person leaves; nothing
	// else is said then. May be nil.
	Left func(folder string)

	Recent     []string       // what was chosen in the palette, the latest first
	KeepRecent func([]string) // keeps that for the next dashboard; may be nil

	Input  *os.File // default os.Stdin; has to be a terminal
	Output *os.File // default os.Stdout; has to be a terminal
	// AnswerLimit is how long the terminal may take to answer queries; default
	// display.AnswerLimit.
	AnswerLimit time.Duration
	Version     string
	CWD         string // where the first session starts; default the present folder
	Home        string // of the person; default the one of the system
}

// Run shows the dashboard until the person leaves it, a signal ends it or ctx
// does. The terminal is as it was before when it returns. Errors before the
// terminal was touched are those of a terminal that cannot be used and of
// Connect. After the person left, one line says what goes on.
func Run(ctx context.Context, o Options) error {
	o = o.withDefaults()
	if err := checkTheme(o.Theme, o.ThemeDark, o.ThemeLight); err != nil {
		return err
	}
	if err := checkTerminal(o.Input, o.Output); err != nil {
		return err
	}
	connect := func(ctx context.Context) (panes.Engine, error) {
		c, err := o.Connect(ctx)
		if err != nil {
			return nil, err
		}
		return conn.Client{Client: c}, nil
	}
	first, err := connect(ctx)
	if err != nil {
		return err
	}
	m, err := run(ctx, o, first, connect)
	if err != nil {
		return err
	}
	if o.Left != nil {
		folder := cmp.Or(m.files.Folder(), o.CWD)
		if on, _ := api.PathOf(folder); m.news.Machine(on) != nil { // no shell here can go there
			folder = o.CWD
		}
		o.Left(folder)
		return nil
	}
	if line := farewell(m.news, o.Command); line != "" {
		fmt.Fprintln(o.Output, line)
	}
	return nil
}

func (o Options) withDefaults() Options {
	if len(o.Bindings.PrefixKeys()) == 0 {
		o.Bindings = keymap.DefaultBindings()
	}
	if o.Command == "" {
		o.Command = "tandem"
	}
	if o.Input == nil {
		o.Input = os.Stdin
	}
	if o.Output == nil {
		o.Output = os.Stdout
	}
	if o.AnswerLimit == 0 {
		o.AnswerLimit = display.AnswerLimit
	}
	if o.CWD == "" {
		o.CWD, _ = os.Getwd() // without one the engine chooses
	}
	if o.Home == "" {
		o.Home, _ = os.UserHomeDir() // without one paths are shown in full
	}
	return o
}

// checkTheme refuses names that no theme has.
func checkTheme(names ...string) error {
	for _, name := range names {
		if name == "" || name == "auto" {
			continue
		}
		if _, err := themes.ByName(name, true); err != nil {
			return api.Errorf(api.CodeInvalid, "open the dashboard: %v", err).WithHint("correct theme in config.toml")
		}
	}
	return nil
}

// checkTerminal refuses what the dashboard could not be drawn on.
func checkTerminal(in, out *os.File) error {
	const hint = "without one, use `tandem ls`, `tandem new` and `tandem screen`"
	switch {
	case !term.IsTerminal(in.Fd()):
		return api.Errorf(api.CodeInvalid, "open the dashboard: standard input is not a terminal").WithHint(hint)
	case !term.IsTerminal(out.Fd()):
		return api.Errorf(api.CodeInvalid, "open the dashboard: standard output is not a terminal").WithHint(hint)
	case os.Getenv("TERM") == "dumb":
		return api.Errorf(api.CodeInvalid, "open the dashboard: a terminal with TERM=dumb cannot show it").WithHint(hint)
	}
	return nil
}

// run is Run behind the checks.
func run(ctx context.Context, o Options, first panes.Engine, connect func(context.Context) (panes.Engine, error)) (*model, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := endOnSignal(ctx, cancel)
	defer stop()

	asked := time.Now()
	t, err := screen.Open(o.Input, o.Output)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	wake := conn.NewWaker()
	l := conn.New(first, connect)
	in := &screen.Input{File: o.Input, Notify: func() {
		t.Hurry()
		wake.Typed()
	}}
	l.Crash = func(p any) { cancel(fmt.Errorf("panic in the dashboard: %v\n%s", p, debug.Stack())) }
	m := newModel(ctx, o, l, in)
	l.Notify = func() {
		wake.Changed()
		ring(m.zoom.news)
	}
	l.Echoed = wake.Echoed
	m.stop, m.terminal = cancel, t
	m.theme.setProfile(t.Profile())
	w, h := t.Size()
	m.offerPrefix()
	if o.Files != "" {
		m.files.GoFolder(o.Files, o.File)
		m.switchTo(viewFiles)
		m.sessions.unasked = true
	}
	program := tea.NewProgram(m, tea.WithInput(in), tea.WithOutput(o.Output),
		tea.WithoutRenderer(), tea.WithFPS(1), tea.WithWindowSize(w, h), tea.WithoutSignalHandler())
	l.Start(func() { l.Run(ctx) })
	l.Start(func() { wake.Run(ctx, wakings(program.Send)) })
	if o.Follow != nil {
		l.Start(func() { o.Follow(ctx, func(s Settings) { program.Send(settingsMsg(s)) }) })
	}
	l.Start(func() { t.Watch(ctx, program.Send) })
	l.Start(func() {
		<-ctx.Done()
		program.Quit() // and not its own context, which would leave its reader behind
	})
	painted := make(chan struct{})
	go func() {
		defer close(painted)
		l.Guard(func() { t.Run(ctx, cancel) })
	}()
	_, err = program.Run()
	m.keepLast()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	cancel(nil)
	l.Wait()
	t.Await(painted)
	if _, known := m.display.Display(); !known {
		display.Swallow(o.Input, asked.Add(o.AnswerLimit))
	}
	return m, err
}

// endOnSignal ends the program, not the process, on the signals that ask for
// it, so that the terminal is put back.
func endOnSignal(ctx context.Context, cancel context.CancelCauseFunc) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case s := <-signals:
			cancel(endedBy(s))
		case <-ctx.Done():
		}
	}()
	return func() {
		signal.Stop(signals)
		cancel(nil)
		<-done
	}
}

func endedBy(s os.Signal) error {
	return fmt.Errorf("the dashboard was stopped by a signal (%s); sessions keep running", s)
}

func newModel(ctx context.Context, o Options, l *conn.Link, in *screen.Input) *model {
	m := &model{ctx: ctx, o: o, link: l}
	m.input = input{m: m, queue: in, resolver: keymap.NewResolver(o.Bindings)}
	m.theme = theming{m: m, dark: true, profile: colorprofile.TrueColor}
	m.dialog, m.form, m.notices, m.clip, m.zoom = dialog{m: m}, processForm{m: m}, notices{m: m}, clipboard{m: m}, zoom{m: m, news: make(chan struct{}, 1)}
	m.sessions = newSessionsView(env{m})
	m.processes = processes.New(env{m})
	m.history = history.New(env{m})
	m.files = files.New(env{m})
	m.machines = machines.New(env{m})
	m.browser = web.New(env{m})
	m.input.actions = m.input.makeActions()
	m.theme.apply()
	return m
}

// inputMsg says that typed input waits.
type inputMsg struct{}

// wakings are what the program is told when it is woken.
func wakings(send func(tea.Msg)) func(conn.Waking) {
	return func(w conn.Waking) {
		switch w {
		case conn.Typed:
			send(inputMsg{})
		default:
			send(changedMsg{echo: w == conn.Echoed})
		}
	}
}

func ring(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
