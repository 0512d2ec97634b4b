package terminal

import (
	"strings"
	"testing"
	"testing/synctest"

	"tandem/engine/api"
	"tandem/engine/invariants"
	"tandem/engine/vt"
	"tandem/keys"
)

// leftOn enables the modes that a killed full-screen program leaves on.
const leftOn = "\x1b[?1049h\x1b[?1003h\x1b[?1006h\x1b[?1004h\x1b[>7u\x1b[?25l"

// resetSession returns a session with a full-screen program, and a viewer that shows it.
func resetSession(t *testing.T) (s *Session, l *memoryLog, raw *fakeStream) {
	t.Cleanup(invariants.Never("repaint")) // the tests expect exact output
	l = &memoryLog{}
	s = memorySession(t, l)
	raw = view(t, s, api.AttachOptions{Raw: true})
	<-raw.out
	s.output(l, "$ top\r\n\x1b]133;C\a"+leftOn)
	for out := range raw.out {
		if strings.HasSuffix(string(out.Bytes), "\x1b[?25l") {
			break
		}
	}
	return s, l, raw
}

// modesAfter returns the modes of a user's terminal in full screen after the output sent to raw.
func modesAfter(raw *fakeStream) vt.Modes {
	term := vt.New(vt.Options{Cols: 80, Rows: 24})
	term.Write([]byte(leftOn))
	for {
		synctest.Wait()
		select {
		case out := <-raw.out:
			term.Write(out.Bytes)
		default:
			return term.Modes()
		}
	}
}

func checkPlain(t *testing.T, s *Session, raw *fakeStream) {
	t.Helper()
	for where, m := range map[string]vt.Modes{"user's terminal": modesAfter(raw), "session": s.Modes()} {
		if m.Alt || m.FocusReports || m.Mouse != keys.MouseOff || m.Kitty != 0 {
			t.Errorf("modes of the %s after the reset: %+v", where, m)
		}
	}
}

func TestKilledProgramsModesAreResetInTheUsersTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l, raw := resetSession(t)
		s.output(l, "\x1b]133;D;137\a$ ")
		checkPlain(t, s, raw)
	})
}

func TestResetRequestResetsTheUsersTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, raw := resetSession(t)
		raw.in <- api.Input{Reset: true}
		checkPlain(t, s, raw)
	})
}

func TestReadOnlyViewerCannotResetTheTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := resetSession(t)
		reader := view(t, s, api.AttachOptions{Raw: true, ReadOnly: true})
		reader.in <- api.Input{Reset: true}
		synctest.Wait()
		if !s.Modes().Alt {
			t.Error("a read-only viewer reset the terminal")
		}
	})
}
