package mcp

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/tests/wait"
)

func TestStopAllSparesProcessesOfOthers(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	start := func(conn api.Engine) string {
		p, err := api.ProcessStart.Call(t.Context(), conn, api.ProcessStartInput{Command: []string{"sleep", "1000"}, CWD: "/"})
		if err != nil {
			t.Fatal(err)
		}
		return p.ID
	}
	var theirs []string
	for name, owner := range map[string]string{"person": "", r.agent.Actor: api.NewID()} { // also another client of the same agent
		conn, err := r.connect(t.Context(), name, owner, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		theirs = append(theirs, start(conn))
	}
	own := []string{start(r.agent.Engine.Once()), r.call("process_start", object{"command": "exec sleep 1000", "keepAlive": true}).Process}
	r.checkExact(t,
		exactCall{"process_stop_all", nil, "Stopped 2 processes with SIGTERM. 2 not started by this connection keep running; all stops them too.", false},
		exactCall{"process_stop_all", nil, "Stopped 0 processes with SIGTERM. 2 not started by this connection keep running; all stops them too.", false},
		exactCall{"process_stop_all", object{"signal": "SIGUSR1"}, `stop process: signal "SIGUSR1": must be SIGTERM, SIGINT, SIGHUP or SIGKILL`, true},
	)
	for id, status := range map[string]string{own[0]: "stopped", own[1]: "stopped", theirs[0]: "running", theirs[1]: "running"} {
		if got := r.getProcess(id).State; string(got) != status {
			t.Errorf("want %s: %s", status, got)
		}
	}
	r.checkExact(t, exactCall{"process_stop_all", object{"signal": "SIGKILL", "all": true}, "Stopped 2 processes with SIGKILL.", false})
}

// A command whose client died before its end is listed afterwards, with the id of its output.
func TestCommandsOfDeadClientsAreListed(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	conn, err := r.connect(t.Context(), r.agent.Actor, api.NewID(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, die := context.WithCancel(t.Context())
	r.createFile("go", "")
	in := api.ExecInput{ID: api.NewID(), Command: []string{"sh", "-c", "echo began; touch began; while [ -e go ]; do sleep 0.05; done; echo result"}, CWD: r.home, Actor: r.agent.Actor}
	returned := make(chan error)
	go func() {
		_, err := api.Exec.Call(ctx, conn, in)
		returned <- err
	}()
	wait.File(t, filepath.Join(r.home, "began"))
	die()
	if err := <-returned; err == nil {
		t.Error("the call was answered")
	}
	wait.Poll(t, "that the engine notices", func() (api.Process, bool) {
		p, err := api.ProcessGet.Call(t.Context(), conn, api.IDInput{ID: in.ID})
		return p, err == nil && p.Supervision.Unanswered // it is announced soon
	})
	if err := os.Remove(filepath.Join(r.home, "go")); err != nil {
		t.Fatal(err)
	}
	r.waitForExit(in.ID)
	if list := resultText(r.call("process_list", nil)); !strings.Contains(list, in.ID+"  ") {
		t.Errorf("process_list gives %q", list)
	}
	r.checkExact(t, exactCall{"process_log", object{"id": in.ID, "since": 0}, "began\nresult\n[exit code 0]", false})
}

func TestStoppedProcessNamesWhoStoppedIt(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	for name, by := range map[string]string{"person": "the user", "agent:other/2": "other/2"} {
		owner := ""
		if name != "person" {
			owner = api.NewID()
		}
		conn, err := r.connect(t.Context(), name, owner, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for _, all := range []bool{false, true} {
			id := r.call("process_start", object{"command": "exec sleep 1000"}).Process
			if all {
				_, err = api.ProcessStopAll.Call(t.Context(), conn, api.ProcessStopAllInput{})
			} else {
				_, err = api.ProcessStop.Call(t.Context(), conn, api.ProcessStopInput{ID: id})
			}
			if err != nil {
				t.Fatal(err)
			}
			r.checkExact(t,
				exactCall{"process_log", object{"id": id}, "[nothing new, ended by SIGTERM, stopped by " + by + "]", false},
				exactCall{"process_wait", object{"id": id}, "Met: exit, ended by SIGTERM, stopped by " + by + ".", false})
			if list := resultText(r.call("process_list", nil)); !strings.Contains(list, id+"  sleep") || !strings.Contains(list, "  stopped by "+by+", ended by SIGTERM  started ") {
				t.Errorf("process_list gives %q", list)
			}
		}
	}
}

func TestCallOnStoppedSessionNamesWhoStoppedIt(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	id := r.call("session_start", object{"command": "cat", "name": "cat"}).Process
	if _, err := api.SessionKill.Call(t.Context(), r.userClient(), api.IDInput{ID: id}); err != nil {
		t.Fatal(err)
	}
	const why = "type into cat: it was stopped by the user"
	r.checkExact(t,
		exactCall{"session_exec", object{"id": id, "command": "x"}, why, true},
		exactCall{"session_write", object{"id": id, "text": "x"}, why, true},
		exactCall{"session_read", object{"id": id}, "[nothing new, ended by SIGHUP, stopped by the user]", false})
}

// programName returns the kernel's name of this program.
func programName(t *testing.T) string {
	name, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(name))
}

func TestProcessStartWaitsForLogPortOrExit(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	inUse := fmt.Sprintf(" Port %d is in use by %s (pid %d).", port, programName(t), os.Getpid())
	for _, tc := range []struct {
		command    string
		wait       object
		text, met  string
		nextCursor any
	}{
		{"echo one; echo ready >&2; exec sleep 600", object{"log": "ready"}, "Met: log.\none\nready", "log", 10.0},
		{"echo one; exec sleep 600", object{"log": "o.e", "timeout_ms": 60_000}, "Met: log.\none", "log", 4.0},
		{"exec sleep 600", object{"port": port, "timeout_ms": 1}, "Timed out; it is running." + inUse, "", 0.0},
		{"sleep 0.1; exit 3", object{"port": port}, "It exited before that; exit code 3." + inUse, "", 0.0},
		{"echo broken; exit 3", object{"log": "ready"}, "It keeps exiting: exit code 3, restarts: 1.\nbroken\nbroken", "", 14.0},
		{"exec sleep 600", object{"log": "never", "timeout_ms": 1}, "Timed out; it is running.", "", 0.0},
		{"echo cannot; exit 3", object{"log": "ready", "port": 1}, "It exited before that; exit code 3.\ncannot", "", 7.0},
		{"echo done", object{}, "Met: exit, exit code 0.\ndone", "exit", 5.0},
	} {
		keep := strings.HasPrefix(tc.command, "echo broken")
		text, facts := r.callChecked("process_start", object{"command": tc.command, "wait": tc.wait, "keepAlive": keep})
		p := r.getProcess(facts["id"].(string))
		want := "Started " + p.Name + " (" + p.ID + ").\n" + tc.text
		if met, _ := facts["met"].(string); text != want || met != tc.met || facts["next_cursor"] != tc.nextCursor {
			t.Errorf("%s, wait %v: %q, %v; want %q", tc.command, tc.wait, text, facts, want)
		}
		if text := resultText(r.call("process_log", object{"id": p.ID})); !strings.HasPrefix(text, "[nothing new, ") {
			t.Errorf("%s: given again: %q", tc.command, text)
		}
	}
	r.checkExact(t,
		exactCall{"process_start", object{"command": "true", "wait": object{"log": "("}}, "read pattern \"(\": missing closing )\nhint: it is a regular expression (RE2); escape literal characters with \\", true},
		exactCall{"process_start", object{"command": "true", "wait": object{"port": 70_000}}, "start process: wait.port 70000 must be 1 to 65535", true},
		exactCall{"process_start", object{"command": "true", "wait": object{"timeout_ms": -1}}, "start process: wait.timeout_ms cannot be negative", true},
		exactCall{"process_start", object{"command": "true", "wait": true}, `call process_start: argument "wait" must be of type object, not boolean` + "\nhint: it takes: command, name, cwd, env, keepAlive, sandbox, replace, wait", true},
	)
	if out, err := api.ProcessList.Call(t.Context(), r.agent.Engine, api.ProcessListInput{}); err != nil || len(out.Processes) != 8 {
		t.Errorf("a start with a mistake in wait was made: %d processes, %v", len(out.Processes), err)
	}
}

func TestProcessThatExitsAtOnceIsNotCalledStarted(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	text, facts := r.callChecked("process_start", object{"name": "typo", "command": "nosuchcmd --port 1"})
	if !strings.HasPrefix(text, "typo (") || !strings.Contains(text, ") exited at once, exit code 127.\n") || !strings.Contains(text, "nosuchcmd: ") || facts["exit_code"] != 127.0 {
		t.Errorf("process_start gives %q, %v", text, facts)
	}
	r.callMatching("process_start", object{"name": "web", "command": "exec sleep 1000"}, `^Started web \([0-9a-f]{12}\)\.$`)
}

func TestProcessStartReplacesRunningProcess(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	start := func(replace bool) toolkit.Result {
		return r.call("process_start", object{"name": "web", "command": "exec sleep 1000", "replace": replace})
	}
	first := start(true)
	if second := start(false); !second.Failed {
		t.Errorf("without replace: %s", resultText(second))
	}
	second := start(true)
	if second.Failed || second.Process == first.Process || !r.getProcess(first.Process).State.Ended() || r.getProcess("web").ID != second.Process {
		t.Errorf("with replace: %s", resultText(second))
	}
	r.checkExact(t, exactCall{"process_start", object{"command": "true", "replace": true}, "start process: replace needs a name", true})
}

func TestReplacementIsJudgedBeforeItStopsAnything(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Native)
	session := r.serveClient(nil)
	r.writePolicy(careful)
	if text, failed := r.callAsClient(session, "process_start", object{"name": "web", "command": "sleep 1000", "replace": true}); failed {
		t.Fatal(text)
	}
	text, failed := r.callAsClient(session, "process_start", object{"name": "web", "command": "rm -rf x", "replace": true})
	if !failed || !strings.Contains(text, "nothing is lost here") || r.getProcess("web").State.Ended() {
		t.Errorf("process_start gives %q; web is %s", text, r.getProcess("web").State)
	}
}

func TestProcessWaitTakesSeveralIDs(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Native)
	id := r.call("process_start", object{"name": "slow", "command": "exec sleep 1000"}).Process
	r.checkExact(t, exactCall{"process_wait", object{"ids": []string{"slow", id}, "timeout_ms": 1}, "Timed out; no condition is met.", false},
		exactCall{"process_wait", object{}, "wait for process: which one? give id or ids", true})
	quick := r.call("process_start", object{"name": "quick", "command": "read x < gate; echo built; exit 3"}).Process
	r.callMatching("process_wait", object{"ids": []string{"slow", "quick"}}, `^quick \(`+quick+`\): Met: exit, exit code 3\.$`)
}

func TestStopAllHasAllOnlyInNativeProfile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		profiles []toolkit.Profile
		all      bool
	}{{[]toolkit.Profile{toolkit.Native}, true}, {[]toolkit.Profile{toolkit.Plugin}, false}, {[]toolkit.Profile{toolkit.All}, false}, {[]toolkit.Profile{toolkit.Native, toolkit.Plugin}, false}} {
		found := 0
		for _, one := range selectTools(toolkit.Options{Profiles: c.profiles}) {
			if one.Name != "process_stop_all" {
				continue
			}
			found++
			if got := strings.Contains(string(toolkit.InputSchema(one.In)), `"all"`); got != c.all {
				t.Errorf("%v: it has an argument all: %v", c.profiles, got)
			}
		}
		if found != 1 {
			t.Errorf("%v: %d tools", c.profiles, found)
		}
	}
}
