package machines

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// healthInterval is the time between two fetches of the machines' health while the fleet is shown.
const healthInterval = 2 * time.Second

// A health is the state of a fleet at a time.
type health struct {
	status   api.FleetStatusOutput
	machines []api.FleetMachine
	at       time.Time
	before   *health // the previous one, to compute rates
}

// showFleet opens the list with the state of the hub and, below, the machines of the fleet.
func (d *Dialog) showFleet() tea.Cmd {
	d.fleet = &dialog.Picker{Title: "The fleet", Wide: list.ChoicesWidth, Verb: func(c list.Choice) string {
		if c.Extra {
			return "close"
		}
		return "choose what to do"
	}}
	d.fleet.Pick = func(c list.Choice) tea.Cmd {
		if c.Extra {
			return nil
		}
		return d.askFleetAction(c.ID)
	}
	d.fleet.List.Set([]list.Choice{{Extra: true, Sign: d.env.Look().Glyphs.Working, SignInk: d.env.Look().Dim, Text: "asking the hub…"}})
	d.env.Ask(d.fleet)
	return d.loadHealth(d.fleet, nil)
}

// loadHealth loads the state of the fleet, and again after each healthInterval while u is open.
// last is the state loaded last.
func (d *Dialog) loadHealth(u *dialog.Picker, last *health) tea.Cmd {
	return panes.Call(d.env.Context(), d.env, func(ctx context.Context, e panes.Engine) (*health, error) {
		status, err := api.FleetStatus.Call(ctx, e, api.Empty{})
		if err != nil {
			return nil, err
		}
		list, err := api.FleetList.Call(ctx, e, api.FleetListInput{})
		return &health{status: status, machines: list.Machines, at: time.Now(), before: last}, err
	}, func(h *health, err error) tea.Cmd {
		switch {
		case !d.env.Shows(u):
			return nil
		case err != nil && h == nil:
			return d.env.Say(panes.ErrorText(err), true)
		}
		u.List.Renew(h.listChoices(err, d.env.Look()))
		d.machines = h.machines
		// Only the last two states are needed, so let go of earlier ones.
		if h.before != nil {
			h.before.before = nil
		}
		return panes.After(healthInterval, func() tea.Cmd {
			if !d.env.Shows(u) {
				return nil
			}
			return d.loadHealth(u, h)
		})
	})
}

// listChoices returns lines with the state of the hub, and then the machines: first offline ones,
// then those with the most failed processes, then those with the longest round trip.
func (h *health) listChoices(fault error, look *look.Look) []list.Choice {
	all := h.statusLines(fault, look)
	machines := slices.Clone(h.machines)
	away := func(m api.FleetMachine) int { return map[bool]int{true: 0, false: 1}[m.State == api.FleetAway] }
	slices.SortStableFunc(machines, func(a, b api.FleetMachine) int {
		return cmp.Or(cmp.Compare(away(a), away(b)), cmp.Compare(b.Failed, a.Failed), cmp.Compare(b.RTTMS, a.RTTMS), strings.Compare(a.Name, b.Name))
	})
	names := 0
	for _, m := range machines {
		names = max(names, text.Width(m.Name))
	}
	for i, m := range machines {
		c := list.Choice{Number: i, ID: m.Name, Sign: look.Glyphs.Running, SignInk: look.Good, Also: string(m.State)}
		c.Text = text.Pad(m.Name, names) + "  " + text.Clean(m.LabelText(" ", "os", "arch", "version", "hostname"))
		c.Detail = panes.WithCounts(fmt.Sprintf("%d up", m.Processes), panes.Count{N: m.Failed, What: "failed"})
		if m.Failed > 0 {
			c.Sign, c.SignInk = look.Glyphs.Failed, look.Bad
		}
		if rtt := formatRoundTrip(m.RTTMS); rtt != "" {
			c.Detail += "  " + rtt
		}
		if m.State == api.FleetAway {
			c.Sign, c.SignInk = look.Glyphs.Unknown, look.Dim
			c.Detail = "away for " + units.Age(h.at.Sub(m.LastSeen))
		}
		c.Detail += "  " + text.Clean(m.Version)
		all = append(all, c)
	}
	return all
}

// statusLines returns the lines about the hub, and about all machines together. fault is why the
// machines could not be listed.
func (h *health) statusLines(fault error, style *look.Look) (all []list.Choice) {
	line := func(sign string, ink look.Ink, text, detail string) {
		all = append(all, list.Choice{Number: -1 - len(all), ID: fmt.Sprint("line ", len(all)), Extra: true, Sign: sign, SignInk: ink, Text: text, Detail: detail})
	}
	hub := "hub " + text.Clean(strings.TrimPrefix(h.status.Hub, "tls://"))
	for _, as := range h.status.As {
		switch {
		case as.Kind != "person":
		case as.Error != "":
			line(style.Glyphs.Failed, style.Bad, hub, text.Clean(as.Error))
		default:
			line(style.Glyphs.Check, style.Good, hub, strings.TrimSpace(fmt.Sprintf("%s, may %s  %s", text.Clean(as.Name), as.Role, formatRoundTrip(h.status.RTTMS))))
		}
	}
	if fault != nil {
		line(style.Glyphs.Failed, style.Bad, "cannot list the machines", panes.ErrorText(fault))
	}
	away, failed, up := 0, 0, 0
	versions := map[string]int{}
	for _, m := range h.machines {
		versions[m.Version]++
		if m.State == api.FleetAway {
			away++
			continue
		}
		up += m.Processes
		failed += m.Failed
	}
	sign, ink := style.Glyphs.Check, style.Good
	if away > 0 {
		sign, ink = style.Glyphs.Bell, style.Warn
	}
	line(sign, ink, text.Thousands(len(h.machines)-away)+" of "+text.Count(len(h.machines), "machine")+" connected", text.Thousands(up)+" up, "+text.Thousands(failed)+" failed")
	var texts []string
	for _, v := range slices.SortedFunc(maps.Keys(versions), func(a, b string) int { return cmp.Or(cmp.Compare(versions[b], versions[a]), strings.Compare(a, b)) }) {
		texts = append(texts, text.Clean(v)+" × "+text.Thousands(versions[v]))
	}
	line(" ", style.Dim, "versions", strings.Join(texts, "  "))
	line(" ", style.Dim, "messages", h.trafficText())
	return all
}

// trafficText describes the traffic on this engine's connection to the hub. With a previous state
// it returns rates, and otherwise totals.
func (h *health) trafficText() string {
	traffic := fmt.Sprintf("%d in, %d out", h.status.InMessages, h.status.OutMessages)
	// Rates can only be computed from two states.
	if b := h.before; b != nil {
		if seconds := h.at.Sub(b.at).Seconds(); seconds > 0 {
			traffic = fmt.Sprintf("%.0f/s in, %.0f/s out, %s/s", float64(h.status.InMessages-b.status.InMessages)/seconds, float64(h.status.OutMessages-b.status.OutMessages)/seconds,
				units.Bytes(int64(float64(h.status.InBytes+h.status.OutBytes-b.status.InBytes-b.status.OutBytes)/seconds)))
		}
	}
	if h.status.Reconnects > 0 {
		traffic += ", " + text.Count(int(h.status.Reconnects), "reconnection")
	}
	return traffic
}

// askFleetAction offers the actions on a machine of the fleet.
func (d *Dialog) askFleetAction(name string) tea.Cmd {
	if d.env.News().Machine(name) != nil {
		return d.askAction(name)
	}
	i := slices.IndexFunc(d.machines, func(m api.FleetMachine) bool { return m.Name == name })
	// The list may be a few seconds old.
	if i < 0 || d.machines[i].State == api.FleetAway {
		return d.env.Say(name+" is offline", true)
	}
	return d.offerActions(name, []machineAction{
		{"New session", "a shell there", func(name string) tea.Cmd { return d.showMachine(name, func() tea.Cmd { return d.env.StartOn(name) }) }},
		{"Show", "its sessions, processes, history and files here", func(name string) tea.Cmd { return d.showMachine(name, nil) }},
	})
}

// showMachine connects the dashboard to a machine of the fleet. After that it calls next, which may
// be nil.
func (d *Dialog) showMachine(name string, next func() tea.Cmd) tea.Cmd {
	return d.connectFleetMachine(api.MachineConnectInput{Name: name}, "", next)
}

func (d *Dialog) connectFleetMachine(in api.MachineConnectInput, note string, next func() tea.Cmd) tea.Cmd {
	return panes.AwaitAnswer(d.env.Context(), d.env, func(ctx context.Context, e panes.Engine) (api.Machine, error) {
		return api.MachineConnect.Call(ctx, e, in)
	}, panes.ReportErrors(d.env.Say, func(_ api.Machine) tea.Cmd {
		if next == nil {
			return d.env.Say(cmp.Or(note, "connecting to "+in.Name+"…"), false)
		}
		return next()
	}))
}

// hideMachine disconnects the dashboard from a machine of the fleet.
func (d *Dialog) hideMachine(name string) tea.Cmd {
	return d.connectFleetMachine(api.MachineConnectInput{Name: name, Close: true}, name+" is no longer shown", nil)
}

// formatRoundTrip formats a machine's response time, or returns "" if it is unknown.
func formatRoundTrip(ms float64) string {
	switch {
	case ms <= 0:
		return ""
	case ms < 1:
		return "<1 ms"
	}
	return fmt.Sprintf("%.0f ms", ms)
}
