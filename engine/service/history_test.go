package service

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/control/supervise"
	"tandem/engine/system/keeper"
	"tandem/tests/wait"
)

func TestHistoryIsSavedAndLoaded(t *testing.T) {
	r := newRig(t)
	file := func(name, text string) string {
		path := filepath.Join(r.work, name)
		writeFile(t, path, text)
		return path
	}
	commands := func() (all []string) {
		for _, c := range call(t, r, api.HistorySearch, api.HistorySearchInput{}).Rows {
			all = append(all, c.Command.Command)
		}
		return all
	}
	for _, c := range []struct {
		in   api.HistoryLoadInput
		n    int
		want string
	}{
		{api.HistoryLoadInput{Path: file("plain", "ls -l\n\n  \nmake\n")}, 2, "make"},
		{api.HistoryLoadInput{Path: file("again", "make\ngo test\n")}, 1, "go test"},
		{api.HistoryLoadInput{Path: file("zsh", ": 1700000000:3;echo ä\\\nb\n"), Format: "zsh"}, 1, "echo ä\nb"},
		{api.HistoryLoadInput{Path: file("latin1", "echo \xe4\n")}, 1, "echo \uFFFD"},
		{api.HistoryLoadInput{Path: file("empty", "")}, 0, ""},
	} {
		if out := call(t, r, api.HistoryLoad, c.in); out.Count != c.n || c.want != "" && !slices.Contains(commands(), c.want) {
			t.Errorf("%s: loaded %d, there are %q", filepath.Base(c.in.Path), out.Count, commands())
		}
	}
	for _, c := range []struct {
		in   api.HistoryLoadInput
		code api.Code
		want string
	}{
		{api.HistoryLoadInput{Path: "history"}, api.CodeInvalid, "the path history is not absolute"},
		{api.HistoryLoadInput{}, api.CodeInvalid, "is not absolute"},
		{api.HistoryLoadInput{Path: file("x", ""), Format: "tcsh\x1b"}, api.CodeInvalid, "must be bash, zsh or fish"},
		{api.HistoryLoadInput{Path: filepath.Join(r.work, "none")}, api.CodeNotFound, "none"},
		{api.HistoryLoadInput{Path: r.work}, api.CodeInvalid, ""},
		{api.HistoryLoadInput{Path: file("nul", "a\x00b")}, api.CodeInvalid, "load history from"},
		{api.HistoryLoadInput{Path: file("database", "SQLite format 3\x00 and no more")}, api.CodeInvalid, "load history from"},
		{api.HistoryLoadInput{Path: file("not text", "a\xff"), Recent: true}, api.CodeInvalid, "it is not UTF-8"},
		{api.HistoryLoadInput{FileScope: api.FileScope{Roots: []string{t.TempDir()}}, Path: file("outside", "x")}, api.CodeForbidden, ""},
	} {
		wantError(t, r, api.HistoryLoad, c.in, c.code, c.want)
	}

	out := filepath.Join(r.work, "saved")
	wantError(t, r, api.HistorySave, api.HistorySaveInput{Path: "saved"}, api.CodeInvalid, "save history: the path saved is not absolute")
	wantError(t, r, api.HistorySave, api.HistorySaveInput{Path: out, Recent: true, IDs: []int64{1}}, api.CodeInvalid, "not from recent commands")
	if saved := call(t, r, api.HistorySave, api.HistorySaveInput{Path: out}); saved.Count != 5 || saved.Replaced {
		t.Errorf("saved %+v", saved)
	}
	wantError(t, r, api.HistorySave, api.HistorySaveInput{Path: out}, api.ReasonExists, "--overwrite replaces it")
	// No user, not even root, may create a file in sysfs.
	wantError(t, r, api.HistorySave, api.HistorySaveInput{Path: "/sys/kernel/saved"}, api.ReasonPermissionDenied, "permission denied")
	if saved := call(t, r, api.HistorySave, api.HistorySaveInput{Path: out, Overwrite: true}); !saved.Replaced {
		t.Errorf("saved %+v", saved)
	}
	info, err := os.Stat(out)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	other := newRig(t)
	if loaded := call(t, other, api.HistoryLoad, api.HistoryLoadInput{Path: out}); loaded.Count != 5 {
		t.Errorf("loaded %d of what was saved", loaded.Count)
	}
}

func TestChosenCommandsAreSavedOldestFirst(t *testing.T) {
	r := newRig(t)
	for _, command := range []string{"one", "two", "three"} {
		call(t, r, api.HistoryAdd, api.HistoryAddInput{Command: command})
	}
	rows := call(t, r, api.HistorySearch, api.HistorySearchInput{}).Rows
	path := filepath.Join(r.work, "chosen")
	if saved := call(t, r, api.HistorySave, api.HistorySaveInput{Path: path, IDs: []int64{rows[0].ID, rows[2].ID}}); saved.Count != 2 {
		t.Errorf("saved %+v", saved)
	}
	if got := readText(t, path); got != "one\nthree\n" {
		t.Errorf("the file has %q", got)
	}
}

func TestRecentCommandsAreListedInOrder(t *testing.T) {
	r := newRig(t)
	if got := call(t, r, api.CommandsList, api.Empty{}).Commands; got == nil || len(got) != 0 {
		t.Errorf("at first %#v", got)
	}
	call(t, r, api.CommandsAdd, api.CommandsInput{Commands: []string{"a", " ", "", "b"}})
	call(t, r, api.CommandsAdd, api.CommandsInput{Commands: []string{"a", "curl https://me:s3cret@host/"}})
	got := call(t, r, api.CommandsList, api.Empty{}).Commands
	if len(got) != 4 || !slices.Equal(got[:3], []string{"a", "b", "a"}) || strings.Contains(got[3], "s3cret") {
		t.Errorf("listed %q", got)
	}
	path := filepath.Join(r.work, "recent")
	if n := call(t, r, api.HistorySave, api.HistorySaveInput{Path: path, Recent: true}).Count; n != 4 {
		t.Errorf("saved %d", n)
	}
	call(t, r, api.CommandsReplace, api.CommandsInput{})
	if n := call(t, r, api.HistoryLoad, api.HistoryLoadInput{Path: path, Recent: true}).Count; n != 4 {
		t.Errorf("loaded %d", n)
	}
	if again := call(t, r, api.CommandsList, api.Empty{}).Commands; !slices.Equal(again, got) {
		t.Errorf("loaded %q", again)
	}
	writeFile(t, path, strings.Repeat("x\n", 20_000))
	if n := call(t, r, api.HistoryLoad, api.HistoryLoadInput{Path: path, Recent: true}).Count; n != 10_000 {
		t.Errorf("kept %d", n)
	}
}

// If a program fails because of an interrupt, the user wanted that, so it counts as stopped.
func TestInterruptedSessionDoesNotCountAsFailed(t *testing.T) {
	code := func(n int) keeper.Exit { return keeper.Exit{Code: &n} }
	for name, c := range map[string]struct {
		interrupted     bool
		exit            keeper.Exit
		stopped, failed bool
	}{
		"exits with 2":                {true, code(2), true, false},
		"exits with 0":                {true, code(0), false, false},
		"exits with 2 by itself":      {false, code(2), false, true},
		"is killed by the interrupt":  {false, keeper.Exit{Signal: "SIGINT"}, true, false},
		"is killed by another signal": {false, keeper.Exit{Signal: "SIGSEGV"}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			now := time.Now()
			if c.interrupted {
				r.executor.interrupt = now
			}
			p := call(t, r, api.SessionStart, api.SessionStartInput{Command: []string{"program"}, CWD: r.work})
			r.control.ReportExit(keeper.Child{ID: p.ID, PID: p.PID, StartTime: 7, BootID: "boot"}, supervise.Ending{Exit: c.exit, At: now.Add(time.Second)})
			call(t, r, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Exit: true})
			rows := call(t, r, api.HistorySearch, api.HistorySearchInput{}).Rows
			failed := call(t, r, api.HistorySearch, api.HistorySearchInput{Failed: true}).Rows
			if len(rows) != 1 || rows[0].Stopped != c.stopped || rows[0].ExitSignal != c.exit.Signal || (len(failed) > 0) != c.failed {
				t.Errorf("%+v, failed %+v", rows, failed)
			}
		})
	}
}

func TestEachRunOfAProcessIsInTheHistory(t *testing.T) {
	r := newRig(t)
	first := r.start(api.ProcessStartInput{Command: []string{"first"}, CWD: r.work})
	p := r.start(api.ProcessStartInput{
		Command: []string{"program"}, CWD: r.work, Restart: &api.Restart{Policy: api.PolicyAlways, DelayMS: 1, FixedDelay: true},
		After: []api.Dependency{{ID: first.ID, Condition: api.ConditionCompleted}},
	})
	running := func(restarts int) api.Process {
		return wait.Poll(t, fmt.Sprintf("run %d", restarts), func() (api.Process, bool) {
			now := call(t, r, api.ProcessGet, api.IDInput{ID: p.ID})
			return now, now.State == api.StateRunning && now.Supervision.Restarts == restarts
		})
	}
	r.exit(first, 0)
	var began []time.Time
	for restarts, code := range []int{3, 3, 0} {
		now := running(restarts)
		began = append(began, now.StartedAt)
		r.exit(now, code)
	}
	began = append(began, running(3).StartedAt)
	call(t, r, api.ProcessRestart, api.ProcessRestartInput{ID: p.ID})
	began = append(began, running(4).StartedAt)
	call(t, r, api.ProcessStop, api.ProcessStopInput{ID: p.ID})

	rows := call(t, r, api.HistorySearch, api.HistorySearchInput{Process: p.ID}).Rows
	slices.Reverse(rows)
	var got []string
	for i, row := range rows {
		how := "stopped"
		if !row.Stopped {
			how = strconv.Itoa(*row.ExitCode)
		}
		got = append(got, how)
		if i < len(began) && !row.StartedAt.Equal(began[i].Truncate(time.Microsecond)) {
			t.Errorf("run %d: %+v, want one that began at %v", i, row, began[i])
		}
	}
	if want := []string{"3", "3", "0", "stopped", "stopped"}; !slices.Equal(got, want) {
		t.Errorf("runs ended with %q, want %q", got, want)
	}
	if failed := call(t, r, api.HistorySearch, api.HistorySearchInput{Failed: true}).Total; failed != 2 {
		t.Errorf("%d failed, want 2", failed)
	}
}
