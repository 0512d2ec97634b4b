package list

import (
	"testing"
	"time"

	"tandem/engine/api"
)

// longCommand is a duration after which commands are reported.
const longCommand = 10 * time.Second

func waits(waiting string) *api.Process {
	return &api.Process{ID: "a", Kind: api.KindSession, Name: "a", State: api.StateRunning, Terminal: &api.Terminal{Waiting: waiting}}
}

func TestOnlyLongCommandsAreReported(t *testing.T) {
	start := time.Now()
	for after, want := range map[time.Duration]string{3 * time.Second: "", 9 * time.Second: "", 75 * time.Second: "is done after 1m"} {
		var a attention
		if _, text := a.classify(waits("prompt"), waits(""), start, longCommand); text != "" {
			t.Errorf("a starting command is reported: %s", text)
		}
		if _, text := a.classify(waits(""), waits("prompt"), start.Add(after), longCommand); text != want {
			t.Errorf("after %v: %q, want %q", after, text, want)
		}
	}
	var a attention
	a.classify(waits("prompt"), waits(""), start, longCommand)
	if mark, _ := a.classify(waits(""), waits("prompt"), start.Add(3*time.Second), 2*time.Second); mark != "done" {
		t.Errorf("the mark is %q", mark)
	}
	if _, text := (&attention{}).classify(waits(""), waits("prompt"), start, longCommand); text != "" {
		t.Errorf("a command with an unknown start is reported: %s", text)
	}
}

func TestProgramWaitingAfterWorkIsReported(t *testing.T) {
	start := time.Now()
	var a attention
	a.classify(waits("prompt"), waits(""), start, longCommand)
	if _, text := a.classify(waits(""), waits("input"), start.Add(time.Second), longCommand); text != "" {
		t.Errorf("a program in use is reported: %s", text)
	}
	a.classify(waits("input"), waits(""), start.Add(2*time.Second), longCommand)
	if _, text := a.classify(waits(""), waits("input"), start.Add(20*time.Second), longCommand); text != "waits for input" {
		t.Errorf("reported: %q", text)
	}
	if _, text := a.classify(waits("input"), waits("prompt"), start.Add(30*time.Second), longCommand); text != "is done after 30s" {
		t.Errorf("the whole command: %q", text)
	}
}
