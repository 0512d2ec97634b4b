package native

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/mcp/profiles/plugin"
	"tandem/engine/mcp/toolkit"
	"tandem/engine/vt/scan"
)

const (
	// recently is how long after its end something is listed, and recentMost how
	// many of those are.
	recently   = time.Hour
	recentMost = 10
)

type listInput struct {
	All bool `json:"all,omitempty"`
}

// processListTool stands where the profile plugin, whose tool of that name lists
// every process with all that is promised of it, is not offered.
func processListTool() toolkit.Tool {
	t := toolkit.Define[listInput, toolkit.None](toolkit.Tool{Name: "process_list", Effect: api.Read,
		Profiles: []toolkit.Profile{toolkit.Native}, Doc: "List everyone's processes."}, processesList)
	t.EngineJudged = true
	return t
}

func processesList(ctx context.Context, f *toolkit.Agent, in listInput) (toolkit.Result, error) {
	out, err := api.ProcessList.Call(ctx, f.Engine, api.ProcessListInput{})
	if err != nil {
		return toolkit.Result{}, err
	}
	processes := slices.DeleteFunc(out.Processes, func(p api.Process) bool { return !plugin.Managed(p) })
	return listed(processes, in, "No processes.", processLine, "process_get reports on one"), nil
}

func sessionsList(ctx context.Context, f *toolkit.Agent, in listInput) (toolkit.Result, error) {
	out, err := api.SessionList.Call(ctx, f.Engine, api.Empty{})
	if err != nil {
		return toolkit.Result{}, err
	}
	return listed(out.Sessions, in, "No sessions.", sessionLine, "process_get reports on one"), nil
}

// listed is a list with a line for each, and how many are not in it.
func listed(all []api.Process, in listInput, none string, line func(api.Process) string, how string) toolkit.Result {
	shown := all
	if !in.All {
		shown = recent(all, time.Now())
	}
	var lines []string
	for _, p := range shown {
		lines = append(lines, line(p))
	}
	text := toolkit.HeadAndTail(strings.Join(lines, "\n"), toolkit.DefaultBodySize, how)
	if len(shown) == 0 {
		text = none
	}
	if left := len(all) - len(shown); left > 0 {
		text += fmt.Sprintf("\n[%d exited earlier; all lists them]", left)
	}
	return toolkit.Text(text)
}

// recent is what has not ended, and the last of what ended a short while ago.
func recent(all []api.Process, now time.Time) []api.Process {
	ended := func(p api.Process) time.Time {
		if p.ExitedAt == nil {
			return p.StartedAt
		}
		return *p.ExitedAt
	}
	var ends []time.Time
	for _, p := range all {
		if p.State.Ended() && now.Sub(ended(p)) < recently {
			ends = append(ends, ended(p))
		}
	}
	slices.SortFunc(ends, func(a, b time.Time) int { return b.Compare(a) })
	if len(ends) > recentMost {
		ends = ends[:recentMost]
	}
	return slices.DeleteFunc(slices.Clone(all), func(p api.Process) bool {
		return p.State.Ended() && (len(ends) == 0 || ended(p).Before(ends[len(ends)-1]))
	})
}

// processLine tells of a process in a line what differs between processes.
func processLine(p api.Process) string {
	line := fmt.Sprintf("%s  %s  %s", p.ID, p.Name, p.State)
	switch {
	case p.ExitCode != nil:
		line += fmt.Sprintf(", exit code %d", *p.ExitCode)
	case p.ExitSignal != "":
		line += ", ended by " + p.ExitSignal
	case p.State == api.StateWaiting:
		line += " for " + p.DependencyNames()
	case p.PID != 0:
		line += fmt.Sprintf(", pid %d", p.PID)
	}
	if p.Supervision != nil && p.Supervision.Automatic > 0 {
		line += fmt.Sprintf(", %d restarts", p.Supervision.Automatic)
	}
	if p.KeepAlive {
		line += ", keepAlive"
	}
	return line + fromElsewhere(p.From) + "  " + toolkit.Abbreviate(scan.Visible(plugin.CommandOf(p)))
}

// fromElsewhere says from which other machine something was asked for; nothing of this one.
func fromElsewhere(machine string) string {
	if machine == "" {
		return ""
	}
	return " from " + scan.Visible(machine)
}
