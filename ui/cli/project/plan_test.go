package project

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"

	"github.com/google/go-cmp/cmp"
)

// planOf plans a file with the entries web, task and db. have returns the existing process of an
// entry; others are further processes.
func planOf(t *testing.T, o PlanOptions, have func(e *Entry) *api.Process, others ...api.Process) (*Plan, map[string]Action) {
	t.Helper()
	file, err := Parse("/p/tandem.yaml", []byte("processes:\n  db: x\n  task: y\n  web: {command: z, restart: {success_codes: [7]}}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	list := others
	for i := range file.Entries {
		e := &file.Entries[i]
		if p := have(e); p != nil {
			p.Name = e.Name
			p.Project = &api.ProjectEntry{File: file.Path, Name: e.Name, Digest: digest(e)}
			list = append(list, *p)
		}
	}
	order, err := file.Order(nil)
	if err != nil {
		t.Fatal(err)
	}
	plan := NewPlan(file, order, list, o)
	actions := map[string]Action{}
	for _, s := range plan.steps {
		actions[s.entry.Name] = s.action
	}
	return plan, actions
}

func TestPlanKeepsUnchangedProcessesAndCompletedTasks(t *testing.T) {
	running := func(e *Entry) *api.Process {
		switch e.Name {
		case "db":
			return &api.Process{State: api.StateBackoff}
		case "task":
			return &api.Process{State: api.StateExited, ExitCode: new(0)}
		}
		return &api.Process{State: api.StateExited, ExitCode: new(7)}
	}
	_, got := planOf(t, PlanOptions{}, running)
	if diff := cmp.Diff(map[string]Action{"db": actionKeep, "task": actionDone, "web": actionDone}, got); diff != "" {
		t.Error(diff)
	}
	_, got = planOf(t, PlanOptions{Named: []string{"task"}}, running)
	if got["task"] != actionRestart {
		t.Errorf("a named task is %s", got["task"])
	}
	_, got = planOf(t, PlanOptions{Replace: true}, running)
	if got["db"] != actionChange {
		t.Errorf("with Replace db is %s", got["db"])
	}
}

func TestPlanRepeatsTasksIfNothingRuns(t *testing.T) {
	_, got := planOf(t, PlanOptions{}, func(e *Entry) *api.Process {
		if e.Name == "web" {
			return nil
		}
		return &api.Process{State: api.StateExited, ExitCode: new(0)}
	})
	if diff := cmp.Diff(map[string]Action{"db": actionRestart, "task": actionRestart, "web": actionStart}, got); diff != "" {
		t.Error(diff)
	}
}

func TestPlanPrefersARunningProcessToALaterExitedOne(t *testing.T) {
	old := api.Process{ID: "live", State: api.StateRunning, Project: &api.ProjectEntry{File: "/p/tandem.yaml", Name: "db"}}
	plan, _ := planOf(t, PlanOptions{}, func(e *Entry) *api.Process {
		if e.Name != "db" {
			return nil
		}
		return &api.Process{ID: "ended", State: api.StateFailed, StartedAt: time.Now()}
	}, old)
	if got := plan.steps[0].existing.ID; got != "live" {
		t.Errorf("db is %s", got)
	}
}

func TestTakenNameGetsTheProjectAsPrefix(t *testing.T) {
	none := func(*Entry) *api.Process { return nil }
	plan, _ := planOf(t, PlanOptions{}, none, api.Process{Name: "db", State: api.StateRunning}, api.Process{Name: "task", State: api.StateExited})
	if plan.steps[0].name != "p-db" || plan.steps[1].name != "task" {
		t.Errorf("the names are %s and %s", plan.steps[0].name, plan.steps[1].name)
	}
}

func TestPlanListsProcessesNoLongerInTheFile(t *testing.T) {
	none := func(*Entry) *api.Process { return nil }
	gone := api.Process{ID: "gone", Project: &api.ProjectEntry{File: "/p/tandem.yaml", Name: "gone"}}
	other := api.Process{ID: "other", Project: &api.ProjectEntry{File: "/q/tandem.yaml", Name: "gone"}}
	plan, _ := planOf(t, PlanOptions{}, none, gone, other, api.Process{ID: "free"})
	if len(plan.removed) != 1 || plan.removed[0].ID != "gone" {
		t.Errorf("removed are %v", plan.removed)
	}
}

func TestDigestChangesWithTheDefinition(t *testing.T) {
	seen := map[string]string{}
	for _, text := range []string{
		"processes: {a: x}", "processes: {a: [x]}", "env: {B: c}\nprocesses: {a: x}", "processes: {a: {command: x, keep_alive: true}}",
		"processes: {a: {command: x, cwd: y}}", "processes: {a: {command: x, ready: {port: 1}}}",
	} {
		file, err := Parse("/p/tandem.yaml", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		d := digest(&file.Entries[0])
		if before, there := seen[d]; there {
			t.Errorf("%q and %q have one digest", text, before)
		}
		seen[d] = text
	}
}

func TestLayoutOfManyPanesBecomesNestedSplits(t *testing.T) {
	_, err := Parse("/p/tandem.yaml", []byte("sessions: {a: , b: , c: , d: }\nlayout:\n  - beside: [a, {below: [b, c]}, d]\n    sizes: [50, 25, 25]\n  - c2\n"), nil)
	if err == nil {
		t.Fatal("a layout with an unknown session is accepted")
	}
	file, err := Parse("/p/tandem.yaml", []byte("sessions: {a: , b: , c: , d: }\nlayout:\n  - beside: [a, {below: [b, c]}, d]\n    sizes: [50, 25, 25]\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	leaf := func(name string) api.LayoutNode { return api.LayoutNode{ID: "id-" + name, Name: name} }
	panes := map[string]api.LayoutNode{"a": leaf("a"), "b": leaf("b"), "c": leaf("c"), "d": leaf("d")}
	got := apiLayout(file.Layout, panes)
	want := api.Layout{Tabs: []api.LayoutTab{{Focus: 1, Nodes: []api.LayoutNode{
		{Axis: api.AxisBeside, Share: 5000}, leaf("a"), {Axis: api.AxisBeside, Share: 5000}, {Axis: api.AxisBelow, Share: 5000}, leaf("b"), leaf("c"), leaf("d")}}}}
	if diff := cmp.Diff(want, got); diff != "" || got.Check() != nil {
		t.Error(diff, got.Check())
	}
	delete(panes, "b")
	if got := apiLayout(file.Layout, panes); got.Check() != nil || len(got.Tabs[0].Nodes) != 5 {
		t.Errorf("without b: %+v, %v", got, got.Check())
	}
}

func TestSessionsDefaultToStopSignalHUP(t *testing.T) {
	file, err := Parse("/p/tandem.yaml", []byte("sessions:\n  shell:\n  top: {command: top, stop_signal: INT}\nprocesses:\n  menu: {command: menu, tty: true}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := Run{File: file, Size: func() (int, int) { return 80, 24 }}
	got := map[string]string{}
	for i := range file.Entries {
		e := &file.Entries[i]
		got[e.Name] = r.startInput(&step{entry: e}).StopSignal
	}
	if diff := cmp.Diff(map[string]string{"shell": "HUP", "top": "INT", "menu": ""}, got); diff != "" {
		t.Error(diff)
	}
}

// Scripts compare these values, which docs/commands.md lists.
func TestActionsHaveStableJSONValues(t *testing.T) {
	want := map[Action]string{actionStart: "started", actionRestart: "restarted", actionChange: "replaced", actionKeep: "unchanged",
		actionDone: "done", actionOrphan: "orphaned", actionRemove: "removed", actionFailed: "failed"}
	for action, value := range want {
		text, err := json.Marshal(Result{Action: action})
		if err != nil || !strings.Contains(string(text), `"action":"`+value+`"`) {
			t.Errorf("%s, %v, want action %s", text, err, value)
		}
	}
	if got := actionRestart.text() + ", " + actionOrphan.Planned(); got != "started again, not in the file; --prune stops it" {
		t.Errorf("as text: %s", got)
	}
}
