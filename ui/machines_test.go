package ui

import (
	"context"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/qualify"
)

// addBox connects an engine to another machine, box, with one session.
func addBox(e *fakeEngine) (box *fakeEngine) {
	box = newFakeEngine()
	box.addSession("there")
	e.machines = map[string]*fakeEngine{"box": box}
	e.known = []api.Machine{{Name: "box", State: api.MachineConnected}}
	return box
}

// follow passes events of the connected machines to c, and notes them in following.
func (e *fakeEngine) follow(ctx context.Context, c chan<- api.Event, following map[*fakeEngine]bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range e.known {
		far := e.machines[m.Name]
		if far == nil || following[far] || m.State != api.MachineConnected {
			continue
		}
		following[far] = true
		go func() {
			for event, err := range far.Watch(ctx) {
				if err != nil {
					return
				}
				select {
				case c <- qualify.Event(m.Name, event):
				case <-ctx.Done():
				}
			}
		}()
	}
}

// Do answers an operation, on the machine that its input names.
func (e *fakeEngine) Do(ctx context.Context, name string, effect api.Effect, in, out any) error {
	row, _ := api.Find(name)
	if row.In != reflect.TypeOf(in) {
		return e.Engine.Do(ctx, name, effect, in, out)
	}
	v := reflect.New(row.In)
	v.Elem().Set(reflect.ValueOf(in))
	machine, err := row.Unqualify(v.Interface(), func(string) bool { return true })
	if err != nil {
		return err
	}
	if machine == "" {
		return e.Engine.Do(ctx, name, effect, in, out)
	}
	far, err := e.reach(machine)
	if err != nil {
		return err
	}
	if err = far.Do(ctx, name, effect, v.Elem().Interface(), out); err == nil {
		qualify.Output(machine, out)
	}
	return err
}

// reach returns the engine of another machine.
func (e *fakeEngine) reach(machine string) (*fakeEngine, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	far, i := e.machines[machine], slices.IndexFunc(e.known, func(m api.Machine) bool { return m.Name == machine })
	if far == nil || i >= 0 && e.known[i].State == api.MachineAway {
		return nil, api.Errorf(api.CodeUnavailable, "reach machine %s: it is offline", machine)
	}
	return far, nil
}

// inputOf returns the input of session number i.
func (e *fakeEngine) inputOf(i int) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return string(e.sessions[i].typed)
}

func (e *fakeEngine) listStarts() []api.SessionStartInput {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.started)
}

// announceBox announces the state of box.
func (e *fakeEngine) announceBox(state api.MachineState) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.known = []api.Machine{{Name: "box", State: state, Error: "no answer"}}
	e.announce(api.Event{Type: api.EventMachines, Machines: e.known})
}

func TestRemoteNoticeDoesNotHideLocalOne(t *testing.T) {
	e := newFakeEngine()
	e.addSession("here")
	box := addBox(e)
	d := drive(t, e, 160, 24)
	d.waitText("● there")
	notify := func(e *fakeEngine, text string) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.announce(api.Event{Type: api.EventNotice, Notice: text})
	}
	notify(e, "config.toml line 2: no such key")
	d.waitText("config.toml line 2")
	notify(box, "config.toml line 1: no such theme")
	d.waitText("config.toml line 2: no such key; box: config.toml line 1: no such theme")

	d.m.notices.toast.ClearMessage()
	d.update(settingsMsg{Fault: "config.toml line 3: there is no key"})
	d.m.notices.toast.ClearMessage()
	notify(box, "config.toml line 1: no such theme")
	d.waitText("config.toml line 3: there is no key; box: config.toml line 1: no such theme")

	d.changeSettings(func(*Settings) {})
	d.m.notices.toast.ClearMessage()
	notify(box, "config.toml line 1: no such theme")
	d.waitText("box: config.toml line 1")
	d.waitNoText("line 3")
}

func TestRemoteSessionsAreGroupedAndUsedLikeLocalOnes(t *testing.T) {
	e := newFakeEngine()
	e.addSession("here")
	box := addBox(e)
	d := drive(t, e, 120, 24)
	d.waitText("● there")
	at := strings.Index(d.screenText(), "box")
	if at < 0 || at > strings.Index(d.screenText(), "● there") || !strings.Contains(d.screenText(), "this machine") {
		t.Fatalf("the list:\n%s", d.screenText())
	}
	if len(d.m.sessions.Tabs.All) != 1 {
		t.Errorf("tabs of sessions that nobody has opened: %d", len(d.m.sessions.Tabs.All))
	}
	d.pressKeys("ctrl+b", "s", "G", "enter")
	d.waitText("─ box/there ")
	d.pressKeys("'far")
	d.waitUntil("the keys arrive there", func() bool { return box.inputOf(0) == "far" })
	d.pressKeys("ctrl+b", "%")
	d.waitUntil("a session starts there", func() bool { return len(box.listStarts()) == 1 })
	if in := box.listStarts()[0]; strings.Contains(in.ID, "/") || in.Environ != nil || len(e.listStarts()) > 0 {
		t.Errorf("asked there: %+v, here: %+v", in, e.listStarts())
	}
}

func TestOfflineMachineIsDimmedAndNamedInErrors(t *testing.T) {
	e := newFakeEngine()
	e.addSession("here")
	box := addBox(e)
	d := drive(t, e, 120, 24)
	d.waitText("● there")
	e.announceBox(api.MachineAway)
	d.waitText("away")
	d.pressKeys("ctrl+b", "s", "G", "n")
	d.waitText("reach machine box: it is offline")
	if len(e.listStarts())+len(box.listStarts()) > 0 {
		t.Error("something was started")
	}
	d.waitText("● there") // the last snapshot is kept
}

func TestLayoutKeepsPanesOfMachineNotYetConnected(t *testing.T) {
	e := newFakeEngine()
	here := e.addSession("here")
	box := addBox(e)
	there := box.addSession("second")
	e.known[0].State = api.MachineAway
	e.layouts.Set(api.Layout{Tabs: []api.LayoutTab{{Nodes: []api.LayoutNode{
		{Axis: api.AxisBeside, Share: 5000}, {ID: here.process.ID}, {ID: "box/" + there.process.ID, Name: "second"}}}}})
	d := drive(t, e, 140, 24)
	d.waitUntil("the layout is there", func() bool {
		return len(d.m.sessions.Tabs.All) == 1 && len(d.m.sessions.Tabs.Leaves()) == 2
	})
	e.announceBox(api.MachineConnected)
	d.waitText("─ box/second ")
	d.pressKeys("ctrl+b", "right", "'x")
	d.waitUntil("it is attached", func() bool { return box.inputOf(1) == "x" })
}

func TestMachineHeadingShowsAgentStates(t *testing.T) {
	e := newFakeEngine()
	e.addSession("here")
	box := addBox(e)
	box.addSession("second")
	for i, state := range []api.AgentState{api.AgentBlocked, api.AgentWorking} {
		box.sessions[i].process.Agent = &api.CodingAgent{Name: "claude", State: state}
	}
	d := drive(t, e, 120, 24)
	d.waitText("1 blocked, 1 working")
	if !regexp.MustCompile(`(?m)^ box +1 blocked, 1 working`).MatchString(d.screenText()) {
		t.Errorf("the row of box:\n%s", d.screenText())
	}
	if !regexp.MustCompile(`(?m)^ this machine  +[│├┤]`).MatchString(d.screenText()) {
		t.Errorf("the row of this machine:\n%s", d.screenText())
	}
	d.pressKeys("ctrl+b", "M")
	d.waitText("Add a machine…")
	d.waitText("connected    1 blocked, 1 working")
}

func TestNarrowListKeepsTheOrderOfTabs(t *testing.T) {
	e := newFakeEngine()
	one, two := e.addSession("one"), e.addSession("two")
	addBox(e)
	float := tabOf(two.process.ID)
	e.layouts.Set(api.Layout{Tabs: []api.LayoutTab{tabOf("box/000000000001"), tabOf(one.process.ID)}, Current: 1, Float: &float})
	d := drive(t, e, 80, 24)
	d.waitText(" 1 ● box/there  2 ● one  float ● two ")
}

func TestInputForOfflineMachineIsShownAndCanBeDropped(t *testing.T) {
	e := newFakeEngine()
	e.addSession("here", "$ ")
	box := addBox(e)
	d := drive(t, e, 120, 24)
	d.waitText("● there")
	d.pressKeys("ctrl+b", "s", "G", "enter")
	d.waitText("─ box/there ")
	d.pressKeys("'a")
	d.waitTyped(box.sessions[0], "a")
	d.mu.Lock()
	delete(e.machines, "box")
	d.mu.Unlock()
	e.announceBox(api.MachineAway)
	box.killEngine()
	d.waitUntil("the session cannot be reached", func() bool { return !d.m.sessions.FocusedPane().Outbox.Connected() })
	d.pressKeys("'rm -rf the enter data", "enter")
	d.waitText("queued until box is back: rm -rf the enter data⏎")
	d.waitText("ctrl+b D drop it")
	d.pressKeys("ctrl+b", "D")
	d.waitText("dropped what was queued")
	d.waitNoText("rm -rf the enter")
	if n := d.m.sessions.FocusedPane().Outbox.Waiting(); n != 0 {
		t.Errorf("%d inputs wait", n)
	}
}

func TestFirstRowOfListIsASession(t *testing.T) {
	e := newFakeEngine()
	e.addSession("here", "$ ")
	addBox(e)
	d := drive(t, e, 120, 24)
	d.waitText("● there")
	d.pressKeys("ctrl+b", "s", "G", "g", "enter", "'x")
	d.waitTyped(e.sessions[0], "x")
	if n := len(e.listStarts()); n > 0 {
		t.Errorf("%d sessions were started", n)
	}
}
