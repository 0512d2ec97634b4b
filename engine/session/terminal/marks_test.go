package terminal

import (
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/invariants"
)

func TestMarkIsAnsweredAfterTheProgramsTimelyOutput(t *testing.T) {
	defer invariants.Never("repaint")()
	for _, raw := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l := &memoryLog{}
			s := memorySession(t, l)
			f := view(t, s, api.AttachOptions{Raw: raw})
			<-f.out // the first screen
			time.Sleep(time.Second)
			for n := range uint64(3) {
				f.in <- api.Input{Mark: new(n + 1)}
			}
			time.Sleep(api.EchoTime - time.Millisecond)
			s.output(l, "echo")
			if out := <-f.out; out.Frame == nil && string(out.Bytes) != "echo" {
				t.Fatalf("raw %v: first came %+v", raw, out)
			}
			out := <-f.out
			if out.Mark == nil || out.Mark.N != 3 || out.Mark.Held < api.EchoTime {
				t.Fatalf("raw %v: then came %+v", raw, out)
			}
			select {
			case out := <-f.out:
				t.Errorf("raw %v: and then %+v", raw, out)
			case <-time.After(time.Second):
			}
		})
	}
}

func TestDelayedFrameIsSentBeforeTheMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memoryLog{}
		s := memorySession(t, l)
		f := view(t, s, api.AttachOptions{})
		<-f.out
		time.Sleep(time.Second)
		f.in <- api.Input{Mark: new(uint64(1))}
		s.output(l, "\x1b[?2026hhalf")
		time.Sleep(api.EchoTime + time.Millisecond)
		s.output(l, "\x1b[?2026l and whole")
		for text := ""; ; {
			out := <-f.out
			if out.Mark != nil {
				if text != "half and whole" {
					t.Errorf("at the mark the screen shows %q", text)
				}
				return
			}
			for _, line := range out.Frame.Lines {
				if line.N == 0 {
					text = line.Line.Text()
				}
			}
		}
	})
}
