package engine

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
)

// runListen listens on a free port and prints it.
func runListen() int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 1
	}
	fmt.Println("port", l.Addr().(*net.TCPAddr).Port)
	time.Sleep(time.Hour)
	return 0
}

func TestWaitForPortCountsOnlyTheProcessAndItsChildren(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().(*net.TCPAddr).Port
	listen := os.Args[0] + " listen"
	server := m.startProcess(api.ProcessStartInput{Command: sh(listen + " & wait")})
	line := call(m, api.ProcessWait, api.ProcessWaitInput{ID: server.ID, Log: "^port"}).Line
	served, err := strconv.Atoi(strings.TrimPrefix(line, "port "))
	if err != nil {
		t.Fatal(err)
	}
	idle, session := m.startProcess(api.ProcessStartInput{Command: sh("exec sleep 1000")}), m.start("sh", "-c", listen)
	screen := m.sessionWait(api.SessionWaitInput{ID: session.ID, Output: "port [0-9]+\n", Since: new(int64)}).Text
	shown, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(screen, "port ")))
	if err != nil {
		t.Fatal(err)
	}
	stranger := fmt.Sprintf("(pid %d)", os.Getpid())
	for _, tc := range []struct {
		id          string
		port        int
		met, holder string
	}{
		{server.ID, served, "port", ""},
		{session.ID, shown, "port", ""},
		{idle.ID, taken, "", stranger},
		{server.ID, taken, "", stranger},
		{session.ID, taken, "", stranger},
		{idle.ID, served, "", server.Name + " (" + server.ID + ")"},
		{idle.ID, shown, "", session.Name + " (" + session.ID + ")"},
		{idle.ID, 1, "", ""},
	} {
		in := api.ProcessWaitInput{ID: tc.id, Port: tc.port}
		if tc.met == "" {
			in.TimeoutMS = 1
		}
		out := call(m, api.ProcessWait, in)
		if out.Met != tc.met || !strings.HasSuffix(out.PortHolder, tc.holder) || (tc.holder == "") != (out.PortHolder == "") {
			t.Errorf("%+v: met %q, held by %q", tc, out.Met, out.PortHolder)
		}
		if tc.id == session.ID {
			w := m.sessionWait(api.SessionWaitInput{ID: tc.id, Port: tc.port, TimeoutMS: in.TimeoutMS})
			if w.Met != tc.met || !strings.HasSuffix(w.PortHolder, tc.holder) {
				t.Errorf("%+v: the session's wait met %q, held by %q", tc, w.Met, w.PortHolder)
			}
		}
	}
}

func TestWaitForLogMatchesOnlyThePresentRun(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	dir := t.TempDir()
	script := `if [ -e "$0" ]; then echo again >&2; exec sleep 1000; fi; : > "$0"; echo READY >&2; exec sleep 1000`
	for _, split := range []bool{false, true} {
		p := m.startProcess(api.ProcessStartInput{Command: append(sh(script), fmt.Sprintf("%s/flag%v", dir, split)), SplitLog: split})
		call(m, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Log: "READY"})
		call(m, api.ProcessRestart, api.ProcessRestartInput{ID: p.ID})
		call(m, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Log: "again"})
		if out := call(m, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Log: "READY", TimeoutMS: 1}); out.Met != "" {
			t.Errorf("split %v: a line of the run before counts: %+v", split, out)
		}
		since := int64(0)
		in := api.ProcessWaitInput{ID: p.ID, Log: "READY", Since: &since}
		if split {
			in.SinceStderr = &since
		}
		if out := call(m, api.ProcessWait, in); out.Met != "log" {
			t.Errorf("split %v: from the beginning: %+v", split, out)
		}
	}
}
