package terminal

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/engine/session/prompt"
)

const (
	shellPrompt = "\x1b]133;A;aid=n\a$ \x1b]133;B;aid=n\a"
	makeBegins  = "\x1b]633;E;make;n\a\x1b]133;C;aid=n\a"
	makeExits   = "\x1b]133;D;143;aid=n\a"
)

// If a shell ignores the signal of the stop, it sees its command killed by it.
func TestCommandExitingDuringAStopCountsAsStopped(t *testing.T) {
	for _, stopping := range []bool{false, true} {
		l, ran := &memoryLog{}, make(chan prompt.Command, 1)
		s := newMemorySession(t, l, func(o *testOptions) {
			o.Nonce, o.Kind, o.Actor = "n", prompt.Bash, api.Person
			o.Ran = func(c prompt.Command) { ran <- c }
		})
		s.output(l, shellPrompt+makeBegins)
		if stopping {
			s.Stopping()
		}
		s.output(l, makeExits+shellPrompt)
		if c := <-ran; c.Line != "make" || c.Session != "a" || c.Actor != api.Person || c.Stopped != stopping {
			t.Errorf("during a stop %t: %+v", stopping, c)
		}
	}
}

func TestWaitingExecTypesNothingOnceTheKeyboardIsLocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memoryLog{}
		s := newMemorySession(t, l, func(o *testOptions) { o.Nonce, o.Kind = "n", prompt.Bash })
		agent := api.WithCaller(t.Context(), api.Caller{Name: "agent:claude", Owner: "x"})
		failed := make(chan error, 1)
		go func() {
			_, err := s.Shell().Exec(agent, api.SessionExecInput{Command: "ls", TimeoutMS: 5000}, "shell")
			failed <- err
		}()
		time.Sleep(time.Second)
		s.Admit(true, false)
		s.output(l, shellPrompt)
		if err := <-failed; !errors.Is(err, api.CodeLocked) {
			t.Error(err)
		}
	})
}
