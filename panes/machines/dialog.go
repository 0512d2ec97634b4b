// Package machines implements the dialog that shows the other machines with their states, and
// offers actions on them.
package machines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/list"
	"tandem/panes/kit/text"
)

// A Dialog shows the list of machines, and for the machine that the user chooses a list of actions.
type Dialog struct {
	env  panes.Env
	list *dialog.Picker // opened last

	fleet    *dialog.Picker // list of the fleet's machines, opened last
	machines []api.FleetMachine
}

// New returns a dialog without opening it.
func New(env panes.Env) *Dialog { return &Dialog{env: env} }

// Numbers of the choices that are not machines: the choice to add a machine, and the choice to show
// the fleet.
const addChoice, fleetChoice = 1 << 20, 1<<20 + 1

// Show opens the list.
func (d *Dialog) Show() tea.Cmd {
	d.list = &dialog.Picker{Title: "Machines", Wide: list.ChoicesWidth, Verb: func(c list.Choice) string {
		switch c.Number {
		case addChoice:
			return "add one"
		case fleetChoice:
			return "show it"
		}
		return "choose what to do"
	}}
	d.list.Pick = func(c list.Choice) tea.Cmd {
		switch c.Number {
		case addChoice:
			return d.askAdd()
		case fleetChoice:
			return d.showFleet()
		}
		return d.askAction(c.ID)
	}
	d.list.List.Set(d.listChoices())
	d.env.Ask(d.list)
	return nil
}

// UpdateChoices updates the list if it is open.
func (d *Dialog) UpdateChoices() {
	if d.list != nil && d.env.Shows(d.list) {
		d.list.List.Renew(d.listChoices())
	}
}

func (d *Dialog) listChoices() (all []list.Choice) {
	look := d.env.Look()
	names := 0
	for _, m := range d.env.News().Machines {
		names = max(names, text.Width(m.Name))
	}
	for i, m := range d.env.News().Machines {
		c := list.Choice{Number: i, ID: m.Name, Sign: look.Glyphs.Running, SignInk: look.Good,
			Text: text.Pad(m.Name, names) + "  " + text.Clean(m.Target), Also: string(m.State), Detail: machineStatus(&m)}
		if doing, _ := d.env.News().AgentSummary(m.Name); doing != "" && m.State == api.MachineConnected {
			c.Detail += "  " + doing
		}
		switch m.State {
		case api.MachineConnected:
		case api.MachineNeedsYou:
			c.Sign, c.SignInk = look.Glyphs.Bell, look.Warn
		default:
			c.Sign, c.SignInk = look.Glyphs.Unknown, look.Dim
		}
		all = append(all, c)
	}
	if text := fleetText(d.env.News()); text != "" {
		all = append(all, list.Choice{Number: fleetChoice, ID: "fleet", Extra: true, Sign: look.Glyphs.More, SignInk: look.Accent, Text: "The fleet…", Also: "hub health", Detail: text})
	}
	return append(all, list.Choice{Number: addChoice, ID: "+", Extra: true, Sign: look.Glyphs.More, SignInk: look.Accent,
		Text: "Add a machine…", Also: "new ssh", Detail: "over ssh, or by a command"})
}

// fleetText describes the fleet in a few words; "" if there is none.
func fleetText(n *panes.News) string {
	if f := n.Fleet; f != nil {
		return panes.WithCounts(text.Count(f.Machines, "machine"), panes.Count{N: f.Away, What: "offline"})
	}
	if slices.ContainsFunc(n.Machines, func(m panes.Machine) bool { return m.Fleet }) {
		return "the state of the hub"
	}
	return ""
}

// machineStatus returns the round-trip time and version of a machine, or why it is offline.
func machineStatus(m *panes.Machine) string {
	if away := m.OfflineReason(time.Now()); away != "" {
		if m.Error != "" {
			away += ": " + text.Clip(text.Clean(m.Error), 36)
		}
		return away
	}
	state := "connected"
	if rtt := formatRoundTrip(m.RTTMS); rtt != "" {
		state += "  " + rtt
	}
	return state + "  " + text.Clean(m.Version)
}

// A machineAction is an action on a machine.
type machineAction struct {
	text, detail string
	do           func(machine string) tea.Cmd
}

func (d *Dialog) actionsFor(m *panes.Machine) (all []machineAction) {
	if m.State == api.MachineConnected {
		all = append(all, machineAction{"New session", "a shell there", d.env.StartOn})
	} else {
		all = append(all, machineAction{"Connect", "try it now; you may have to log in", d.connectMachine})
	}
	if m.Fleet {
		if d.env.News().Fleet != nil {
			all = append(all, machineAction{"Hide", "hides it from the dashboard; programs there keep running", d.hideMachine})
		}
		return all
	}
	if m.SSH {
		all = append(all, machineAction{"Upgrade", "installs this version of tandem; programs there keep running", d.upgradeMachine})
	}
	return append(all, machineAction{"Remove", "from config.toml; programs there keep running", d.askRemove})
}

// askAction offers the actions on a machine.
func (d *Dialog) askAction(name string) tea.Cmd {
	m := d.env.News().Machine(name)
	if m == nil {
		return d.env.Say("machine "+name+" was removed", true)
	}
	return d.offerActions(name, d.actionsFor(m))
}

// offerActions opens a list of actions on a machine.
func (d *Dialog) offerActions(name string, all []machineAction) tea.Cmd {
	u := &dialog.Picker{Title: name, Wide: list.ChoicesWidth, Verb: func(list.Choice) string { return "do it" }}
	u.Pick = func(c list.Choice) tea.Cmd { return all[c.Number].do(name) }
	var choices []list.Choice
	for i, it := range all {
		choices = append(choices, list.Choice{Number: i, Sign: d.env.Look().Glyphs.More, SignInk: d.env.Look().Accent, Text: it.text, Detail: it.detail})
	}
	u.List.Set(choices)
	d.env.Ask(u)
	return nil
}

// OpenMachine starts a session on a machine, or connects to the machine if it is offline.
func (d *Dialog) OpenMachine(name string) tea.Cmd {
	if m := d.env.News().Machine(name); m != nil && m.State != api.MachineConnected {
		return d.connectMachine(name)
	}
	return d.env.StartOn(name)
}

// connectMachine connects to a machine now. If ssh needs input from the user, it runs tandem
// machine connect in a session.
func (d *Dialog) connectMachine(name string) tea.Cmd {
	// Connecting may ask for a password or a host key, which needs a terminal.
	if m := d.env.News().Machine(name); m != nil && m.State == api.MachineNeedsYou {
		return d.runInSession("connect", name)
	}
	return tea.Batch(d.env.Say("connecting to "+name+"…", false),
		panes.Call(d.env.Context(), d.env, func(ctx context.Context, e panes.Engine) (api.Machine, error) {
			return api.MachineConnect.Call(ctx, e, api.MachineConnectInput{Name: name})
		}, panes.ReportErrors(d.env.Say, func(now api.Machine) tea.Cmd {
			known := panes.Machine{Machine: now}
			if now.State != api.MachineConnected {
				return d.env.Say(name+": "+machineStatus(&known), true)
			}
			return d.env.Say("connected to "+name, false)
		})))
}

func (d *Dialog) upgradeMachine(name string) tea.Cmd { return d.runInSession("upgrade", name) }

func (d *Dialog) askAdd() tea.Cmd {
	p := dialog.NewPrompt("Add a machine", "", func(line string) tea.Cmd {
		words, _, err := panes.SplitCommand(line)
		switch {
		case len(words) == 0:
			return nil
		case err == nil && len(words) == 2:
			return d.runInSession(append([]string{"add"}, words...)...)
		}
		return d.runInSession(append([]string{"add", words[0], "--"}, words[1:]...)...)
	})
	p.Note = "NAME me@host, or NAME and the command that reaches it"
	p.Check = func(line string) error {
		if words, _, err := panes.SplitCommand(line); err != nil || len(words) == 1 {
			return errors.New("needs a name, and user@host or a command")
		}
		return nil
	}
	d.env.Ask(p)
	return nil
}

func (d *Dialog) askRemove(name string) tea.Cmd {
	d.env.Ask(&dialog.Question{
		Title: "Remove machine " + name + "?",
		Lines: []string{"It is removed from config.toml. Programs there keep running."},
		Yes:   "remove it",
		Then: func() tea.Cmd {
			return func() tea.Msg { return panes.DoneMsg{Err: runTandem(d.env.Context(), "remove", name)} }
		},
	})
	return nil
}

// runInSession runs `tandem machine` with args in a session, because it may ask the user questions.
func (d *Dialog) runInSession(args ...string) tea.Cmd {
	program, err := os.Executable()
	if err != nil {
		return d.env.Say("find Tandem's program: "+err.Error(), true)
	}
	return d.env.Visit("machine "+args[0], append([]string{program, "machine"}, args...), d.env.Folder(), nil)
}

// runTandem runs `tandem machine` with args in the background. It is for subcommands that ask no
// questions.
func runTandem(ctx context.Context, args ...string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find Tandem's program: %w", err)
	}
	out, err := exec.CommandContext(ctx, program, append([]string{"machine"}, args...)...).CombinedOutput()
	if err == nil {
		return nil
	}
	// The first line is the error; hints follow.
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return errors.New(strings.TrimPrefix(first, "tandem: "))
}

// Summary describes the machines for a status bar: how many there are, and how many are offline; ""
// if there are none. bad reports whether any is offline.
func Summary(n *panes.News, short bool) (summary string, bad bool) {
	all, offline, needs := len(n.Machines), 0, 0
	for i := range n.Machines {
		switch m := &n.Machines[i]; {
		case n.Fleet != nil && m.Fleet: // counted below
			all--
		case m.State == api.MachineAway:
			offline++
		case m.State == api.MachineNeedsYou:
			needs++
		}
	}
	if n.Fleet != nil {
		all, offline = all+n.Fleet.Machines, offline+n.Fleet.Away
	}
	switch {
	case all == 0:
		return "", false
	case short && offline+needs > 0:
		return fmt.Sprintf("%d/%d", all-offline-needs, all), true
	case short:
		return "", false
	}
	summary = panes.WithCounts(text.Count(all, "machine"), panes.Count{N: offline, What: "offline"}, panes.Count{N: needs, What: "waiting for you"})
	return summary, offline+needs > 0
}
