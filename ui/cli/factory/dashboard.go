package factory

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/ui/cli/output"
)

// OwnSession is the environment variable with the id of the session around a program.
const OwnSession = "TANDEM_SESSION_ID"

// OpenDashboard opens the dashboard, except in one of its own sessions.
func (f *Factory) OpenDashboard(ctx context.Context, o DashboardOptions, nested bool) error {
	if err := f.refuseNested(ctx, nested); err != nil {
		return err
	}
	if f.Dashboard == nil {
		return errors.New("open dashboard: this program was built without one")
	}
	return f.Dashboard(ctx, o)
}

// refuseNested returns an error if this program runs in a session, because a dashboard there would
// show itself endlessly. A session of another data folder is allowed if nested is set.
func (f *Factory) refuseNested(ctx context.Context, nested bool) error {
	id := f.Env(OwnSession)
	conn, err := f.DialIfAlive(ctx, false)
	if err == nil && conn != nil {
		defer conn.Close()
		var all api.ProcessListOutput
		all, err = api.ProcessList.Call(ctx, conn, api.ProcessListInput{})
		around := slices.IndexFunc(all.Processes, func(p api.Process) bool { return LeadsTerminal(f.Stdin, p) })
		within := around >= 0
		if !within {
			around = slices.IndexFunc(all.Processes, func(p api.Process) bool { return p.ID == id })
		}
		if around >= 0 {
			p := all.Processes[around]
			if p.State.Ended() {
				return nil // only its variable was inherited
			}
			key := f.prefixName()
			hint := fmt.Sprintf("press %s alt+1 for the sessions of the dashboard, %s d to leave an attached session", key, key)
			if !within {
				hint += fmt.Sprintf("; in a terminal that only inherited %s, run `env -u %[1]s tandem`", OwnSession)
			}
			return api.Errorf(api.CodeConflict, "open dashboard: you are in it, or in its session %s", output.Visible(p.Name)).WithHint(hint)
		}
	}
	switch {
	case id == "": // an error is the dashboard's to report
		return nil
	case err != nil:
		return err
	case nested:
		return nil
	}
	return api.Errorf(api.CodeConflict, "open dashboard: this terminal is in a session of another Tandem").
		WithHint("`tandem --nested` opens it all the same; press " + f.prefixName() + " twice there to reach the inner one")
}

// LeadsTerminal reports whether the terminal of a stream belongs to session p, so that a program
// there runs in that session. Comparing OwnSession is less certain: another terminal may inherit
// the variable, and env -i loses it.
func LeadsTerminal(stream any, p api.Process) bool {
	tty, ok := output.Terminal(stream)
	if !ok || p.Kind != api.KindSession {
		return false
	}
	leader, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGSID)
	return err == nil && leader > 0 && leader == p.PID
}

// prefixName returns the name of the first prefix key.
func (f *Factory) prefixName() string {
	if prefix, err := f.Prefix(); err == nil && len(prefix) > 0 {
		return prefix[0].Show()
	}
	return "ctrl+b"
}
