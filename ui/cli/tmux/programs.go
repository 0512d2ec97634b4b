package tmux

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"tandem/engine/api"
	"tandem/ui/cli/tmux/server"
)

// A program describes a program to start in a pane.
type program struct {
	argv []string // nil for the default shell
	cwd  string
	env  []string // "NAME=value"
	name string   // of the session in the dashboard
	w, h int      // size of the pane in cells
}

// programs starts and kills the programs of panes, and keeps the sizes of their terminals.
type programs struct {
	state     *server.State
	engine    *engine
	targets   *targets
	settings  *settings
	formats   *formats
	dashboard *dashboard
}

// parse reads the flags and arguments shared by new-session, new-window, split-window and
// respawn-pane.
func (p *programs) parse(cmd *command, at server.Target) (program, error) {
	s := program{argv: p.startArgv(cmd.args, at), env: cmd.values['e']}
	for _, pair := range s.env {
		if !strings.Contains(pair, "=") {
			return s, fmt.Errorf("invalid environment: %s", pair)
		}
	}
	if cmd.has('c') {
		s.cwd = p.formats.expand(at, cmd.value('c'))
	}
	s.cwd = p.startDirectory(s.cwd, at)
	return s, nil
}

// startDirectory returns the directory for a program. A relative one is resolved against the caller's
// directory, and a missing one is replaced by the home directory. For "", it is the caller's, or the
// session's if the caller is outside the server.
func (p *programs) startDirectory(dir string, at server.Target) string {
	here, _ := os.Getwd()
	if dir == "" {
		if p.targets.own.Pane == nil && at.Session != nil && at.Session.CWD != "" {
			return at.Session.CWD
		}
		return here
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(here, dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		if home, err := os.UserHomeDir(); err == nil {
			return home
		}
	}
	return filepath.Clean(dir)
}

// startArgv returns the command line for args. One argument is a line for the shell; none means
// default-command, or else the shell.
func (p *programs) startArgv(args []string, at server.Target) []string {
	shell := string(p.settings.optionValue(at, "default-shell"))
	if len(args) == 0 {
		if line := string(p.settings.optionValue(at, "default-command")); line != "" {
			return []string{shell, "-c", line}
		}
		if _, chosen, _ := p.state.LookupOption(at, "default-shell"); chosen {
			return []string{shell}
		}
		return nil
	}
	if len(args) == 1 {
		return []string{shell, "-c", args[0]}
	}
	return args
}

// start starts prog as a session of the engine and records it in pane.
func (p *programs) start(pane *server.Pane, at server.Target, prog program) error {
	if _, err := p.engine.connect(); err != nil {
		return err
	}
	env, environ := p.settings.paneEnviron(pane, at, prog.env)
	process, err := callEngine(p.engine, api.SessionStart, api.SessionStartInput{
		ID: api.NewID(), Command: prog.argv, Name: p.engine.freeName(prog.name), CWD: prog.cwd, Env: env, Environ: environ, Umask: api.Umask(),
		Cols: min(max(prog.w, 1), 1000), Rows: min(max(prog.h, 1), 1000),
	})
	if err != nil {
		return fmt.Errorf("create pane failed: %w", err)
	}
	if process.IsPrivate() {
		_, err := callEngine(p.engine, api.SessionKill, api.IDInput{ID: process.ID})
		return errors.Join(errPrivate, err)
	}
	// A PID alone may be reused; with its start time it identifies the program.
	pane.Terminal, pane.Argv, pane.CWD = process.ID, prog.argv, prog.cwd
	pane.PID, pane.StartTime = process.PID, startTime(process.PID)
	// A session missing from a fetched list would count as exited.
	if p.engine.processes != nil {
		p.engine.processes[process.ID] = process
	}
	return nil
}

// kill kills the program of a pane and its pipe. Adopted programs keep running.
func (p *programs) kill(pane *server.Pane) error {
	if pane.Pipe != "" {
		_ = p.stopPipe(pane) // it also exits at the end of the output
	}
	if pane.Adopted || !p.engine.isAlive(pane) {
		return nil
	}
	if _, err := callEngine(p.engine, api.SessionKill, api.IDInput{ID: pane.Terminal}); err != nil {
		return err
	}
	delete(p.engine.processes, pane.Terminal)
	return nil
}

// remove removes a pane from the server and, unless adopted, from the dashboard.
func (p *programs) remove(at server.Target) {
	if !at.Pane.Adopted {
		p.dashboard.removed = append(p.dashboard.removed, at.Pane.Terminal)
	}
	p.state.RemovePane(at)
	p.dashboard.markChanged(at.Window)
	if len(at.Window.Panes) > 0 {
		_ = p.resizeTerminals(at.Window)
	} else if p.state.IsRunning() && p.settings.optionValue(at, "renumber-windows").IsOn() {
		at.Session.RenumberWindows(p.settings.baseIndex(at.Session))
	}
}

// addSession adds s with a first window running prog. An empty window name is derived from prog.
func (p *programs) addSession(s *server.Session, window string, prog program) (server.Target, error) {
	if !p.state.IsRunning() {
		p.state.Started = time.Now()
	}
	p.state.Next.Session++
	// s joins the server only with its window: a session without one would break targets.
	at := server.Target{Session: s}
	index := p.settings.baseIndex(s)
	if _, err := p.addWindow(&at, index, window, prog); err != nil {
		return at, err
	}
	p.state.Sessions = append(p.state.Sessions, s)
	s.MarkUsed()
	return at, nil
}

// addWindow starts prog in a new window at index of at.Session, and sets the rest of at to it.
func (p *programs) addWindow(at *server.Target, index int, name string, prog program) (*server.Window, error) {
	pane := p.state.NewPane()
	w := p.state.NewWindow(pane, index, at.Session.W, at.Session.H)
	if w.SetName(name); name == "" {
		w.Name = p.settings.programName(prog.argv)
	}
	prog.w, prog.h, prog.name = at.Session.W, at.Session.H, at.Session.Name+":"+w.Name
	at.Window, at.Pane, at.Index = w, pane, index
	if err := p.start(pane, *at, prog); err != nil {
		return nil, err
	}
	at.Session.AddWindow(w)
	if len(at.Session.Windows) == 1 {
		at.Session.ShowWindow(w)
	}
	p.dashboard.markChanged(w)
	return w, nil
}

// killPanes kills the programs of the matching panes and removes the panes.
func (p *programs) killPanes(matches func(server.Target) bool) error {
	for _, at := range p.state.ListPanes(matches) {
		if err := p.kill(at.Pane); err != nil {
			return err
		}
		p.remove(at)
	}
	return nil
}

// applyLayout applies the consequences of a changed layout of w: the order of panes, the sizes of
// their terminals and the dashboard's tab.
func (p *programs) applyLayout(w *server.Window) error {
	w.SortPanes()
	p.dashboard.markChanged(w)
	return p.resizeTerminals(w)
}

// resizeTerminals resizes the terminals of w to the sizes of their panes.
func (p *programs) resizeTerminals(w *server.Window) error {
	for _, pane := range w.Panes {
		cell, t := w.PaneCell(pane), p.engine.knownProcesses()[pane.Terminal].Terminal
		if cell == nil || t == nil || !p.engine.isAlive(pane) || t.Viewers > 0 || (t.Cols == cell.W && t.Rows == cell.H) {
			continue // a viewer, if there is one, decides the size
		}
		in := api.SessionResizeInput{ID: pane.Terminal, Cols: min(max(cell.W, 1), 1000), Rows: min(max(cell.H, 1), 1000)}
		if _, err := callEngine(p.engine, api.SessionResize, in); err != nil {
			return err
		}
		t.Cols, t.Rows = in.Cols, in.Rows
	}
	return nil
}

func execProgram(argv, environ []string) error {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	return syscall.Exec(path, argv, environ)
}
