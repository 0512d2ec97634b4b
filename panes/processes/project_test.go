package processes

import (
	"strings"
	"testing"

	"tandem/engine/api"
)

// onProject shows the view with four processes: two running ones and a failed one in a project, and
// one without a project.
func onProject(t *testing.T) *view {
	seven := 7
	return onProcesses(t, 100, 30, func(e *fakeEngine) {
		e.addProcess("alone", "")
		for _, name := range []string{"web", "queue", "bad"} {
			p := e.addProcess(name, "no such table\n")
			p.process.Project = &api.ProjectEntry{File: "/home/ann/shop/tandem.yaml", Name: name, Project: "storefront"}
			if name == "bad" {
				p.process.State, p.process.PID, p.process.ExitCode = api.StateFailed, 0, &seven
			}
		}
	})
}

func TestFailureInProjectIsExplained(t *testing.T) {
	d := onProject(t)
	d.WaitMatch(`▾ storefront +2/3 up, 1 failed`)
	d.WaitText("failed: exited 7")
	d.WaitText("▾ no project")
	d.Press("/", "'bad", "enter")
	d.WaitText("✗ exited with status 7")
	d.WaitMatch(`^no such table`)
}

func TestProjectFoldsAndIsFoundByItsName(t *testing.T) {
	d := onProject(t)
	d.WaitText("failed: exited 7")
	d.Press("g", "f")
	d.WaitText("▸ storefront")
	d.WaitNoText("failed: exited 7")
	d.Press("enter")
	d.WaitText("▾ storefront")

	d.WaitText("alone")
	d.Press("/", "'storefront", "enter")
	d.WaitText("3 of ")
	d.WaitNoText("alone")
	d.Press("esc")
	d.WaitText("alone")
}

func TestActionOnHeaderChangesItsProcessesAfterConfirmation(t *testing.T) {
	d := onProject(t)
	d.Press("g", "x")
	d.WaitText("Stop 2 processes of storefront?")
	d.Press("n", "r")
	d.WaitText("Restart 3 processes of storefront?")
	d.Press("n")
	d.WaitNoText("Restart 3 processes")
	if calls := d.engine.takeCalls(); calls != "" {
		t.Errorf("cancelled actions did %s", calls)
	}
	d.Press("x", "y")
	d.WaitMatch(`▾ storefront +0/3 up`)
	d.WaitMatch(`■ +queue`)
	d.WaitMatch(`■ +web`)
	d.WaitMatch(`alone +running`)
	if calls := d.engine.takeCalls(); strings.Count(calls, "stop ") != 2 {
		t.Errorf("stopping did %s", calls)
	}
	d.Press("u")
	d.WaitText("Start 3 processes of storefront?")
	d.Press("y")
	d.WaitMatch(`▾ storefront +3/3 up`)
}
