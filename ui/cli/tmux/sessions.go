package tmux

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"tandem/ui/cli/tmux/server"
)

// sessionCommands implements the commands about sessions.
type sessionCommands struct{ *parts }

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

func (c sessionCommands) newSession(cmd *command, _ server.Target) error {
	terminal := clients(c)
	name := cleanName(c.formats.expand(c.targets.own, cmd.value('s')))
	if cmd.has('s') && name == "" {
		return fmt.Errorf("invalid session: %s", cmd.value('s'))
	}
	for _, s := range c.state.Sessions {
		switch {
		case s.Name != name:
		case cmd.has('A'):
			return terminal.openSession(server.Target{Session: s}, cmd.has('d'))
		default:
			return fmt.Errorf("duplicate session: %s", name)
		}
	}
	// Check first: a failed attach must not leave a new session behind.
	if !cmd.has('d') {
		if err := terminal.checkAttach(); err != nil {
			return err
		}
	}
	var w, h int
	if n, _ := fmt.Sscanf(string(c.settings.optionValue(server.Target{}, "default-size")), "%dx%d", &w, &h); n != 2 {
		w, h = 80, 24
	}
	w, h, err := terminal.parseWindowSize(cmd, w, h)
	if err != nil {
		return err
	}
	at, err := c.makeSession(cmd, name, w, h)
	if err != nil {
		return err
	}
	c.print.created(cmd, at, "#{session_name}:")
	if cmd.has('d') {
		return nil
	}
	return terminal.openSession(at, false)
}

// makeSession adds a session with one window, as described by new-session's flags. An empty name is
// replaced by a free number.
func (c sessionCommands) makeSession(cmd *command, name string, w, h int) (server.Target, error) {
	s := &server.Session{ID: c.state.Next.Session, Created: time.Now(), W: w, H: h}
	if s.Name = name; name == "" {
		s.Name = strconv.Itoa(s.ID)
		for n := s.ID; c.state.HasSession(s.Name); n++ {
			s.Name = strconv.Itoa(n + 1)
		}
	}
	prog, err := c.programs.parse(cmd, server.Target{Session: s})
	if err != nil {
		return server.Target{}, err
	}
	s.CWD = prog.cwd
	for _, pair := range cmd.values['e'] {
		name, value, _ := strings.Cut(pair, "=")
		if s.Environ == nil {
			s.Environ = server.Environ{}
		}
		s.Environ[name] = &value
	}
	if cmd.has('x') || cmd.has('y') {
		s.Options = server.Options{"default-size": fmt.Sprintf("%dx%d", w, h)}
	}
	return c.programs.addSession(s, cmd.value('n'), prog)
}

func (c sessionCommands) killSession(cmd *command, at server.Target) error {
	return c.programs.killPanes(func(one server.Target) bool { return (one.Session == at.Session) != cmd.has('a') })
}

// killServer implements kill-server. Only programs started by the server are killed.
func (c sessionCommands) killServer(_ *command, _ server.Target) error {
	return c.programs.killPanes(func(server.Target) bool { return true })
}

func (c sessionCommands) renameSession(cmd *command, at server.Target) error {
	name := cleanName(c.formats.expand(at, cmd.args[0]))
	switch {
	case name == "":
		return fmt.Errorf("invalid session: %s", cmd.args[0])
	case name == at.Session.Name:
		return nil
	case c.state.HasSession(name):
		return fmt.Errorf("duplicate session: %s", name)
	}
	at.Session.Name = name
	return nil
}

const sessionLine = "#{session_name}: #{session_windows} windows (created #{t:session_created})#{?session_attached, (attached),}"

func (c sessionCommands) listSessions(cmd *command, _ server.Target) error {
	for _, s := range c.state.SessionsByName() {
		c.print.item(cmd, server.Target{Session: s}, sessionLine)
	}
	return nil
}
