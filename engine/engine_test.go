package engine

import (
	"errors"
	"strings"
	"testing"

	"tandem/engine/api"
)

func TestSessionRunsShowsAndEndsWithItsStatus(t *testing.T) {
	m := startMachine(t)
	p := m.start("sh", "-c", `echo hello-$((40+2)); read line; echo got $line; exit 7`)
	if p.State != api.StateRunning || p.PID == 0 || p.Name != "sh" || p.Terminal == nil || p.Terminal.Cols != 80 {
		t.Errorf("started as %+v", p)
	}
	m.shows(p.ID, "hello-42")
	m.write(p.ID, "again\r")
	end := m.ended(p.ID)
	if end.State != api.StateExited || end.ExitCode == nil || *end.ExitCode != 7 || end.PID != 0 {
		t.Errorf("ended as %+v", end)
	}
	m.shows(p.ID, "got again")
	out := call(m, api.SessionRead, api.SessionReadInput{ID: p.ID})
	if !strings.Contains(out.Data, "got again\r\n") || out.NextCursor != int64(len(m.logOf(end))) {
		t.Errorf("read %+v", out)
	}
}

func TestProgramsKnowWhatTheyRunIn(t *testing.T) {
	t.Setenv("TMUX", "outer")
	m := startMachine(t)
	p := call(m, api.SessionStart, api.SessionStartInput{
		Command: []string{"sh", "-c", `echo "$TERM $COLORTERM $TERM_PROGRAM $TERM_PROGRAM_VERSION"; echo "$PWD $MINE [$TMUX]"; echo "$TANDEM_SESSION_ID"; stty size`},
		CWD:     "/", Env: map[string]string{"MINE": "yes"}, Cols: 100, Rows: 40,
	})
	m.ended(p.ID)
	for _, want := range []string{"xterm-256color truecolor tandem 1.2.3", "/ yes []", p.ID, "40 100"} {
		m.shows(p.ID, want)
	}
}

func TestWhatCannotBeStartedSaysWhy(t *testing.T) {
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
