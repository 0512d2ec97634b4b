// Package machines is the list of other machines that lies over the dashboard: how
// they are, and what is done with one.
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
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// An Env is what the list asks of the dashboard beside what every pane does.
type Env interface {
	panes.Env
	StartOn(machine string) tea.Cmd // starts a shell in a new session of a machine
}

// A Dialog is the list of machines and, over it, what can be done with one.
type Dialog struct {
	env  Env
	list *overlay.Picker // the one that was opened last

	fleet    *overlay.Picker // the fleet's, as it was opened last
	machines []api.FleetMachine
}

// New makes a dialog that is not shown yet.
func New(env Env) *Dialog { return &Dialog{env: env} }

// addNumber is the choice that adds a machine, behind those that there are, and
// fleetNumber that which shows the fleet.
const addNumber, fleetNumber = 1 << 20, 1<<20 + 1

// Show opens the list.
func (d *Dialog) Show() tea.Cmd {
	d.list = &overlay.Picker{Title: "Machines", Wide: widget.ChoicesWidth, Verb: func(c widget.Choice) string {
		switch c.Number {
		case addNumber:
			return "add one"
		case fleetNumber:
			return "show it"
		}
		return "choose what to do"
	}}
	d.list.Pick = func(c widget.Choice) tea.Cmd {
		switch c.Number {
		case addNumber:
			return d.askAdd()
		case fleetNumber:
			return d.showFleet()
		}
		return d.ask(c.ID)
	}
	d.list.List.Set(d.choices())
	d.env.Ask(d.list)
	return nil
}

// News brings the list up to date while it is shown.
func (d *Dialog) News() {
	if d.list != nil && d.env.Shows(d.list) {
		d.list.List.Renew(d.choices())
	}
}

func (d *Dialog) choices() (all []widget.Choice) {
	look := d.env.Look()
	names := 0
	for _, m := range d.env.News().Machines {
		names = max(names, widget.Width(m.Name))
	}
	for i, m := range d.env.News().Machines {
		c := widget.Choice{Number: i, ID: m.Name, Sign: look.Glyphs.Running, SignInk: look.Good,
			Text: widget.Pad(m.Name, names) + "  " + widget.Clean(m.Target), Also: string(m.State), Detail: how(&m)}
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
		all = append(all, widget.Choice{Number: fleetNumber, ID: "fleet", Extra: true, Sign: look.Glyphs.More, SignInk: look.Accent, Text: "The fleet…", Also: "hub health", Detail: text})
	}
	return append(all, widget.Choice{Number: addNumber, ID: "+", Extra: true, Sign: look.Glyphs.More, SignInk: look.Accent,
		Text: "Add a machine…", Also: "new ssh", Detail: "over ssh, or by a command"})
}

// fleetText is a fleet in a few words; "" without one.
func fleetText(n *panes.News) string {
	if f := n.Fleet; f != nil {
		return panes.WithCounts(widget.Count(f.Machines, "machine"), panes.Count{N: f.Away, What: "away"})
	}
	if slices.ContainsFunc(n.Machines, func(m panes.Machine) bool { return m.Fleet }) {
		return "the state of the hub"
	}
	return ""
}

// how is how it is with a machine: how fast, in which version, or why not.
func how(m *panes.Machine) string {
	if away := m.OfflineReason(time.Now()); away != "" {
		if m.Error != "" {
			away += ": " + widget.Clip(widget.Clean(m.Error), 36)
		}
		return away
	}
	text := "connected"
	if rtt := widget.RoundTrip(m.RTTMS); rtt != "" {
		text += "  " + rtt
	}
	return text + "  " + widget.Clean(m.Version)
}

// A deed is something that can be done with a machine.
type deed struct {
	text, detail string
	do           func(machine string) tea.Cmd
}

func (d *Dialog) deeds(m *panes.Machine) (all []deed) {
	if m.State == api.MachineConnected {
		all = append(all, deed{"New session", "a shell there", d.env.StartOn})
	} else {
		all = append(all, deed{"Connect", "try it now; you may have to log in", d.connect})
	}
	if m.Fleet {
		if d.env.News().Fleet != nil {
			all = append(all, deed{"Hide", "hides it from the dashboard; programs there keep running", d.hide})
		}
		return all
	}
	if m.SSH {
		all = append(all, deed{"Upgrade", "installs this version of tandem; programs there keep running", d.upgrade})
	}
	return append(all, deed{"Remove", "from config.toml; programs there keep running", d.askRemove})
}

// ask offers what can be done with a machine.
func (d *Dialog) ask(name string) tea.Cmd {
	m := d.env.News().Machine(name)
	if m == nil {
		return d.env.Say("machine "+name+" was removed", true)
	}
	return d.offer(name, d.deeds(m))
}

// offer lets the person choose what to do with a machine.
func (d *Dialog) offer(name string, all []deed) tea.Cmd {
	u := &overlay.Picker{Title: name, Wide: widget.ChoicesWidth, Verb: func(widget.Choice) string { return "do it" }}
	u.Pick = func(c widget.Choice) tea.Cmd { return all[c.Number].do(name) }
	var choices []widget.Choice
	for i, it := range all {
		choices = append(choices, widget.Choice{Number: i, Sign: d.env.Look().Glyphs.More, SignInk: d.env.Look().Accent, Text: it.text, Detail: it.detail})
	}
	u.List.Set(choices)
	d.env.Ask(u)
	return nil
}

// Open starts a session on a machine, or connects to it first where it is away.
func (d *Dialog) Open(name string) tea.Cmd {
	if m := d.env.News().Machine(name); m != nil && m.State != api.MachineConnected {
		return d.connect(name)
	}
	return d.env.StartOn(name)
}

// connect reaches a machine now: in a session where it may have something to ask.
func (d *Dialog) connect(name string) tea.Cmd {
	if m := d.env.News().Machine(name); m != nil && m.State == api.MachineNeedsYou {
		return d.inSession("connect", name)
	}
	return tea.Batch(d.env.Say("connecting to "+name+"…", false),
		panes.Ask(d.env.Context(), d.env, func(ctx context.Context, e panes.Engine) (api.Machine, error) {
			return api.MachineConnect.Call(ctx, e, api.MachineConnectInput{Name: name})
		}, func(now api.Machine, err error) tea.Cmd {
			known := panes.Machine{Machine: now}
			switch {
			case err != nil:
				return d.env.Say(panes.ErrorText(err), true)
			case now.State != api.MachineConnected:
				return d.env.Say(name+": "+how(&known), true)
			}
			return d.env.Say("connected to "+name, false)
		}))
}

func (d *Dialog) upgrade(name string) tea.Cmd { return d.inSession("upgrade", name) }

func (d *Dialog) askAdd() tea.Cmd {
	p := overlay.NewPrompt("Add a machine", "", func(line string) tea.Cmd {
		words, _, err := panes.SplitCommand(line)
		switch {
		case len(words) == 0:
			return nil
		case err == nil && len(words) == 2:
			return d.inSession(append([]string{"add"}, words...)...)
		}
		return d.inSession(append([]string{"add", words[0], "--"}, words[1:]...)...)
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
	d.env.Ask(&overlay.Question{
		Title: "Remove machine " + name + "?",
		Lines: []string{"It is removed from config.toml. Programs there keep running."},
		Yes:   "remove it",
		Then: func() tea.Msg {
			return panes.DoneMsg{Err: tandem(d.env.Context(), "remove", name)}
		},
	})
	return nil
}

// inSession runs `tandem machine` in a session, where it can ask; the list comes
// back when that is closed.
func (d *Dialog) inSession(args ...string) tea.Cmd {
	program, err := os.Executable()
	if err != nil {
		return d.env.Say("find this program: "+err.Error(), true)
	}
	return d.env.Visit(append([]string{program, "machine"}, args...), d.env.Folder(), d.Show)
}

// tandem runs `tandem machine`, which asks nothing.
func tandem(ctx context.Context, args ...string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	out, err := exec.CommandContext(ctx, program, append([]string{"machine"}, args...)...).CombinedOutput()
	if err == nil {
		return nil
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return errors.New(strings.TrimPrefix(first, "tandem: "))
}

// Summary is how it is with the machines, for a bar: how many there are and how many
// of them cannot be reached, in as few words as short says; "" without any.
func Summary(n *panes.News, short bool) (text string, bad bool) {
	all, away, needs := len(n.Machines), 0, 0
	for i := range n.Machines {
		switch m := &n.Machines[i]; {
		case n.Fleet != nil && m.Fleet: // it is one of those that are counted below
			all--
		case m.State == api.MachineAway:
			away++
		case m.State == api.MachineNeedsYou:
			needs++
		}
	}
	if n.Fleet != nil {
		all, away = all+n.Fleet.Machines, away+n.Fleet.Away
	}
	switch {
	case all == 0:
		return "", false
	case short && away+needs > 0:
		return fmt.Sprintf("%d/%d", all-away-needs, all), true
	case short:
		return "", false
	}
	text = panes.WithCounts(widget.Count(all, "machine"), panes.Count{N: away, What: "away"}, panes.Count{N: needs, What: "waiting for you"})
	return text, away+needs > 0
}
