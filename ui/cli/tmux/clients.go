package tmux

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/charmbracelet/x/term"

	"tandem/ui/cli/factory"
	"tandem/ui/cli/tmux/server"
)

// clients implements the commands about clients. A client is a dashboard, or this terminal when it
// becomes one.
type clients struct{ *parts }

// checkAttach returns an error unless this terminal can show the dashboard: both streams must be a
// terminal, and one outside of Tandem's sessions.
func (c clients) checkAttach() error {
	for _, stream := range []any{c.Stdin, c.Stdout} {
		if f, isFile := stream.(*os.File); !isFile || !term.IsTerminal(f.Fd()) {
			return errors.New("open terminal failed: not a terminal")
		}
	}
	if c.settings.lookupEnv(factory.OwnSession) != "" {
		return errors.New("sessions should be nested with care, unset $TMUX to force")
	}
	return nil
}

func (c clients) terminalSize() (w, h int, ok bool) {
	f, isFile := c.Stdin.(*os.File)
	if !isFile || !term.IsTerminal(f.Fd()) {
		return 0, 0, false
	}
	w, h, err := term.GetSize(f.Fd())
	return w, h, err == nil && w > 0 && h > 0
}

// parseWindowSize returns the width given by the flag -x and the height given by -y, in cells.
// Without its flag, a side is w or h. The value - stands for the size of the caller's terminal, or
// for w or h if the caller has none.
func (c clients) parseWindowSize(cmd *command, w, h int) (int, int, error) {
	cols, rows, ok := c.terminalSize()
	if !ok {
		cols, rows = w, h
	}
	w, err := parseSide("width", cmd.value('x'), w, cols)
	if err != nil {
		return 0, 0, err
	}
	h, err = parseSide("height", cmd.value('y'), h, rows)
	return w, h, err
}

// parseSide returns a width or height in cells: fallback if value is empty, and own if it is -.
func parseSide(name, value string, fallback, own int) (int, error) {
	switch value {
	case "":
		return fallback, nil
	case "-":
		return own, nil
	}
	n, err := parseNumber(value)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s invalid", name)
	case n < 1:
		return 0, fmt.Errorf("%s too small", name)
	case n > 1000:
		return 0, fmt.Errorf("%s too large", name)
	}
	return n, nil
}

func (c clients) attachSession(cmd *command, _ server.Target) error {
	if !c.state.IsRunning() {
		return errors.New("no sessions")
	}
	at, err := c.targets.find(cmd, 't', server.TargetPane)
	if err != nil {
		return err
	}
	return c.openSession(at, false)
}

// openSession arranges for this terminal to become the dashboard, showing the session, after the
// command line. With quiet it only marks the session as used.
func (c clients) openSession(at server.Target, quiet bool) error {
	at.Session.MarkUsed()
	if quiet {
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
func (c clients) switchClient(cmd *command, _ server.Target) error {
	own := c.settings.lookupEnv(factory.OwnSession)
	if own == "" {
		return errors.New("no current client")
	}
	at, err := c.targets.find(cmd, 't', server.TargetPane)
	if err != nil {
		return err
	}
	at.Session.MarkUsed()
	return c.dashboard.show(cmp.Or(at.Window, at.Session.CurrentWindow()), own)
}
