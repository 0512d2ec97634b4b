package tmux

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"tandem/engine/api"
	"tandem/ui/cli/procfs"
	"tandem/ui/cli/tmux/cells"
	"tandem/ui/cli/tmux/server"
)

// A start is a program that a pane begins with.
type start struct {
	argv []string
	cwd  string
	env  []string // "NAME=value"
	name string   // of the session in the dashboard
	w, h int
}

// startOf reads what new-session, new-window, split-window and respawn-pane have in common.
func startOf(c *call, cmd *command, at server.Target) (start, error) {
	s := start{argv: argvOf(c, cmd.args, at), env: cmd.flags['e']}
	for _, pair := range s.env {
		if !strings.Contains(pair, "=") {
			return s, fmt.Errorf("invalid environment: %s", pair)
		}
	}
	if cmd.has('c') {
		s.cwd = c.scope(at).Expand(cmd.value('c'))
	}
	s.cwd = folderOf(c, s.cwd, at)
	return s, nil
}

// folderOf returns where a program starts; relative paths begin where this was called.
func folderOf(c *call, asked string, at server.Target) string {
	here, _ := os.Getwd()
	if asked == "" {
		if c.own.Pane == nil && at.Session != nil && at.Session.CWD != "" {
			return at.Session.CWD
		}
		return here
	}
	if !filepath.IsAbs(asked) {
		asked = filepath.Join(here, asked)
	}
	if info, err := os.Stat(asked); err != nil || !info.IsDir() {
		if home, err := os.UserHomeDir(); err == nil {
			return home
		}
	}
	return filepath.Clean(asked)
}

// argvOf returns what to run: one argument is a line for the shell, none is the shell.
func argvOf(c *call, args []string, at server.Target) []string {
	shell := string(c.option(at, "default-shell"))
	if len(args) == 0 {
		if line := string(c.option(at, "default-command")); line != "" {
			return []string{shell, "-c", line}
		}
		if _, chosen, _ := c.file.LookupOption(at, "default-shell"); chosen {
			return []string{shell}
		}
		return nil
	}
	if len(args) == 1 {
		return []string{shell, "-c", args[0]}
	}
	return args
}

// programName returns the name of a program for its window.
func (c *call) programName(argv []string) string {
	if len(argv) == 0 {
		return filepath.Base(cmp.Or(c.env("SHELL"), "sh"))
	}
	word := argv[0]
	if len(argv) == 3 && argv[1] == "-c" {
		word = argv[2]
		if fields := strings.Fields(word); len(fields) > 0 {
			word = fields[0]
			if word == "exec" && len(fields) > 1 {
				word = fields[1]
			}
		}
	}
	return filepath.Base(strings.Trim(word, `"'`))
}

// begin starts a program for a pane.
func (c *call) begin(p *server.Pane, at server.Target, s start) error {
	if _, err := c.client(); err != nil {
		return err
	}
	env, environ := c.environment(p, at, s.env)
	process, err := ask(c, api.SessionStart, api.SessionStartInput{
		ID: api.NewID(), Command: s.argv, Name: c.freeName(s.name), CWD: s.cwd, Env: env, Environ: environ, Umask: api.Umask(),
		Cols: min(max(s.w, 1), 1000), Rows: min(max(s.h, 1), 1000),
	})
	if err != nil {
		return fmt.Errorf("create pane failed: %w", err)
	}
	p.Terminal, p.Argv, p.CWD = process.ID, s.argv, s.cwd
	p.PID, p.StartTime = process.PID, ""
	if s, ok := procfs.Read(p.PID); ok {
		p.StartTime = s.StartTime
	}
	if c.running != nil {
		c.running[process.ID] = process
	}
	return nil
}

// globalEnviron returns the environment that panes start from: the caller's, which is kept nowhere, and
// over it what was set.
func (c *call) globalEnviron() server.Environ {
	all := server.Environ{}
	for name, value := range api.Environ(c.Environ) {
		all[name] = &value
	}
	for _, name := range c.file.Unset {
		delete(all, name)
	}
	maps.Copy(all, c.file.Environ)
	return all
}

// environFor returns the variables that programs of a session get; s may be nil.
func (c *call) environFor(s *server.Session) map[string]string {
	all := c.globalEnviron()
	if s != nil {
		maps.Copy(all, s.Environ)
	}
	values := make(map[string]string, len(all))
	for name, value := range all {
		if value != nil {
			values[name] = *value
		}
	}
	return values
}

// environment returns what a pane's program gets: the variables of its session, and over them those
// of -e and where it is.
func (c *call) environment(p *server.Pane, at server.Target, extra []string) (env, environ map[string]string) {
	environ, env = c.environFor(at.Session), map[string]string{}
	for _, pair := range extra {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	session := 0
	if at.Session != nil {
		session = at.Session.ID
	}
	env["TMUX"] = c.tmuxVariable(session)
	env["TMUX_PANE"] = fmt.Sprintf("%%%d", p.ID)
	return env, environ
}

// tmuxVariable returns the value of TMUX: the server, a process and the session.
func (c *call) tmuxVariable(session int) string {
	return fmt.Sprintf("%s,%d,%d", c.path, c.pid(), session)
}

// pid returns that of the process that holds the terminals.
func (c *call) pid() int {
	held := os.Getpid()
	if c.file == nil {
		return held
	}
	for _, at := range c.file.ListPanes(nil) {
		if stat, ok := procfs.Read(at.Pane.PID); ok && stat.Parent > 1 {
			held = stat.Parent
		}
	}
	return held
}

// freeName returns name, with a number behind it if a running session has it.
func (c *call) freeName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.TrimSpace(name))
	if runes := []rune(clean); len(runes) > 56 {
		clean = string(runes[:56])
	}
	if clean == "" {
		return ""
	}
	taken := func(name string) bool {
		for _, p := range c.known() {
			if p.Name == name && !p.State.Ended() {
				return true
			}
		}
		return false
	}
	free := clean
	for n := 2; taken(free); n++ {
		free = fmt.Sprintf("%s-%d", clean, n)
	}
	return free
}

// end ends the program of a pane that was taken out. One that was there before the server is left.
func (c *call) end(p *server.Pane) error {
	if p.Pipe != "" {
		_ = stopPipe(c, p) // it ends by itself, too
	}
	if p.Adopted || !c.alive(p) {
		return nil
	}
	if _, err := ask(c, api.SessionKill, api.IDInput{ID: p.Terminal}); err != nil {
		return err
	}
	delete(c.running, p.Terminal)
	return nil
}

// forget takes a pane out, and out of the dashboard.
func (c *call) forget(at server.Target) {
	if !at.Pane.Adopted {
		c.closed = append(c.closed, at.Pane.Terminal)
	}
	c.file.RemovePane(at)
	c.touch(at.Window)
	if len(at.Window.Panes) > 0 {
		_ = c.resizeTerminals(at.Window)
	} else if c.file.IsRunning() && c.option(at, "renumber-windows").IsOn() {
		c.renumber(at.Session)
	}
}

// touch marks a window as laid out anew.
func (c *call) touch(w *server.Window) {
	if !slices.Contains(c.changed, w) {
		c.changed = append(c.changed, w)
	}
}

// arranged makes what follows from a window's new layout: the order of its panes, the sizes of their
// terminals, and what dashboards show.
func (c *call) arranged(w *server.Window) error {
	w.SortPanes()
	c.touch(w)
	return c.resizeTerminals(w)
}

// resizeTerminals gives the terminals of a window the sizes of their panes.
func (c *call) resizeTerminals(w *server.Window) error {
	for _, p := range w.Panes {
		cell, t := w.PaneCell(p), c.known()[p.Terminal].Terminal
		if cell == nil || t == nil || !c.alive(p) || t.Viewers > 0 || t.Cols == cell.W && t.Rows == cell.H {
			continue // a viewer decides the size
		}
		in := api.SessionResizeInput{ID: p.Terminal, Cols: min(max(cell.W, 1), 1000), Rows: min(max(cell.H, 1), 1000)}
		if _, err := ask(c, api.SessionResize, in); err != nil {
			return err
		}
		t.Cols, t.Rows = in.Cols, in.Rows
	}
	return nil
}

// newPane makes a pane, and newSpace a window with it.
func (c *call) newPane() *server.Pane {
	p := &server.Pane{ID: c.file.Next.Pane}
	c.file.Next.Pane++
	return p
}

func newSpace(c *call, p *server.Pane, index, w, h int) *server.Window {
	window := &server.Window{ID: c.file.Next.Window, Index: index, Layout: cells.New(p.ID, w, h), Panes: []*server.Pane{p}, Stack: []int{p.ID},
		Preset: -1, Created: now()}
	c.file.Next.Window++
	return window
}

// execute replaces this process.
func execute(argv, environ []string) error {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	return syscall.Exec(path, argv, environ)
}
