package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"tandem/engine/base/sleep"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/tmux/server"
)

// RunWith runs a program with this one as its `tmux` and returns its exit status. Inside a session of
// Tandem, the session becomes a pane of the server, and splits appear beside it. In another terminal,
// the program starts in a new session, and the terminal becomes the dashboard.
func RunWith(ctx context.Context, o Options, argv []string) (status int, err error) {
	path, err := serverPath(o.Environ, &command{})
	if err != nil {
		return 1, err
	}
	dir, err := LinkTmux(filepath.Dir(path))
	if err != nil {
		return 1, err
	}
	// A real tmux around this program must not receive the commands meant for Tandem.
	environ := slices.DeleteFunc(slices.Clone(o.Environ), func(pair string) bool {
		return strings.HasPrefix(pair, "TMUX=") || strings.HasPrefix(pair, "TMUX_PANE=") || strings.HasPrefix(pair, "PATH=")
	})
	environ = append(environ, "PATH="+dir+string(os.PathListSeparator)+lookupEnv(o.Environ, "PATH"))
	o.Environ = environ
	c := newCall(ctx, o, path)
	defer c.engine.close()
	if terminal := (clients{c.parts}); terminal.checkAttach() == nil {
		return c.openProgram(argv)
	}
	at, adopted, err := c.adoptSession()
	if err != nil {
		return 1, err
	}
	session := 0
	if at.Pane != nil {
		session = at.Session.ID
		environ = append(environ, fmt.Sprintf("TMUX_PANE=%%%d", at.Pane.ID))
	}
	environ = append(environ, "TMUX="+formatTmuxVariable(path, os.Getpid(), session))
	o.Environ = environ
	status, err = runProgram(ctx, o, argv)
	if adopted {
		err = errors.Join(err, c.releasePane(at.Pane.ID))
	}
	return status, err
}

// openProgram starts a program in a new session and replaces this process with the dashboard.
func (c *call) openProgram(argv []string) (status int, err error) {
	if path := findExecutable(c.Environ, argv[0]); !strings.Contains(path, "/") {
		return 127, fmt.Errorf("run %s: not found", argv[0])
	}
	if err := c.lock(); err != nil {
		return 1, err
	}
	err = c.refreshState()
	if err == nil {
		err = c.openNewSession(argv)
	}
	if err = errors.Join(err, c.commitState()); err != nil {
		return 1, err
	}
	return 1, c.execDashboard()
}

func (c *call) openNewSession(argv []string) error {
	s := newUniqueSession(c.file.State, filepath.Base(argv[0]), c.programs.startDirectory("", server.Target{}))
	terminal := clients{c.parts}
	if s.W, s.H, _ = terminal.terminalSize(); s.W == 0 {
		s.W, s.H = 80, 24
	}
	at, err := c.programs.addSession(s, "", program{argv: argv, cwd: s.CWD})
	if err != nil {
		return err
	}
	return terminal.openSession(at, false)
}

// newUniqueSession returns a session called name, with a number appended if name is taken.
func newUniqueSession(state *server.State, name, cwd string) *server.Session {
	name = cleanName(name)
	s := &server.Session{ID: state.Next.Session, Created: time.Now(), CWD: cwd, Name: name}
	for n := 2; state.HasSession(s.Name); n++ {
		s.Name = fmt.Sprintf("%s-%d", name, n)
	}
	return s
}

// LinkTmux creates dir/bin with a link `tmux` to this program and returns the directory, for PATH.
func LinkTmux(dir string) (string, error) {
	executable, err := os.Executable()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, "bin")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	link := filepath.Join(dir, "tmux")
	if target, err := os.Readlink(link); err == nil && target == executable {
		return dir, nil
	}
	// A rename replaces the link at once, so it is never missing from PATH.
	newLink := fmt.Sprintf("%s.%d", link, os.Getpid())
	if err := os.Symlink(executable, newLink); err != nil {
		return "", err
	}
	return dir, os.Rename(newLink, link)
}

// adoptSession makes the session of this process a pane of the server and reports whether it was not
// one before. Outside a session it returns the zero Target.
func (c *call) adoptSession() (at server.Target, adopted bool, err error) {
	id := c.settings.lookupEnv(factory.OwnSession)
	if err := c.lock(); err != nil {
		return at, false, err
	}
	defer func() { err = errors.Join(err, c.commitState()) }()
	if err = c.awaitListed(id); err != nil {
		return at, false, err
	}
	c.removeExited()
	if !c.file.IsRunning() {
		c.file.Started = time.Now()
	}
	process, known := c.engine.knownProcesses()[id]
	if !known || process.State.Ended() || process.Terminal == nil {
		return at, false, nil
	}
	if at = c.file.FindPane(func(p server.Target) bool { return p.Pane.Terminal == id }); at.Pane != nil {
		return at, false, nil
	}
	if process.IsPrivate() {
		return at, false, errPrivate
	}
	p := c.file.NewPane()
	p.Terminal, p.Adopted, p.CWD, p.Argv, p.PID = id, true, process.CWD, process.Argv, process.PID
	p.StartTime = startTime(p.PID)
	s := newUniqueSession(c.file.State, process.Name, process.CWD)
	s.W, s.H = process.Terminal.Cols, process.Terminal.Rows
	c.file.Next.Session++
	w := c.file.NewWindow(p, 0, s.W, s.H)
	w.Name = c.settings.programName(process.Argv)
	s.AddWindow(w)
	s.ShowWindow(w)
	c.file.Sessions = append(c.file.Sessions, s)
	s.MarkUsed()
	return server.Target{Session: s, Window: w, Pane: p}, true, nil
}

const (
	// listTimeout is how long to wait for the engine to list a session whose program runs.
	listTimeout = time.Second
	listPoll    = 10 * time.Millisecond
)

// awaitListed polls the engine until it lists session, for at most listTimeout. A timeout is
// not an error.
func (c *call) awaitListed(session string) error {
	for began := time.Now(); ; {
		err := c.engine.fetchProcesses()
		if _, listed := c.engine.processes[session]; err != nil || listed || session == "" || time.Since(began) > listTimeout {
			return err
		}
		if err := sleep.For(c.ctx, listPoll); err != nil {
			return err
		}
	}
}

// releasePane removes an adopted pane from the server. Other panes of its window stay.
func (c *call) releasePane(pane int) (err error) {
	if err := c.lock(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.commitState()) }()
	if at := c.file.FindPane(func(p server.Target) bool { return p.Pane.ID == pane && p.Pane.Adopted }); at.Pane != nil {
		c.file.RemovePane(at)
	}
	return nil
}

// runProgram runs a program on this process's streams and returns its exit status, 128 plus the number
// for a signal. Interrupts from the terminal are ignored here, as the program gets them too.
func runProgram(ctx context.Context, o Options, argv []string) (int, error) {
	path := findExecutable(o.Environ, argv[0])
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.Args[0] = argv[0] // as typed, not the full path
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = o.Environ, o.Stdin, o.Stdout, o.Stderr
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGQUIT)
	defer signal.Stop(signals)
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return 128 + int(status.Signal()), nil
		}
		return exit.ExitCode(), nil
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return 127, fmt.Errorf("run %s: not found", argv[0])
	case err != nil:
		return 126, err
	}
	return 0, nil
}

// findExecutable looks up a program in the PATH of environ, rather than this process's. It returns
// name unchanged if there is none.
func findExecutable(environ []string, name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	for _, dir := range filepath.SplitList(lookupEnv(environ, "PATH")) {
		full := filepath.Join(dir, name)
		if info, err := os.Stat(full); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return full
		}
	}
	return name
}
