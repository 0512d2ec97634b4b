package native

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandem/engine/agent/mcp/profiles/plugin"
	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/engine/screen/vt/scan"
)

const (
	// recentTime is how long after its exit a process is listed, and maxRecent the maximum number
	// of exited ones.
	recentTime = time.Hour
	maxRecent  = 10
)

type listInput struct {
	All bool `json:"all,omitempty"`
}

// processListTool is offered without the plugin profile, whose tool of the same name lists every
// process with all fields.
func processListTool() toolkit.Tool {
	t := toolkit.Define[listInput, toolkit.None](toolkit.Tool{Name: "process_list", Effect: api.Read,
		Profiles: []toolkit.Profile{toolkit.Native}, Doc: "List everyone's processes."}, listProcesses)
	return t
}

func listProcesses(ctx context.Context, f *toolkit.Agent, in listInput) (toolkit.Result, error) {
	out, err := api.ProcessList.Call(ctx, f.Engine, api.ProcessListInput{Metrics: true})
	if err != nil {
		return toolkit.Result{}, err
	}
	processes := slices.DeleteFunc(out.Processes, func(p api.Process) bool { return !isListed(f, p) })
	return listResult(f, processes, in, "No processes.", processLine), nil
}

// isListed reports whether a process belongs in the list. Unlike in the plugin profile, this
// includes exited one-shot commands that left something running, that somebody else stopped, or
// whose client disconnected before it got the result.
func isListed(f *toolkit.Agent, p api.Process) bool {
	return plugin.IsListed(p) || p.Kind == api.KindProcess &&
		(p.HasRemains() || p.EndedBy != "" && p.EndedBy != f.Actor || p.Supervision.Unanswered)
}

func listSessions(ctx context.Context, f *toolkit.Agent, in listInput) (toolkit.Result, error) {
	out, err := api.SessionList.Call(ctx, f.Engine, api.Empty{})
	if err != nil {
		return toolkit.Result{}, err
	}
	return listResult(f, out.Sessions, in, "No sessions.", sessionLine), nil
}

// listResult formats a list, one line per entry, and the number of entries not shown.
func listResult(f *toolkit.Agent, all []api.Process, in listInput, none string, line func(p api.Process, origin string) string) toolkit.Result {
	shown, now := all, time.Now()
	if !in.All {
		shown = selectRecent(all, now)
	}
	var lines []string
	for _, p := range shown {
		lines = append(lines, line(p, originOf(f, p, now)))
	}
	text := toolkit.HeadAndTail(strings.Join(lines, "\n"), toolkit.DefaultBodySize, "")
	if len(shown) == 0 {
		text = none
	}
	if left := len(all) - len(shown); left > 0 {
		text += fmt.Sprintf("\n[%d exited earlier; all lists them]", left)
	}
	return toolkit.Text(text)
}

// selectRecent returns everything running, and the last processes exited within recentTime.
func selectRecent(all []api.Process, now time.Time) []api.Process {
	exitTime := func(p api.Process) time.Time {
		if p.ExitedAt == nil {
			return p.StartedAt
		}
		return *p.ExitedAt
	}
	var ends []time.Time
	for _, p := range all {
		if !p.IsAlive() && now.Sub(exitTime(p)) < recentTime {
			ends = append(ends, exitTime(p))
		}
	}
	slices.SortFunc(ends, func(a, b time.Time) int { return b.Compare(a) })
	if len(ends) > maxRecent {
		ends = ends[:maxRecent]
	}
	// ends holds the newest exits; everything older than its last is dropped.
	return slices.DeleteFunc(slices.Clone(all), func(p api.Process) bool {
		return !p.IsAlive() && (len(ends) == 0 || exitTime(p).Before(ends[len(ends)-1]))
	})
}

// originOf says when a process was started, by whom and in which folder.
func originOf(f *toolkit.Agent, p api.Process, now time.Time) string {
	by := toolkit.ActorName(p.Actor)
	switch {
	case p.Owner == nil:
	case p.Owner.Client == f.Owner:
		by = "you"
	case p.Owner.Left && p.Actor == f.Actor:
		by = "an earlier connection of yours"
	case p.Actor == f.Actor:
		by += " (another connection)"
	}
	return fmt.Sprintf("started %s ago by %s in %s", units.Age(now.Sub(p.StartedAt)), by+fromMachine(p.From), f.DisplayName(p.CWD))
}

// processLine describes a process in one line, with only the values different between processes.
func processLine(p api.Process, origin string) string {
	line := p.ID + "  " + p.Name + "  " + toolkit.StateText(p)
	if p.Supervision != nil && p.Supervision.Automatic > 0 {
		line += fmt.Sprintf(", %d restarts", p.Supervision.Automatic)
	}
	if p.KeepAlive {
		line += ", keepAlive"
	}
	return line + "  " + origin + "  " + toolkit.Abbreviate(scan.Visible(plugin.CommandOf(p)))
}

// sessionLine describes a session in one line.
func sessionLine(p api.Process, origin string) string {
	state := string(p.State)
	if p.State.Ended() {
		state = toolkit.StateText(p)
	}
	line := fmt.Sprintf("%s  %s  %s  %s  %s", p.ID, p.Name, state, origin, toolkit.Abbreviate(scan.Visible(p.Command)))
	if p.Terminal == nil || p.State.Ended() {
		return line
	}
	if p.Terminal.Waiting != "" {
		line += "  (waits: " + p.Terminal.Waiting + ")"
	}
	if p.Terminal.Keyboard != "" {
		line += "  (locked by " + p.Terminal.Keyboard + ")"
	}
	return line
}

// fromMachine names the other machine a call came from. It returns "" for this machine.
func fromMachine(machine string) string {
	if machine == "" {
		return ""
	}
	return " from " + scan.Visible(machine)
}
