package native

import (
	"context"
	"fmt"
	"strings"

	"tandem/engine/agent/mcp/profiles/plugin"
	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

// maxShownLeft is the maximum number of abandoned processes named.
const maxShownLeft = 5

// stopOwnTool is offered without the plugin profile, whose tool of the same name stops everything.
func stopOwnTool() toolkit.Tool {
	t := toolkit.Define[stopOwnInput, toolkit.None](toolkit.Tool{Name: "process_stop_all", Effect: api.Destructive, Profiles: []toolkit.Profile{toolkit.Native},
		Doc: "Stop what this connection started; with all, also the user's and other agents'."}, stopOwn)
	return t
}

type stopOwnInput struct {
	Signal string `json:"signal,omitempty" schema:"-"`
	All    bool   `json:"all,omitempty"`
}

// stopOwn stops the processes started over this connection and reports those still running. The
// owner of a process identifies the connection, as with leases.
func stopOwn(ctx context.Context, f *toolkit.Agent, in stopOwnInput) (toolkit.Result, error) {
	signal, err := plugin.StopSignal(in.Signal)
	if err != nil {
		return toolkit.Result{}, err
	}
	if in.All {
		return plugin.StopAll(ctx, f, plugin.StopAllInput{Signal: in.Signal})
	}
	out, err := api.ProcessStopAll.Call(ctx, f.Engine, api.ProcessStopAllInput{Signal: signal, Own: true})
	if err != nil {
		return toolkit.Result{}, err
	}
	return toolkit.Text(fmt.Sprintf("Stopped %d processes with %s.", len(out.Stopped), signal) + remainingNote(f, out.Others)), nil
}

// remainingNote states how many processes of others are running. It names those left by an agent of
// the same name, which may be the same agent after a reconnect.
func remainingNote(f *toolkit.Agent, others []api.Process) string {
	if len(others) == 0 {
		return ""
	}
	text := fmt.Sprintf(" %d not started by this connection keep running; all stops them too.", len(others))
	var left []string
	for _, p := range others {
		if p.Actor == f.Actor && p.Owner != nil && p.Owner.Left {
			left = append(left, p.ID)
		}
	}
	if len(left) == 0 {
		return text
	}
	more := ""
	if len(left) > maxShownLeft {
		more = fmt.Sprintf(" and %d more", len(left)-maxShownLeft)
	}
	return text + fmt.Sprintf(" An earlier connection of yours left: %s%s.", strings.Join(left[:min(len(left), maxShownLeft)], ", "), more)
}
