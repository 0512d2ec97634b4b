package terminal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/styled"
	"tandem/persist/store"
)

// picturesOf are what of pictures the lines on the screen show.
func picturesOf(t *testing.T, s *Session) (lines [][]styled.Strip) {
	t.Helper()
	err := s.onScreen(t.Context(), func(term Emulator) {
		s.screen.catchUp()
		_, first, end := term.Bounds()
		for _, l := range term.Lines(first, int(end-first)) {
			lines = append(lines, l.Line.Pictures)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestPicturesComeBackFromTheLogAndFromACheckpoint(t *testing.T) {
	for name, size := range map[string]int64{"log": 1000, "checkpoint": 2*checkpointGap + replayLeast} {
		l := &memoryLog{}
		l.AppendResize("a", store.Resize{Cols: 20, Rows: 5})
		s := memorySession(t, l)
		s.output(l, "\x1bPq\"1;1;30;40#1!30~\x1b\\\x1b[4;1H\x1b_Ga=T,i=1,p=1,f=24,s=1,v=1,c=5,r=1;AAAA\x1b\\")
		for i := 0; l.End() < size; i++ {
			s.output(l, fmt.Sprintf("\x1b[5;1Hframe %d %s", i, strings.Repeat("\x1b[m", 1000)))
			if i%100 == 0 {
				picturesOf(t, s)
			}
		}
		want := picturesOf(t, s)
		if len(want[0]) != 1 || len(want[1]) != 1 || len(want[3]) != 1 {
			t.Fatalf("%s: the screen shows %v", name, want)
		}
		s.onScreen(t.Context(), func(Emulator) { s.screen.saves.Wait() })
		again := memorySession(t, l)
		if diff := cmp.Diff(want, picturesOf(t, again)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if at := again.screen.saved; (at > 0) != (name == "checkpoint") {
			t.Errorf("%s: the replay started at %d", name, at)
		}
	}
}

func TestAPictureIsNeverCutInTheMiddle(t *testing.T) {
	l := &memoryLog{}
	s := memorySession(t, l)
	begun := "text\x1bPq\"1;1;20;20" + strings.Repeat("#1!2~$", 10<<10)
	for _, c := range []struct {
		more string
		want int64
	}{{begun, 4}, {"\x1b", 4}, {"\\", int64(len(begun)) + 2}} {
		s.output(l, c.more)
		picturesOf(t, s)
		var got int64
		s.onScreen(t.Context(), func(Emulator) { got = s.screen.boundary() })
		if got != c.want {
			t.Errorf("after %d bytes output is cut at %d, want %d", l.End(), got, c.want)
		}
	}
}
