package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"tandem/engine/api"

	"github.com/google/go-cmp/cmp"
	"tandem/tests/wait"
)

func TestSessionShowsOutputAndReportsItsExitStatus(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	p := m.start("sh", "-c", `echo hello-$((40+2)); read line; echo got $line; exit 7`)
	if p.State != api.StateRunning || p.PID == 0 || !strings.HasPrefix(p.Name, "echo") || p.Terminal == nil || p.Terminal.Cols != 80 {
		t.Errorf("started as %+v", p)
	}
	m.awaitScreen(p.ID, "hello-42")
	m.write(p.ID, "again\r")
	end := m.awaitEnd(p.ID)
	if end.State != api.StateExited || end.ExitCode == nil || *end.ExitCode != 7 || end.PID != 0 {
		t.Errorf("ended as %+v", end)
	}
	m.awaitScreen(p.ID, "got again")
	out := call(m, api.SessionRead, api.SessionReadInput{ID: p.ID})
	if !strings.Contains(out.Data, "got again\r\n") || out.NextCursor != int64(len(m.logOf(end))) {
		t.Errorf("read %+v", out)
	}
}

func TestSessionsEnvironmentDescribesTheTerminal(t *testing.T) {
	t.Setenv("TMUX", "outer")
	m := startMachine(t)
	p := call(m, api.SessionStart, api.SessionStartInput{
		Command: []string{"sh", "-c", `echo "$TERM $COLORTERM $TERM_PROGRAM $TERM_PROGRAM_VERSION"; echo "$PWD $MINE [$TMUX]"; echo "$TANDEM_SESSION_ID"; stty size`},
		CWD:     "/", Env: map[string]string{"MINE": "yes"}, Cols: 100, Rows: 40,
	})
	m.awaitEnd(p.ID)
	for _, want := range []string{"xterm-256color truecolor tandem 1.2.3", "/ yes []", p.ID, "40 100"} {
		m.awaitScreen(p.ID, want)
	}
}

func TestFailedStartReportsTheReason(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	for _, in := range []api.SessionStartInput{
		{Command: []string{"no-such-program"}},
		{Command: []string{""}},
		{CWD: "relative"},
		{CWD: "/no/such/folder"},
		{Name: "\x1b[2J"},
		{Cols: 5000},
		{Env: map[string]string{"A=B": "c"}},
		{Actor: "\n"},
	} {
		if _, err := api.SessionStart.Call(t.Context(), m.client, in); !errors.Is(err, api.CodeInvalid) {
			t.Errorf("start of %+v: %v", in, err)
		}
	}
	if all := call(m, api.SessionList, api.Empty{}); len(all.Sessions) != 0 {
		t.Errorf("left %+v", all.Sessions)
	}
}

func TestSessionHasTheIDChosenByItsClient(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	id := api.NewID()
	in := api.SessionStartInput{Command: []string{"cat"}, ID: id}
	if p := call(m, api.SessionStart, in); p.ID != id {
		t.Errorf("started %s", p.ID)
	}
	other := in
	other.Command = []string{"sleep", "1000"}
	if _, err := api.SessionStart.Call(t.Context(), m.client, other); !errors.Is(err, api.CodeConflict) {
		t.Errorf("the same id again: %v", err)
	}
	for _, bad := range []string{"mine", "../../../../a", "0123456789AB", "0123456789abcd"} {
		in.ID = bad
		if _, err := api.SessionStart.Call(t.Context(), m.client, in); !errors.Is(err, api.CodeInvalid) {
			t.Errorf("id %q: %v", bad, err)
		}
	}
	wait.Kill(m, m.info().EnginePID)
	if p := m.get(id); p.State != api.StateRunning {
		t.Errorf("after a crash of the engine it is %s", p.State)
	}
}

func TestWatchReportsAllEventsOfASession(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	first := m.start("cat")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var seen []string
	for e, err := range m.client.Watch(ctx) {
		if err != nil {
			t.Fatal(err, seen)
		}
		switch {
		case e.Type == api.EventSnapshot:
			seen = append(seen, fmt.Sprintf("%d running", e.Info.Running))
			p := call(m, api.SessionStart, api.SessionStartInput{
				Command: []string{"sh", "-c", `read x; printf '\033]2;a title\007'; read x`}, Name: "second",
			})
			m.write(p.ID, "\r")
		case e.Type == api.EventProcess && e.Process.ID != first.ID:
			note := e.Process.Name + " " + string(e.Process.State) + " " + e.Process.Terminal.Title
			if note == seen[len(seen)-1] {
				continue // another field changed
			}
			seen = append(seen, note)
			if note == "second running a title" {
				call(m, api.SessionRename, api.SessionRenameInput{ID: "second", Name: "other"})
				call(m, api.SessionKill, api.IDInput{ID: "other"})
				call(m, api.ProcessRemove, api.IDInput{ID: e.Process.ID})
			}
		case e.Type == api.EventRemoved:
			seen = append(seen, "removed")
		}
		if e.Type == api.EventRemoved {
			break
		}
	}
	want := []string{"1 running", "second running ", "second running a title", "other running a title",
		"other stopping a title", "other stopped a title", "removed"}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
}

func TestSessionsAreFoundByNameAfterARename(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	named := call(m, api.SessionStart, api.SessionStartInput{Command: []string{"cat"}, Name: "mine"})
	if _, err := api.SessionStart.Call(t.Context(), m.client, api.SessionStartInput{Name: "mine"}); !errors.Is(err, api.CodeConflict) {
		t.Errorf("second one of the same name: %v", err)
	}
	if p := m.start("cat"); p.Name != "cat" {
		t.Errorf("named %q", p.Name)
	}
	if p := m.start("cat"); p.Name != "cat-2" {
		t.Errorf("named %q", p.Name)
	}
	if p := m.get("mine"); p.ID != named.ID {
		t.Errorf("found %+v", p)
	}
	call(m, api.SessionRename, api.SessionRenameInput{ID: named.ID[:8], Name: "yours"})
	wait.Kill(m, m.info().EnginePID)
	if p := m.get("yours"); p.ID != named.ID {
		t.Errorf("found %+v", p)
	}
	if _, err := api.ProcessRemove.Call(t.Context(), m.client, api.IDInput{ID: "yours"}); !errors.Is(err, api.CodeConflict) {
		t.Errorf("removal of a live one: %v", err)
	}
}
