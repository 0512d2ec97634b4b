package mcp

import (
	"strings"
	"testing"

	"tandem/engine/api"
)

func TestStopAllLeavesAloneWhatOthersHaveStarted(t *testing.T) {
	t.Parallel()
	r := newRig(t, Native)
	start := func(client *api.Client) string {
		p, err := api.ProcessStart.Call(t.Context(), client, api.ProcessStartInput{Command: []string{"sleep", "1000"}, CWD: "/"})
		if err != nil {
			t.Fatal(err)
		}
		return p.ID
	}
	var theirs []string
	for name, owner := range map[string]string{"person": "", r.face.actor: newOwner()} { // another client of the same agent too
		client, err := r.connect(t.Context(), name, owner)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		theirs = append(theirs, start(client))
	}
	own := []string{start(r.face.engine), r.call("process_start", object{"command": "exec sleep 1000", "keepAlive": true}).process}
	r.check(t,
		row{"process_stop_all", nil, "Stopped 2 processes with SIGTERM. 2 that you did not start run on; all stops them too.", false},
		row{"process_stop_all", nil, "Stopped 0 processes with SIGTERM. 2 that you did not start run on; all stops them too.", false},
		row{"process_stop_all", object{"signal": "SIGUSR1"}, `stop process: signal "SIGUSR1" is none of SIGTERM, SIGINT, SIGHUP and SIGKILL`, true},
	)
	for id, status := range map[string]string{own[0]: "stopped", own[1]: "stopped", theirs[0]: "running", theirs[1]: "running"} {
		if got := said(r.call("process_get", object{"id": id})); !strings.Contains(got, "status: "+status) {
			t.Errorf("want %s: %s", status, got)
		}
	}
	r.check(t, row{"process_stop_all", object{"signal": "SIGKILL", "all": true}, "Stopped 2 processes with SIGKILL.", false})
}

func TestStopAllOfTheProfilePluginIsAsItWas(t *testing.T) {
	for _, c := range []struct {
		profiles []Profile
		all      bool
	}{{[]Profile{Native}, true}, {[]Profile{Plugin}, false}, {[]Profile{All}, false}, {[]Profile{Native, Plugin}, false}} {
		found := 0
		for _, one := range toolset(Options{Profiles: c.profiles}) {
			if one.name != "process_stop_all" {
				continue
			}
			found++
			if got := strings.Contains(string(inputSchema(one.in)), `"all"`); got != c.all {
				t.Errorf("%v: it has an argument all: %v", c.profiles, got)
			}
		}
		if found != 1 {
			t.Errorf("%v: %d tools", c.profiles, found)
		}
	}
}
