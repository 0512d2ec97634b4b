package engine

import (
	"bytes"
	"errors"
	"testing"

	"tandem/engine/api"
)

func TestAProcessIsReadyByALineOfEitherStream(t *testing.T) {
	m := startMachine(t)
	for _, script := range []string{"echo up; exec sleep 1000", "echo up >&2; exec sleep 1000"} {
		p := m.run(api.ProcessStartInput{Command: sh(script), SplitLog: true, Ready: &api.Readiness{Log: "^up$"}})
		out := call(m, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Ready: true})
		if out.Met != "ready" {
			t.Errorf("%s: %+v", script, out)
		}
		if out := call(m, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Log: "up"}); out.Met != "log" || out.Line != "up" {
			t.Errorf("%s: %+v", script, out)
		}
	}
}

func TestALineOfAnEarlierRunMakesNothingReady(t *testing.T) {
	m := startMachine(t)
	flag := m.dir + "/flag"
	script := `if [ -e "$0" ]; then exec sleep 1000; fi; : > "$0"; echo up >&2; exec sleep 1000`
	p := m.run(api.ProcessStartInput{Command: append(sh(script), flag), SplitLog: true, Ready: &api.Readiness{Log: "^up$", TimeoutMS: 300}})
	call(m, api.ProcessWait, api.ProcessWaitInput{ID: p.ID, Ready: true})
	call(m, api.ProcessRestart, api.IDInput{ID: p.ID})
	if end := m.reaches(p.ID, api.StateFailed); end.Error == "" {
		t.Errorf("%+v", end)
	}
}

func TestAnOffsetBelongsToOneStream(t *testing.T) {
	m := startMachine(t)
	p := m.run(api.ProcessStartInput{Command: sh("echo a >&2; echo b >&2; exec sleep 1000"), SplitLog: true})
	since := int64(2)
	in := api.ProcessWaitInput{ID: p.ID, Log: "[ab]", Since: &since}
	if _, err := api.ProcessWait.Call(t.Context(), m.client, in); !errors.Is(err, api.CodeInvalid) {
		t.Errorf("answered %v", err)
	}
	in.Stream = "stderr"
	if out := call(m, api.ProcessWait, in); out.Line != "b" {
		t.Errorf("%+v", out)
	}
}

func TestACommandsOutputIsGivenByteForByte(t *testing.T) {
	m := startMachine(t)
	out := call(m, api.Exec, api.ExecInput{Command: sh(`printf 'a\377\000b'; printf 'text' >&2`), Exact: true})
	stdout, stderr, err := out.Output()
	if !bytes.Equal(stdout, []byte("a\xff\x00b")) || string(stderr) != "text" || err != nil {
		t.Errorf("%+v: %q, %q, %v", out, stdout, stderr, err)
	}
}

func TestATerminalsLogIsReadOnceItIsOpen(t *testing.T) {
	r := newLogRig(t)
	r.write("text\n")
	opened := make(chan struct{})
	end := int64(0)
	r.source.end, r.source.opened = func() int64 { return end }, opened
	go func() {
		end = 5
		close(opened)
	}()
	if out := r.read(api.ProcessLogInput{}); out.Data != "text\n" || out.End != 5 {
		t.Errorf("%+v", out)
	}
}
