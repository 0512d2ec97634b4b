package terminal

import (
	"strings"
	"testing"
	"testing/synctest"

	"tandem/engine/api"
	"tandem/engine/base/invariants"
	"tandem/engine/screen/vt"
	"tandem/engine/session/prompt"
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

func TestNewProgramStartsBelowTheOldScreenInPlainModes(t *testing.T) {
	const modes = "\x1b[?2004h\x1b[?1h\x1b[2;3r\x1b[4h\x1b[31m"
	for name, c := range map[string]struct{ before, want string }{
		"full-screen program":  {"one\r\ntwo\r\n$ vim" + "\x1b7" + leftOn + modes + "\x1b[HFILE", "one|two|$ vim|new"},
		"program on main":      {"one\r\n$ claude\r\ninput> \r\nstatus\x1b[3;8H" + modes, "one|$ claude|input>|status|new"},
		"full screen of lines": {"1\r\n2\r\n3\r\n4\r\n5$ ", "2|3|4|5$|new"},
		"unfinished sequence":  {"one\r\n\x1b]2;title", "one|new"},
		"blank screen":         {"one\x1b[2J" + modes, "new"},
		"no output":            {"", "new"},
	} {
		l := &memoryLog{}
		l.add(c.before)
		s := newMemorySession(t, l, func(o *testOptions) { o.New, o.Below = true, true })
		s.output(l, "new")
		for _, of := range []*Session{s, memorySession(t, l)} { // live, and replayed by another engine
			var got api.Screen
			of.onScreen(t.Context(), func(term Emulator) {
				of.screen.catchUp()
				got = ScreenOf(term, false, 0)
			})
			if text := strings.TrimRight(strings.Join(got.Lines, "|"), "|"); text != c.want || got.AltScreen {
				t.Errorf("%s: %q", name, text)
			}
			if m := of.Modes(); m != (vt.Modes{AlternateScroll: m.AlternateScroll}) {
				t.Errorf("%s: modes %+v", name, m)
			}
		}
		if !strings.HasPrefix(string(l.text), c.before) {
			t.Errorf("%s: the old output has changed", name)
		}
	}
}

func TestNewProgramForgetsMarksOfTheEarlierOne(t *testing.T) {
	l := &memoryLog{}
	l.add("\x1b]133;A;aid=n\a$ \x1b]133;B;aid=n\a")
	for fresh, want := range map[bool]prompt.Need{true: prompt.NeedNothing, false: prompt.NeedPrompt} {
		s := newMemorySession(t, l, func(o *testOptions) { o.Nonce, o.New = "n", fresh })
		if got := s.shell.Need(); got != want {
			t.Errorf("a new program: %v, needs %q", fresh, got)
		}
	}
}
