package tmux

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"

	"tandem/ui/cli/tmux/format"
	"tandem/ui/cli/tmux/server"
)

func now() time.Time { return time.Now() }

// cleanName makes name usable in a target: colons and dots, its separators, become underscores as in
// tmux.
func cleanName(name string) string {
	return plainName(strings.Map(func(r rune) rune {
		if r == ':' || r == '.' {
			return '_'
		}
		return r
	}, name))
}

// plainName escapes name as tmux stores it, so that neither a terminal nor a format can take a part
// of it for something else.
func plainName(name string) string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case r == '\\', r == '$' && strings.IndexFunc(name[i+1:], beginsVariable) == 0:
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\n':
			b.WriteString(`\n`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\%03o`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// beginsVariable reports whether $ followed by r would be a variable.
func beginsVariable(r rune) bool {
	return r == '_' || r == '{' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

func newSession(c *call, cmd *command, _ server.Target) error {
	if cmd.has('t') {
		return errors.New("session groups (new-session -t) are not supported by tandem")
	}
	name := cleanName(c.scope(c.ownTarget).Expand(cmd.value('s')))
	if cmd.has('s') && name == "" {
		return fmt.Errorf("invalid session: %s", cmd.value('s'))
	}
	for _, s := range c.file.Sessions {
		switch {
		case s.Name != name:
		case cmd.has('A'):
			return c.openSession(server.Target{Session: s}, cmd.has('d'))
		default:
			return fmt.Errorf("duplicate session: %s", name)
		}
	}
	// Check first: a failed attach must not leave a new session behind.
	if !cmd.has('d') && c.control == nil {
		if err := checkAttach(c); err != nil {
			return err
		}
	}
	var w, h int
	if n, _ := fmt.Sscanf(string(c.optionValue(server.Target{}, "default-size")), "%dx%d", &w, &h); n != 2 {
		w, h = 80, 24
	}
	w, h, err := parseWindowSize(c, cmd, w, h)
	if err != nil {
		return err
	}
	at, err := makeSession(c, cmd, name, w, h)
	if err != nil {
		return err
	}
	c.printCreated(cmd, at, "#{session_name}:")
	if cmd.has('d') {
		return nil
	}
	return c.openSession(at, false)
}

// parseWindowSize returns the size requested by -x and -y, in cells, and w and h without them. A - is
// the size of the caller's terminal.
func parseWindowSize(c *call, cmd *command, w, h int) (int, int, error) {
	for _, side := range []struct {
		flag byte
		name string
		to   *int
	}{{'x', "width", &w}, {'y', "height", &h}} {
		switch value := cmd.value(side.flag); value {
		case "":
		case "-":
			if cols, rows, ok := terminalSize(c); ok && side.flag == 'x' {
				w = cols
			} else if ok {
				h = rows
			}
		default:
			n, err := parseNumber(value)
			switch {
			case err != nil:
				return 0, 0, fmt.Errorf("%s invalid", side.name)
			case n < 1:
				return 0, 0, fmt.Errorf("%s too small", side.name)
			case n > 1000:
				return 0, 0, fmt.Errorf("%s too large", side.name)
			}
			*side.to = n
		}
	}
	return w, h, nil
}

func terminalSize(c *call) (w, h int, ok bool) {
	f, isFile := c.Stdin.(*os.File)
	if !isFile || !term.IsTerminal(f.Fd()) {
		return 0, 0, false
	}
	w, h, err := term.GetSize(f.Fd())
	return w, h, err == nil && w > 0 && h > 0
}

// makeSession adds a session with one window, as described by new-session's flags. An empty name is
// replaced by a free number.
func makeSession(c *call, cmd *command, name string, w, h int) (server.Target, error) {
	s := &server.Session{ID: c.file.Next.Session, Created: now(), W: w, H: h}
	if s.Name = name; name == "" {
		s.Name = strconv.Itoa(s.ID)
		for n := s.ID; c.sessionExists(s.Name); n++ {
			s.Name = strconv.Itoa(n + 1)
		}
	}
	prog, err := parseProgram(c, cmd, server.Target{Session: s})
	if err != nil {
		return server.Target{}, err
	}
	s.CWD = prog.cwd
	for _, pair := range cmd.flags['e'] {
		name, value, _ := strings.Cut(pair, "=")
		if s.Environ == nil {
			s.Environ = server.Environ{}
		}
		s.Environ[name] = &value
	}
	if cmd.has('x') || cmd.has('y') {
		s.Options = server.Options{"default-size": fmt.Sprintf("%dx%d", w, h)}
	}
	return addSession(c, s, cmd.value('n'), prog)
}

// addSession adds s with a first window running prog. An empty window name is derived from prog.
func addSession(c *call, s *server.Session, window string, prog program) (server.Target, error) {
	if !c.file.IsRunning() {
		c.file.Started = now()
	}
	c.file.Next.Session++
	// s joins the server only with its window: a session without one would break targets.
	at := server.Target{Session: s}
	index := c.optionValue(at, "base-index").Int()
	if _, err := addWindow(c, &at, index, window, prog); err != nil {
		return at, err
	}
	c.file.Sessions = append(c.file.Sessions, s)
	c.markUsed(s)
	return at, nil
}

// addWindow starts prog in a new window at index of at.Session, and sets the rest of at to it.
func addWindow(c *call, at *server.Target, index int, name string, prog program) (*server.Window, error) {
	p := c.newPane()
	w := makeWindow(c, p, index, at.Session.W, at.Session.H)
	if w.SetName(name); name == "" {
		w.Name = c.programName(prog.argv)
	}
	prog.w, prog.h, prog.name = at.Session.W, at.Session.H, at.Session.Name+":"+w.Name
	at.Window, at.Pane, at.Index = w, p, index
	if err := c.startProgram(p, *at, prog); err != nil {
		return nil, err
	}
	at.Session.AddWindow(w)
	if len(at.Session.Windows) == 1 {
		at.Session.ShowWindow(w)
	}
	c.markChanged(w)
	return w, nil
}

func (c *call) sessionExists(name string) bool {
	return slices.ContainsFunc(c.file.Sessions, func(s *server.Session) bool { return s.Name == name })
}

// hasSession implements has-session. Resolving its target has already failed if there is none.
func hasSession(*call, *command, server.Target) error { return nil }

func killSession(c *call, cmd *command, at server.Target) error {
	if cmd.has('C') {
		return nil
	}
	return c.killPanes(func(one server.Target) bool { return (one.Session == at.Session) != cmd.has('a') })
}

// killServer implements kill-server. Only programs started by the server are killed.
func killServer(c *call, _ *command, _ server.Target) error {
	return c.killPanes(func(server.Target) bool { return true })
}

// killPanes kills the programs of the matching panes and removes the panes.
func (c *call) killPanes(matches func(server.Target) bool) error {
	for _, at := range c.file.ListPanes(matches) {
		if err := c.killProgram(at.Pane); err != nil {
			return err
		}
		c.removePane(at)
	}
	return nil
}

func renameSession(c *call, cmd *command, at server.Target) error {
	name := cleanName(c.scope(at).Expand(cmd.args[0]))
	switch {
	case name == "":
		return fmt.Errorf("invalid session: %s", cmd.args[0])
	case name == at.Session.Name:
		return nil
	case c.sessionExists(name):
		return fmt.Errorf("duplicate session: %s", name)
	}
	at.Session.Name = name
	return nil
}

const sessionLine = "#{session_name}: #{session_windows} windows (created #{t:session_created})#{?session_grouped, (group ,}#{session_group}#{?session_grouped,),}#{?session_attached, (attached),}"

func listSessions(c *call, cmd *command, _ server.Target) error {
	for _, s := range c.file.SessionsByName() {
		c.printItem(cmd, server.Target{Session: s}, sessionLine)
	}
	return nil
}

// printItem prints one item of a list in the format of -F or else form, unless -f filters it out.
func (c *call) printItem(cmd *command, at server.Target, form string) {
	c.printFiltered(cmd, c.scope(at), form)
}

func (c *call) printFiltered(cmd *command, scope format.Scope, form string) {
	if cmd.has('F') {
		form = cmd.value('F')
	}
	if !cmd.has('f') || isTrue(scope.Expand(cmd.value('f'))) {
		c.printLines(scope.Expand(form))
	}
}

// listClients implements list-clients. The list is always empty: a dashboard shows all sessions, a
// client of tmux just one.
func listClients(c *call, cmd *command, _ server.Target) error {
	if !cmd.has('t') {
		return nil
	}
	_, err := c.findTarget(cmd, 't', server.TargetSession)
	return err
}

// checkAttach returns an error unless this terminal can show the dashboard: both streams must be a
// terminal, and one outside of Tandem's sessions.
func checkAttach(c *call) error {
	for _, stream := range []any{c.Stdin, c.Stdout} {
		if f, isFile := stream.(*os.File); !isFile || !term.IsTerminal(f.Fd()) {
			return errors.New("open terminal failed: not a terminal")
		}
	}
	if c.lookupEnv(sessionVariable) != "" {
		return errors.New("sessions should be nested with care, unset $TMUX to force")
	}
	return nil
}

func attachSession(c *call, cmd *command, _ server.Target) error {
	if !c.file.IsRunning() {
		return errors.New("no sessions")
	}
	at, err := c.findTarget(cmd, 't', server.TargetPane)
	if err != nil {
		return err
	}
	if cmd.has('c') {
		at.Session.CWD = c.scope(at).Expand(cmd.value('c'))
	}
	return c.openSession(at, false)
}

// openSession arranges for this terminal to become the dashboard, showing the session, after the
// command line. In control mode it attaches to the session instead; with quiet it only marks the
// session as used.
func (c *call) openSession(at server.Target, quiet bool) error {
	c.markUsed(at.Session)
	if quiet || c.control != nil {
		if c.control != nil {
			c.control.enterSession(at.Session)
		}
		return nil
	}
	if err := checkAttach(c); err != nil {
		return err
	}
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	at.Session.Attached = now()
	c.markChanged(cmp.Or(at.Window, at.Session.CurrentWindow()))
	c.dashboard = []string{executable}
	return nil
}

// switchClient implements switch-client: it switches open dashboards to the session.
func switchClient(c *call, cmd *command, _ server.Target) error {
	if c.control == nil && c.lookupEnv(sessionVariable) == "" {
		return errors.New("no current client")
	}
	at, err := c.findTarget(cmd, 't', server.TargetPane)
	if err != nil {
		return err
	}
	c.markUsed(at.Session)
	if c.control != nil {
		c.control.enterSession(at.Session)
		return nil
	}
	return c.showInDashboard(cmp.Or(at.Window, at.Session.CurrentWindow()))
}

// refreshClient implements refresh-client -C, by which a client in control mode reports its size.
func refreshClient(c *call, cmd *command, _ server.Target) error {
	var w, h int
	n, _ := fmt.Sscanf(strings.Replace(cmd.value('C'), ",", "x", 1), "%dx%d", &w, &h)
	switch {
	case c.control == nil:
		return errors.New("no current client")
	case n != 2 || w < 1 || h < 1:
		return errors.New("refresh-client without -C WIDTHxHEIGHT is not supported by tandem")
	}
	for _, s := range c.file.Sessions {
		if s.ID != c.control.session {
			continue
		}
		s.W, s.H = w, h
		for _, window := range s.Windows {
			window.Layout.Resize(w, h)
			if err := c.applyLayout(window); err != nil {
				return err
			}
		}
	}
	return nil
}
