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

// cleanName replaces what would divide a target, colons and dots, as tmux does.
func cleanName(name string) string {
	return plainName(strings.Map(func(r rune) rune {
		if r == ':' || r == '.' {
			return '_'
		}
		return r
	}, name))
}

// plainName is a name as tmux keeps it: what a terminal or a format would take for something
// else is escaped.
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

// beginsVariable reports whether a $ before r would be a variable's.
func beginsVariable(r rune) bool {
	return r == '_' || r == '{' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// newSession implements new-session.
func newSession(c *call, cmd *command, _ server.Target) error {
	if cmd.has('t') {
		return errors.New("session groups (new-session -t) are not supported by tandem")
	}
	name := cleanName(c.scope(c.own).Expand(cmd.value('s')))
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
	if !cmd.has('d') && c.control == nil {
		if err := mayAttach(c); err != nil {
			return err
		}
	}
	var w, h int
	if n, _ := fmt.Sscanf(string(c.option(server.Target{}, "default-size")), "%dx%d", &w, &h); n != 2 {
		w, h = 80, 24
	}
	w, h, err := sizeOf(c, cmd, w, h)
	if err != nil {
		return err
	}
	at, err := makeSession(c, cmd, name, w, h)
	if err != nil {
		return err
	}
	c.printMade(cmd, at, "#{session_name}:")
	if cmd.has('d') {
		return nil
	}
	return c.openSession(at, false)
}

// sizeOf returns the size of windows that -x and -y ask for; w and h without them.
func sizeOf(c *call, cmd *command, w, h int) (int, int, error) {
	for _, side := range []struct {
		flag byte
		name string
		to   *int
	}{{'x', "width", &w}, {'y', "height", &h}} {
		switch value := cmd.value(side.flag); value {
		case "":
		case "-":
			if cols, rows, ok := ownSize(c); ok && side.flag == 'x' {
				w = cols
			} else if ok {
				h = rows
			}
		default:
			n, err := whole(value)
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

func ownSize(c *call) (w, h int, ok bool) {
	f, is := c.Stdin.(*os.File)
	if !is || !term.IsTerminal(f.Fd()) {
		return 0, 0, false
	}
	w, h, err := term.GetSize(f.Fd())
	return w, h, err == nil && w > 0 && h > 0
}

// makeSession adds a session with a window.
func makeSession(c *call, cmd *command, name string, w, h int) (server.Target, error) {
	s := &server.Session{ID: c.file.Next.Session, Created: now(), W: w, H: h}
	if s.Name = name; name == "" {
		s.Name = strconv.Itoa(s.ID)
		for n := s.ID; c.sessionNamed(s.Name); n++ {
			s.Name = strconv.Itoa(n + 1)
		}
	}
	begin, err := startOf(c, cmd, server.Target{Session: s})
	if err != nil {
		return server.Target{}, err
	}
	s.CWD = begin.cwd
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
	return addSession(c, s, cmd.value('n'), begin)
}

// addSession adds a session whose first window runs a program.
func addSession(c *call, s *server.Session, window string, begin start) (server.Target, error) {
	if !c.file.IsRunning() {
		c.file.Started = now()
	}
	c.file.Next.Session++
	at := server.Target{Session: s}
	index := c.option(at, "base-index").Int()
	if _, err := addWindow(c, &at, index, window, begin); err != nil {
		return at, err
	}
	c.file.Sessions = append(c.file.Sessions, s)
	c.use(s)
	return at, nil
}

// addWindow starts a program in a window of its own.
func addWindow(c *call, at *server.Target, index int, name string, begin start) (*server.Window, error) {
	p := c.newPane()
	w := newSpace(c, p, index, at.Session.W, at.Session.H)
	if w.SetName(name); name == "" {
		w.Name = c.programName(begin.argv)
	}
	begin.w, begin.h, begin.name = at.Session.W, at.Session.H, at.Session.Name+":"+w.Name
	at.Window, at.Pane, at.Index = w, p, index
	if err := c.begin(p, *at, begin); err != nil {
		return nil, err
	}
	at.Session.AddWindow(w)
	if len(at.Session.Windows) == 1 {
		at.Session.ShowWindow(w)
	}
	c.touch(w)
	return w, nil
}

func (c *call) sessionNamed(name string) bool {
	return slices.ContainsFunc(c.file.Sessions, func(s *server.Session) bool { return s.Name == name })
}

// hasSession implements has-session: it fails if there is no such target.
func hasSession(*call, *command, server.Target) error { return nil }

// killSession implements kill-session.
func killSession(c *call, cmd *command, at server.Target) error {
	if cmd.has('C') {
		return nil
	}
	return c.drop(func(one server.Target) bool { return (one.Session == at.Session) != cmd.has('a') })
}

// killServer implements kill-server: what the server started ends, and nothing else.
func killServer(c *call, _ *command, _ server.Target) error {
	return c.drop(func(server.Target) bool { return true })
}

// drop ends the programs of panes and takes them out.
func (c *call) drop(which func(server.Target) bool) error {
	for _, at := range c.file.ListPanes(which) {
		if err := c.end(at.Pane); err != nil {
			return err
		}
		c.forget(at)
	}
	return nil
}

// renameSession implements rename-session.
func renameSession(c *call, cmd *command, at server.Target) error {
	name := cleanName(c.scope(at).Expand(cmd.args[0]))
	switch {
	case name == "":
		return fmt.Errorf("invalid session: %s", cmd.args[0])
	case name == at.Session.Name:
		return nil
	case c.sessionNamed(name):
		return fmt.Errorf("duplicate session: %s", name)
	}
	at.Session.Name = name
	return nil
}

const sessionLine = "#{session_name}: #{session_windows} windows (created #{t:session_created})#{?session_grouped, (group ,}#{session_group}#{?session_grouped,),}#{?session_attached, (attached),}"

// listSessions implements list-sessions.
func listSessions(c *call, cmd *command, _ server.Target) error {
	for _, s := range c.file.SessionsByName() {
		c.list(cmd, server.Target{Session: s}, sessionLine)
	}
	return nil
}

// list prints a line of a list, unless -f filters it out.
func (c *call) list(cmd *command, at server.Target, form string) {
	c.listScope(cmd, c.scope(at), form)
}

func (c *call) listScope(cmd *command, scope format.Scope, form string) {
	if cmd.has('F') {
		form = cmd.value('F')
	}
	if !cmd.has('f') || truth(scope.Expand(cmd.value('f'))) {
		c.print(scope.Expand(form))
	}
}

// listClients implements list-clients: a dashboard is none of tmux's clients.
func listClients(c *call, cmd *command, _ server.Target) error {
	if !cmd.has('t') {
		return nil
	}
	_, err := c.target(cmd, 't', server.TargetSession)
	return err
}

// mayAttach refuses a dashboard where nobody could see it.
func mayAttach(c *call) error {
	for _, stream := range []any{c.Stdin, c.Stdout} {
		if f, is := stream.(*os.File); !is || !term.IsTerminal(f.Fd()) {
			return errors.New("open terminal failed: not a terminal")
		}
	}
	if c.env(ownSession) != "" {
		return errors.New("sessions should be nested with care, unset $TMUX to force")
	}
	return nil
}

// attachSession implements attach-session.
func attachSession(c *call, cmd *command, _ server.Target) error {
	if !c.file.IsRunning() {
		return errors.New("no sessions")
	}
	at, err := c.target(cmd, 't', server.TargetPane)
	if err != nil {
		return err
	}
	if cmd.has('c') {
		at.Session.CWD = c.scope(at).Expand(cmd.value('c'))
	}
	return c.openSession(at, false)
}

// openSession makes this terminal the dashboard with the session in front.
func (c *call) openSession(at server.Target, quiet bool) error {
	c.use(at.Session)
	if quiet || c.control != nil {
		if c.control != nil {
			c.control.enter(at.Session)
		}
		return nil
	}
	if err := mayAttach(c); err != nil {
		return err
	}
	own, err := os.Executable()
	if err != nil {
		return err
	}
	at.Session.Attached = now()
	c.touch(cmp.Or(at.Window, at.Session.CurrentWindow()))
	c.shell = []string{own}
	return nil
}

// switchClient implements switch-client: open dashboards show the session.
func switchClient(c *call, cmd *command, _ server.Target) error {
	if c.control == nil && c.env(ownSession) == "" {
		return errors.New("no current client")
	}
	at, err := c.target(cmd, 't', server.TargetPane)
	if err != nil {
		return err
	}
	c.use(at.Session)
	if c.control != nil {
		c.control.enter(at.Session)
		return nil
	}
	return c.show(cmp.Or(at.Window, at.Session.CurrentWindow()))
}

// refreshClient is refresh-client in control mode, where it says how large the client is.
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
			if err := c.arranged(window); err != nil {
				return err
			}
		}
	}
	return nil
}
