package factory

import (
	"context"
	"errors"
	"fmt"

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
	if id == "" {
		return nil
	}
	key := f.prefixName()
	conn, err := f.DialIfAlive(ctx, false)
	if err != nil {
		return err
	}
	if conn != nil {
		defer conn.Close()
		p, err := api.SessionGet.Call(ctx, conn, api.IDInput{ID: id})
		switch {
		case err == nil && !p.State.Ended():
			return api.Errorf(api.CodeConflict, "open dashboard: you are in it, or in its session %s", output.Visible(p.Name)).
				WithHint(fmt.Sprintf("press %s 1 for the sessions of the dashboard, %s d to leave an attached session; "+
					"in a terminal that only inherited %s, run `env -u %[3]s tandem`", key, key, OwnSession))
		case err == nil:
			return nil // the session has exited; only its variable was inherited
		}
	}
	if nested {
		return nil
	}
	return api.Errorf(api.CodeConflict, "open dashboard: this terminal is in a session of another Tandem").
		WithHint("`tandem --nested` opens it all the same; press " + key + " twice there to reach the inner one")
}

// prefixName returns the name of the first prefix key.
func (f *Factory) prefixName() string {
	if prefix, err := f.Prefix(); err == nil && len(prefix) > 0 {
		return prefix[0].Show()
	}
	return "ctrl+b"
}
