package native

import (
	"testing"

	"tandem/engine/agent/mcp/mcptest"
	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

func newAgent(t *testing.T) *mcptest.Agent {
	return mcptest.NewAgent(t, "/home/me", toolkit.Native, Tools())
}

func TestStopAllNamesProcessesOfEarlierConnection(t *testing.T) {
	t.Parallel()
	f := newAgent(t)
	of := func(id, actor string, left bool) api.Process {
		return api.Process{ID: id, Actor: actor, Owner: &api.Ownership{Client: "def", Left: left}}
	}
	person, here, other := api.Process{ID: "p"}, of("h", f.Actor, false), of("o", "agent:y/1", true)
	const runOn = " not started by this connection keep running; all stops them too."
	for _, tc := range []struct {
		others []api.Process
		want   string
	}{
		{nil, ""},
		{[]api.Process{person, here, other}, " 3" + runOn},
		{[]api.Process{person, of("a", f.Actor, true)}, " 2" + runOn + " An earlier connection of yours left: a."},
		{[]api.Process{of("a", f.Actor, true), of("b", f.Actor, true), of("c", f.Actor, true), of("d", f.Actor, true), of("e", f.Actor, true),
			of("f", f.Actor, true), of("g", f.Actor, true)}, " 7" + runOn + " An earlier connection of yours left: a, b, c, d, e and 2 more."},
	} {
		mcptest.Handle(f.Fake, api.ProcessStopAll, func(in api.ProcessStopAllInput) (api.ProcessStopAllOutput, error) {
			if want := (api.ProcessStopAllInput{Signal: "SIGTERM", Own: true}); in != want {
				t.Errorf("it asks for %+v", in)
			}
			return api.ProcessStopAllOutput{Stopped: []api.Process{{ID: "s"}}, Others: tc.others}, nil
		})
		f.Check("process_stop_all", `{}`, "Stopped 1 processes with SIGTERM."+tc.want, false)
	}
}

func TestStopAllWithAllStopsProcessesOfOthers(t *testing.T) {
	t.Parallel()
	f := newAgent(t)
	mcptest.Handle(f.Fake, api.ProcessStopAll, func(in api.ProcessStopAllInput) (api.ProcessStopAllOutput, error) {
		if want := (api.ProcessStopAllInput{Signal: "SIGKILL"}); in != want {
			t.Errorf("it asks for %+v", in)
		}
		return api.ProcessStopAllOutput{Stopped: []api.Process{{}, {}}}, nil
	})
	f.Check("process_stop_all", `{"all":true,"signal":"SIGKILL"}`, "Stopped 2 processes with SIGKILL.", false)
	f.Check("process_stop_all", `{"signal":"SIGUSR1"}`, `stop process: signal "SIGUSR1": must be SIGTERM, SIGINT, SIGHUP or SIGKILL`, true)
}
