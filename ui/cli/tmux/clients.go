package tmux

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"

	"tandem/ui/cli/factory"
	"tandem/ui/cli/tmux/server"
)

// clients implements the commands about clients, which are this terminal, when it becomes the
// dashboard, and control mode.
type clients struct {
	state         *server.State
	targets       *targets
	formats       *formats
	settings      *settings
	programs      *programs
	dashboard     *dashboard
	stdin, stdout any
	control       *control // nil outside control mode
}

// listClients implements list-clients. The list is always empty: a dashboard shows all sessions, a
// client of tmux just one.
func (c *clients) listClients(cmd *command, _ server.Target) error {
	if !cmd.has('t') {
		return nil
	}
	_, err := c.targets.find(cmd, 't', server.TargetSession)
	return err
}

// checkAttach returns an error unless this terminal can show the dashboard: both streams must be a
// terminal, and one outside of Tandem's sessions.
func (c *clients) checkAttach() error {
	for _, stream := range []any{c.stdin, c.stdout} {
		if f, isFile := stream.(*os.File); !isFile || !term.IsTerminal(f.Fd()) {
			return errors.New("open terminal failed: not a terminal")
		}
	}
	if c.settings.lookupEnv(factory.OwnSession) != "" {
		return errors.New("sessions should be nested with care, unset $TMUX to force")
	}
	return nil
}

func (c *clients) terminalSize() (w, h int, ok bool) {
	f, isFile := c.stdin.(*os.File)
	if !isFile || !term.IsTerminal(f.Fd()) {
		return 0, 0, false
	}
	w, h, err := term.GetSize(f.Fd())
	return w, h, err == nil && w > 0 && h > 0
}

// parseSize returns the size requested by -x and -y, in cells, and w and h without them. A - is
// the size of the caller's terminal.
func (c *clients) parseSize(cmd *command, w, h int) (int, int, error) {
	for _, side := range []struct {
		flag byte
		name string
		to   *int
	}{{'x', "width", &w}, {'y', "height", &h}} {
		switch value := cmd.value(side.flag); value {
		case "":
		case "-":
			if cols, rows, ok := c.terminalSize(); ok && side.flag == 'x' {
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

func (c *clients) attachSession(cmd *command, _ server.Target) error {
	if !c.state.IsRunning() {
		return errors.New("no sessions")
	}
	at, err := c.targets.find(cmd, 't', server.TargetPane)
	if err != nil {
		return err
	}
	if cmd.has('c') {
		at.Session.CWD = c.formats.expand(at, cmd.value('c'))
	}
	return c.openSession(at, false)
}

// openSession arranges for this terminal to become the dashboard, showing the session, after the
// command line. In control mode it attaches to the session instead; with quiet it only marks the
// session as used.
func (c *clients) openSession(at server.Target, quiet bool) error {
	at.Session.MarkUsed()
	if quiet || c.control != nil {
		if c.control != nil {
			c.control.enterSession(at.Session)
		}
		return nil
	}
	if err := c.checkAttach(); err != nil {
		return err
	}
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	at.Session.Attached = time.Now()
	c.dashboard.markChanged(cmp.Or(at.Window, at.Session.CurrentWindow()))
	c.dashboard.command = []string{executable}
	return nil
}

// switchClient implements switch-client: it switches the dashboards that have the keyboard in the
// session of this command.
func (c *clients) switchClient(cmd *command, _ server.Target) error {
	own := c.settings.lookupEnv(factory.OwnSession)
	if c.control == nil && own == "" {
		return errors.New("no current client")
	}
	at, err := c.targets.find(cmd, 't', server.TargetPane)
	if err != nil {
		return err
	}
	at.Session.MarkUsed()
	if c.control != nil {
		c.control.enterSession(at.Session)
		return nil
	}
	return c.dashboard.show(cmp.Or(at.Window, at.Session.CurrentWindow()), own)
}

// refreshClient implements refresh-client -C, by which a client in control mode reports its size.
func (c *clients) refreshClient(cmd *command, _ server.Target) error {
	var w, h int
	n, _ := fmt.Sscanf(strings.Replace(cmd.value('C'), ",", "x", 1), "%dx%d", &w, &h)
	switch {
	case c.control == nil:
		return errors.New("no current client")
	case n != 2 || w < 1 || h < 1:
		return errors.New("refresh-client without -C WIDTHxHEIGHT is not supported by tandem")
	}
	for _, s := range c.state.Sessions {
		if s.ID != c.control.session {
			continue
		}
		s.W, s.H = w, h
		for _, window := range s.Windows {
			window.Layout.Resize(w, h)
			if err := c.programs.applyLayout(window); err != nil {
				return err
			}
		}
	}
	return nil
}
