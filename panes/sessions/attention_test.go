package sessions

import (
	"testing"
	"time"

	"tandem/engine/api"
)

func waits(waiting string) *api.Process {
	return &api.Process{ID: "a", Kind: api.KindSession, Name: "a", State: api.StateRunning, Terminal: &api.Terminal{Waiting: waiting}}
}

func TestOnlyLongCommandsAreReported(t *testing.T) {
	start := time.Now()
	for after, want := range map[time.Duration]string{3 * time.Second: "", 9 * time.Second: "", 75 * time.Second: "is done after 1m"} {
		var a attention
		if _, text := a.classify(waits("prompt"), waits(""), start, defaultLongCommand); text != "" {
			t.Errorf("a starting command is reported: %s", text)
		}
		if _, text := a.classify(waits(""), waits("prompt"), start.Add(after), defaultLongCommand); text != want {
			t.Errorf("after %v: %q, want %q", after, text, want)
		}
	}
	var a attention
	a.classify(waits("prompt"), waits(""), start, defaultLongCommand)
	if mark, _ := a.classify(waits(""), waits("prompt"), start.Add(3*time.Second), 2*time.Second); mark != "done" {
		t.Errorf("the mark is %q", mark)
	}
	if _, text := (&attention{}).classify(waits(""), waits("prompt"), start, defaultLongCommand); text != "" {
		t.Errorf("a command with an unknown start is reported: %s", text)
	}
}

func TestProgramWaitingAfterWorkIsReported(t *testing.T) {
	start := time.Now()
	var a attention
	a.classify(waits("prompt"), waits(""), start, defaultLongCommand)
	if _, text := a.classify(waits(""), waits("input"), start.Add(time.Second), defaultLongCommand); text != "" {
		t.Errorf("a program in use is reported: %s", text)
	}
	a.classify(waits("input"), waits(""), start.Add(2*time.Second), defaultLongCommand)
	if _, text := a.classify(waits(""), waits("input"), start.Add(20*time.Second), defaultLongCommand); text != "waits for input" {
		t.Errorf("reported: %q", text)
	}
	if _, text := a.classify(waits("input"), waits("prompt"), start.Add(30*time.Second), defaultLongCommand); text != "is done after 30s" {
		t.Errorf("the whole command: %q", text)
	}
}
