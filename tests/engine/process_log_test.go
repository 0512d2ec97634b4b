package engine

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/record/logs"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

func TestLogReportsTheTimesOfItsLines(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	began := time.Now()
	flag := filepath.Join(t.TempDir(), "flag")
	p := m.startProcess(api.ProcessStartInput{Command: append(sh(`echo one; while [ ! -e "$0" ]; do sleep 0.01; done; echo two; exec sleep 1000`), flag)})
	m.awaitOutput(p, "one")
	times := func(lines int) (known []api.LogTime) { // output can be read before its time is recorded
		m.Helper()
		m.eventually("the times of lines", func() bool {
			known = call(m, api.ProcessLog, api.ProcessLogInput{ID: p.ID, Times: true}).Times
			return len(known) >= lines
		})
		return known
	}
	first := times(1)
	if len(first) != 1 || first[0].Offset != 0 || first[0].At.Before(began.Add(-time.Second)) || first[0].At.After(time.Now()) {
		t.Fatalf("%+v", first)
	}
	m.eventually("some time later", func() bool { return time.Since(first[0].At) > 2*logs.StampGap })
	if err := os.WriteFile(flag, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m.awaitOutput(p, "two")
	both := times(2)
	if len(both) != 2 || both[0] != first[0] || both[1].Offset != 4 || both[1].At.Sub(first[0].At) < logs.StampGap {
		t.Errorf("%+v after %+v", both, first)
	}
	since := int64(5)
	if out := call(m, api.ProcessLog, api.ProcessLogInput{ID: p.ID, Times: true, Since: &since}); len(out.Times) != 1 || out.Times[0].Offset != 4 {
		t.Errorf("%+v", out)
	}
}

func TestSplitLogsAreReadInWriteOrder(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := sharedMachine(t)
	dir := t.TempDir()
	p := m.startProcess(api.ProcessStartInput{SplitLog: true, Command: append(sh(`step() { while [ ! -e "$0.$1" ]; do sleep 0.01; done; }
		step 1; echo one; step 2; echo two >&2; step 3; echo three; step 4; echo four >&2; exec sleep 1000`), filepath.Join(dir, "flag"))})
	var text string
	for i, word := range []string{"one\n", "two\n", "three\n", "four\n"} {
		if err := os.WriteFile(filepath.Join(dir, "flag."+string(rune('1'+i))), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		text += word
		var last api.LogPart
		m.eventually(word, func() bool {
			out := call(m, api.ProcessLog, api.ProcessLogInput{ID: p.ID, Stream: "both"})
			if out.Data == "" || len(out.Data) < len(text) {
				return false
			}
			if out.Data != text {
				t.Fatalf("%q, want %q", out.Data, text)
			}
			last = out.Parts[len(out.Parts)-1]
			return last.At != nil // output can be read before its time is recorded
		})
		m.eventually("some time later", func() bool { return time.Since(*last.At) > 2*logs.StampGap })
	}
}

// The times of lines are lost with the engine, their positions are not.
func TestCursorOfSeveralLogsSurvivesEngineRestarts(t *testing.T) {
	needs.FullRun(t)
	m := startMachine(t)
	in, want := api.ProcessLogsInput{Lines: 7, WaitMS: 20_000}, map[string]string{}
	for _, name := range []string{"one", "two"} {
		p := m.startProcess(api.ProcessStartInput{SplitLog: name == "two", Command: append(sh(`i=0; while [ $i -lt 50 ]; do echo "$0 $i"; echo "$0 error $i" >&2; i=$((i+1)); done`), name)})
		in.IDs = append(in.IDs, p.ID)
		for i := range 50 {
			want[name] += fmt.Sprintln(name, i)
			want[name+" error"] += fmt.Sprintln(name, "error", i)
		}
	}
	got := map[string]string{}
	for page, ended := 0, false; !ended; page++ {
		if page%10 == 5 {
			wait.Kill(m, m.info().EnginePID)
		}
		out := call(m, api.ProcessLogs, in)
		for line := range strings.Lines(out.Data) {
			key := line[:strings.LastIndexByte(line, ' ')]
			got[key] += line
		}
		in.IDs, in.Cursor, ended = nil, nil, true
		for _, log := range out.Logs {
			in.Cursor = append(in.Cursor, log.Cursor())
			ended = ended && log.Ended
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
