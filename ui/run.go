// Package ui implements the dashboard: the one Bubble Tea program, with its views, keys,
// overlays and bars. It shows the state of the engine's API and sends the user's input. It
// owns no session: when it exits, everything keeps running.
package ui

import (
	"cmp"
	"context"
	"fmt"
	"io"
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
	"tandem/panes/sessions"
	"tandem/panes/startform"
	"tandem/themes"
	"tandem/ui/conn"
	"tandem/ui/display"
	"tandem/ui/screen"
)

// Options configures the dashboard.
type Options struct {
	// Connect connects to the engine, starting it if necessary. It is called again after
	// each lost connection.
	Connect func(context.Context) (*client.Client, error)

	Settings // initial settings
	// Follow watches the settings until ctx is done. After each change it calls tell with the new
	// settings. If Follow is nil, the settings never change.
	Follow func(ctx context.Context, tell func(Settings))
	// KeepTheme saves a theme in the configuration and returns the path of the file. Nil
	// means that it cannot be saved.
	KeepTheme func(name string) (path string, err error)

	// KeepPrefix saves a prefix key as KeepTheme saves a theme. Nil means that it cannot
	// be saved.
	KeepPrefix func(key string) (path string, err error)
	// CreateConfig creates config.toml unless it exists, and returns its path. Nil hides
	// the action that edits it.
	CreateConfig func() (path string, err error)
	Command      string // command line that starts the dashboard; default tandem
	InTmux       bool   // the dashboard runs inside tmux

	ShowTips bool   // show tips for newcomers
	HideTips func() // called when the user hides the tips; may be nil

	Files string // folder to open in the Files view; empty opens Sessions
	File  string // file to select there
	// Left, if not nil, is called with the folder of the Files view when the user detaches. The
	// farewell line is then not printed.
	Left func(folder string)

	Recent     []string       // recent choices of the palette, the latest first
	KeepRecent func([]string) // saves the recent choices; may be nil

	Notices io.Writer // receives each message of the status bar as a line; default io.Discard

	Input  *os.File // must be a terminal; default os.Stdin
	Output *os.File // must be a terminal; default os.Stdout
	// AnswerLimit is how long the terminal may take to answer queries; default
	// display.AnswerLimit.
	AnswerLimit time.Duration
	CWD         string // working directory of the first session; default the current one
	Home        string // the user's home directory; default os.UserHomeDir
}

// Run shows the dashboard until the user detaches, a signal arrives or ctx is done. It
// restores the terminal before it returns. It fails before touching the terminal if
// Connect does, or if the theme or the terminal is unsuitable. After the user detached, it
// prints how many sessions keep running.
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
		return conn.NewClient(c), nil
	}
	first, err := connect(ctx)
	if err != nil {
		return err
	}
	return runOn(ctx, o, first, connect)
}

// runOn runs the dashboard on an engine, then calls o.Left or prints the farewell line.
func runOn(ctx context.Context, o Options, first panes.Engine, connect func(context.Context) (panes.Engine, error)) error {
	m, err := runModel(ctx, o, first, connect)
	if err != nil {
		return err
	}
	if o.Left != nil {
		folder := cmp.Or(m.files.Folder(), o.CWD)
		// The local shell cannot change to it.
		if on, _ := api.PathOf(folder); m.news.Machine(on) != nil {
			folder = o.CWD
		}
		o.Left(folder)
		return nil
	}
	if line := farewellLine(m.news, o.Command); line != "" {
		fmt.Fprintln(o.Output, line)
	}
	return nil
}

func (o Options) withDefaults() Options {
	if len(o.Bindings.PrefixKeys()) == 0 {
		o.Bindings = keymap.DefaultBindings()
	}
	o.Command = cmp.Or(o.Command, "tandem")
	o.Input = cmp.Or(o.Input, os.Stdin)
	o.Output = cmp.Or(o.Output, os.Stdout)
	o.Notices = cmp.Or(o.Notices, io.Discard)
	o.AnswerLimit = cmp.Or(o.AnswerLimit, display.AnswerLimit)
	if o.CWD == "" {
		// Without one, the engine chooses.
		o.CWD, _ = os.Getwd()
	}
	if o.Home == "" {
		// Without one, paths are shown in full.
		o.Home, _ = os.UserHomeDir()
	}
	return o
}

// checkTheme rejects unknown theme names.
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

// checkTerminal rejects files the dashboard cannot be drawn on.
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

// runModel runs the program on an open terminal, and returns its final model.
func runModel(ctx context.Context, o Options, first panes.Engine, connect func(context.Context) (panes.Engine, error)) (*model, error) {
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
	in := &screen.Input{Notify: func() {
		t.SkipPause()
		wake.NotifyTyped()
	}}
	reader, err := screen.NewReader(o.Input, in)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	reader.Guard, reader.Fail = l.Guard, cancel
	l.Crash = func(p any) { cancel(fmt.Errorf("panic in the dashboard: %v\n%s", p, debug.Stack())) }
	m := newModel(ctx, o, l, in)
	l.Notify = wake.NotifyNews
	l.Echoed = wake.NotifyEcho
	m.terminal = t
	m.theme.setProfile(t.Profile())
	w, h := t.Size()
	m.tips.offerPrefix()
	if o.Files != "" {
		m.files.GoFolder(o.Files, o.File)
		m.dialog.ForUser(panes.ActionOf(func() { m.views.show(keymap.ViewFiles) }))
		m.sessions.DeferStart = true
	}
	program := tea.NewProgram(m, tea.WithInput(reader.Replies()), tea.WithOutput(o.Output),
		tea.WithoutRenderer(), tea.WithFPS(1), tea.WithWindowSize(w, h), tea.WithoutSignalHandler())
	l.StartTask(func() { l.Run(ctx) })
	l.StartTask(func() { wake.Run(ctx, sendWaking(program.Send)) })
	if o.Follow != nil {
		l.StartTask(func() { o.Follow(ctx, func(s Settings) { program.Send(settingsMsg(s)) }) })
	}
	l.StartTask(func() { t.WatchStops(ctx) })
	l.StartTask(func() { t.WatchSize(ctx, program.Send) })
	l.StartTask(func() {
		<-ctx.Done()
		// Cancelling the program's own context would leave its reader running.
		program.Quit()
	})
	painted := make(chan struct{})
	go func() {
		defer close(painted)
		l.Guard(func() { t.Run(ctx, cancel) })
	}()
	// The painter runs beside the program: a slow terminal must not delay typed input.
	reader.Start()
	_, err = program.Run()
	reader.Stop()
	m.saveOnExit()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	cancel(nil)
	l.Wait()
	t.Await(painted)
	if _, known := m.display.Display(); !known {
		display.DrainAnswers(o.Input, asked.Add(o.AnswerLimit))
	}
	return m, err
}

// endOnSignal cancels ctx on a terminating signal. The program can then restore the terminal; the
// default action of the signal would leave it in raw mode.
func endOnSignal(ctx context.Context, cancel context.CancelCauseFunc) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case s := <-signals:
			cancel(signalError(s))
		case <-ctx.Done():
		}
	}()
	return func() {
		signal.Stop(signals)
		cancel(nil)
		<-done
	}
}

func signalError(s os.Signal) error {
	return fmt.Errorf("the dashboard was stopped by a signal (%s); sessions keep running", s)
}

func newModel(ctx context.Context, o Options, l *conn.Link, in *screen.Input) *model {
	m := &model{o: o, link: l}
	m.env = env{&m.notices.toast, &m.dialog.overlay, ctx, m}
	say, redraw, look := m.notices.toast.Say, m.frame.redraw, &m.theme.look
	m.notices = notices{
		toast:   toast{redraw: redraw, log: o.Notices},
		desktop: desktop{attention: &m.o.Attention, send: m.onTerminal((*screen.Terminal).Notify)},
		failed:  map[string]bool{},
	}
	m.theme = themeState{o: &m.o, say: say, ask: m.dialog.Ask, dark: true, profile: colorprofile.TrueColor}
	m.dialog = openDialog{overlay: overlay{redraw: redraw}, host: m.env, frame: &m.frame, look: look}
	m.tips = tips{o: &m.o, areas: &m.areas, relayout: m.relayout, ask: m.dialog.Ask, say: say}
	m.clip = clipboard{caller: m.env, say: say, paste: m.keyboard.paste, focus: m.keyboard.focus, send: m.onTerminal((*screen.Terminal).Copy), accepts: func() bool {
		return m.o.Clipboard && !m.notices.desktop.blurred
	}}
	m.sessions = sessions.New(m.env)
	m.processes = processes.New(m.env)
	m.history = history.New(m.env)
	m.files = files.New(m.env)
	m.machines = machines.New(m.env)
	dropTyped := func() { in.Drain() }
	m.form = processForm{sessions: m.sessions, processes: m.processes, onProcesses: func() bool { return m.views.action() == keymap.ViewProcesses }}
	m.form.starter = startform.Starter{Env: m.env, DropTyped: dropTyped, Started: m.processes.Select, StartInTree: m.sessions.Launcher.StartInTree}
	m.inserter = inserter{env: m.env, sessions: m.sessions, showTerminal: m.showTerminal, dropTyped: dropTyped}
	m.visits = visits{sessions: m.sessions, news: &m.news, views: &m.views, bindings: m.env.Bindings, note: m.notices.toast.ShowNote}
	m.views = m.listViews()
	m.top = topBar{views: &m.views, areas: &m.areas, news: &m.news, list: m.sessions.List, isClosed: m.sessions.Tabs.IsClosed, look: look}
	m.keyboard = keyboard{
		o: &m.o, resolver: keymap.NewResolver(o.Bindings), dialog: &m.dialog, views: &m.views, frame: &m.frame,
		actions: m.listActions(), sessions: m.sessions, escape: m.leaveTooSmall, say: say,
		prefix: prefixKeys{tips: &m.tips, look: look, frame: &m.frame, waiting: func() bool {
			return m.dialog.open == nil && m.keyboard.resolver.Pending()
		}, works: func(a keymap.Action) bool { return m.keyboard.findAction(a) != nil }},
	}
	m.pointer = pointer{keyboard: &m.keyboard, areas: &m.areas, top: &m.top, fits: func() bool { return !m.areas.isSmall() || m.isTight() }}
	m.input = input{o: &m.o, queue: in, handle: m.handleEvent, forUser: m.dialog.ForUser, byUser: func() bool { return m.dialog.byUser }, textPane: m.keyboard.textPane, keyPane: m.keyboard.keyPane, redraw: redraw}
	if o.Files == "" {
		// What is typed now is meant for the first session.
		m.input.pending = []pendingAction{{panes.Pending{Ready: m.sessions.IsOpen, Then: func() tea.Cmd { return nil }}, true}}
	}
	m.theme.rebuildLook()
	return m
}

// onTerminal returns a function that passes text to the user's terminal, if there is one.
func (m *model) onTerminal(do func(*screen.Terminal, string)) func(string) {
	return func(text string) {
		if m.terminal != nil {
			do(m.terminal, text)
		}
	}
}

// inputMsg reports that typed input is queued.
type inputMsg struct{}

// sendWaking returns the function that the link's waker calls: it sends a message to the program,
// which then fetches the input or the news.
func sendWaking(send func(tea.Msg)) func(conn.Waking) {
	return func(w conn.Waking) {
		if w == conn.WakeTyped {
			send(inputMsg{})
			return
		}
		send(changedMsg{echo: w == conn.WakeEcho})
	}
}
