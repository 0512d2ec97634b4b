package sessions

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/panestest"
	"tandem/panes/sessions/layout"
	"tandem/panes/terminal"
)

const testWidth, testHeight = 160, 38

// A fakeEnv is a dashboard that shows only the view. Its panes are never attached to a session.
type fakeEnv struct {
	*panestest.Env
	Dashboard
	view *View
}

func (e *fakeEnv) Change(change func() tea.Cmd) tea.Cmd                { return change() }
func (e *fakeEnv) Attach(context.Context, string, *terminal.Feed)      {}
func (e *fakeEnv) ShowSessions()                                       { e.view.Show() }
func (e *fakeEnv) PanesChanged() tea.Cmd                               { return nil }
func (e *fakeEnv) ShowNote(text string, bad bool) tea.Cmd              { return e.Say(text, bad) }
func (e *fakeEnv) ReportEvent(text, _ string, _ panes.Urgency) tea.Cmd { return e.Say(text, false) }
func (e *fakeEnv) Relayout() {
	e.view.SetTight(e.view.IsZoomed())
	e.view.Resize(testWidth, testHeight)
}

func (e *fakeEnv) AddProcesses(p ...api.Process) tea.Cmd {
	before := e.Known
	e.Known.AddProcess(p[0])
	e.view.HandleNews(&before)
	return nil
}

// A fakeEngine starts sessions, and keeps layouts in memory.
type fakeEngine struct {
	announce func(api.Event)
	layouts  *panestest.Layouts

	mu        sync.Mutex
	started   int
	late      *lateStart             // holds starts; nil if they are answered at once
	processes map[string]api.Process // those started here
}

// setProcess stores and announces the state of a process.
func (e *fakeEngine) setProcess(p api.Process) {
	e.processes[p.ID] = p
	e.announce(api.Event{Type: api.EventProcess, Process: &p})
}

func (e *fakeEngine) startSession(ctx context.Context, in api.SessionStartInput) (api.Process, error) {
	if err := e.holdStart(ctx, in.ID); err != nil {
		return api.Process{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.started++
	p := newSession(in.ID, fmt.Sprint("new-", e.started))
	e.setProcess(p)
	return p, nil
}

func (e *fakeEngine) killSession(_ context.Context, in api.IDInput) (api.Process, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p, ok := e.processes[in.ID]
	if !ok {
		return p, api.Errorf(api.CodeNotFound, "find session %q: there is none", in.ID)
	}
	p.State = api.StateStopped
	e.setProcess(p)
	return p, nil
}

func newSession(id, name string) api.Process {
	return api.Process{ID: id, Name: name, Kind: api.KindSession, State: api.StateRunning, Terminal: &api.Terminal{}}
}

// A driver runs a view.
type driver struct {
	*panestest.Driver
	view   *View
	engine *fakeEngine
}

// drive opens a view on a session for each name, arranged as in the saved layout.
func drive(t *testing.T, saved *api.Layout, names ...string) *driver {
	t.Helper()
	fake := &fakeEngine{processes: map[string]api.Process{}, layouts: &panestest.Layouts{}}
	engine := panestest.NewEngine()
	panestest.On(engine, api.SessionStart, fake.startSession)
	panestest.On(engine, api.SessionKill, fake.killSession)
	fake.layouts.Serve(engine, func(e api.Event) { fake.announce(e) })
	if saved != nil {
		fake.layouts.Set(*saved)
	}
	e := &fakeEnv{Env: &panestest.Env{Ctx: t.Context(), API: engine}}
	e.view = New(e)
	e.Known.Connected = true
	e.Known.Layout, e.Known.Revision = fake.layouts.Current()
	for _, name := range names {
		e.Known.Processes = append(e.Known.Processes, newSession(name, name))
	}
	e.view.HandleNews(&panes.News{})
	d := &driver{panestest.Drive(t, e.Env, e.view, testWidth, testHeight+2), e.view, fake}
	fake.announce = d.Announce
	return d
}

// threePanes opens a view on sessions a, b and c. b is beside a, and c below b.
func threePanes(t *testing.T) *driver {
	t.Helper()
	d := drive(t, &api.Layout{Tabs: []api.LayoutTab{{Focus: 4, Nodes: []api.LayoutNode{
		{Axis: api.AxisBeside, Share: 3000}, {ID: "a"}, {Axis: api.AxisBelow, Share: 5000}, {ID: "b"}, {ID: "c"}}}}}, "a", "b", "c")
	d.waitShape("(a|(b/c))")
	return d
}

// shape describes the tabs by the names of their sessions: a|b is a beside b, a/b is a above b.
func (d *driver) shape() string {
	var tabs []string
	for _, t := range d.view.Tabs.All {
		tabs = append(tabs, d.treeShape(t.Root))
	}
	return strings.Join(tabs, " ")
}

func (d *driver) treeShape(n *layout.Node) string {
	if n.IsLeaf() {
		p, _ := d.view.env.News().Process(n.ID)
		return p.Name
	}
	sign := "|"
	if n.Axis == layout.Below {
		sign = "/"
	}
	return "(" + d.treeShape(n.A) + sign + d.treeShape(n.B) + ")"
}

func (d *driver) waitShape(want string) {
	d.Wait("the layout is "+want, func() bool { return d.shape() == want })
	Check(d.view)
}

func (d *driver) focusLeaf(l *layout.Node) { d.view.OpenSession(l.ID) }

// row returns the first row of a leaf on the screen.
func (d *driver) row(l *layout.Node) int { return l.Rect.Y + 1 }
