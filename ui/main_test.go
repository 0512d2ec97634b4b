package ui

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/tests/leaks"
)

// dashboardEnv makes the test binary run the dashboard on a fake engine.
const dashboardEnv = "TANDEM_TEST_DASHBOARD"

func TestMain(m *testing.M) {
	if os.Getenv(dashboardEnv) != "" {
		os.Exit(runFakeDashboard())
	}
	// Bubble Tea's timers cannot be stopped; they end by themselves.
	leaks.Main(m, goleak.IgnoreAnyFunction("charm.land/bubbletea/v2.Tick.func1"))
}

// runFakeDashboard shows a few sessions of an engine in memory.
func runFakeDashboard() int {
	e := newFakeEngine()
	if os.Getenv(dashboardEnv) == "some" {
		addExamples(e)
	}
	o := Options{Settings: defaultSettings(), CWD: "/home/ann/src"}.withDefaults()
	if err := checkTerminal(o.Input, o.Output); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_, err := runModel(context.Background(), o, e, func(context.Context) (panes.Engine, error) { return e, nil })
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func addExamples(e *fakeEngine) {
	e.addSession("bash", "ann@box:~/src$ ls", "Makefile  README.md  main.go", "ann@box:~/src$ ")
	s := e.addSession("vim", "package main", "", "func main() {}")
	s.process.Terminal.Title = "main.go + (~/src) - VIM"
	s = e.addSession("build", "$ make", "")
	s.process.Terminal.Rang = true
	s.process.Argv, s.process.Command = []string{"make", "-j8"}, "make -j8"
	s = e.addSession("deploy", "$ ./deploy", "error: no route to host")
	seven := 7
	s.process.State, s.process.ExitCode = api.StateExited, &seven
}
