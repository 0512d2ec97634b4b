package vt_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/screen/vt"
	"tandem/keys"
)

const (
	// killedModes enables the modes of a full-screen program and prints text.
	killedModes = "\x1b[?1049h\x1b[?1003h\x1b[?1006h\x1b[?1004h\x1b[?2004h\x1b[?2031h\x1b[>7u\x1b[>4;2m\x1b[?25l\x1b[?1h\x1b=\x1b[?7l\x1b[4h\x1b[?5h" +
		"\x1b[2;4r\x1b[?6h\x1b[?2026hin full screen"
	promptModes = "\x1b]133;A\a$ \x1b]133;B\a\x1b[?2004h\x1b=\x1b[>5u"
	lineModes   = "vim\x1b[?2004l\x1b>\x1b[<u\r\n" // the line editor's resets before the command
)

func startCommand(events func(vt.Event)) *vt.Terminal {
	t := vt.New(vt.Options{Cols: 20, Rows: 6, Event: events})
	t.Write([]byte(promptModes + lineModes + "\x1b]133;C\a"))
	return t
}

func TestEndOfCommandRestoresModes(t *testing.T) {
	resets := 0
	term := startCommand(func(e vt.Event) {
		if _, ok := e.(vt.ResetEvent); ok {
			resets++
		}
	})
	before := term.Modes()
	term.Write([]byte(killedModes))
	term.Write([]byte("\x1b]133;D;137\a"))
	if diff := cmp.Diff(before, term.Modes()); diff != "" || resets != 1 {
		t.Errorf("%d resets, modes %s", resets, diff)
	}
	if c := term.Cursor(); !c.Visible || c.X != 0 || c.Y != 1 {
		t.Errorf("cursor %+v, want it visible at 0,1", c)
	}
	term.Write([]byte("\x1b[?1049h"))
	if m := term.Modes(); m.Kitty != 0 {
		t.Errorf("the next full-screen program inherits kitty's flags %d", m.Kitty)
	}
}

func TestOnlyEndOfACommandRestoresModes(t *testing.T) {
	for _, mark := range []string{"A", "B", "P;k=s", "E", "C"} {
		term := startCommand(nil)
		term.Write([]byte(killedModes))
		before := term.Modes()
		fmt.Fprintf(term, "\x1b]133;%s\a", mark)
		if diff := cmp.Diff(before, term.Modes()); diff != "" {
			t.Errorf("mark %s: %s", mark, diff)
		}
	}
	term := vt.New(vt.Options{Cols: 20, Rows: 6})
	term.Write([]byte(killedModes))
	before := term.Modes()
	term.Write([]byte("\x1b]133;D\a"))
	if diff := cmp.Diff(before, term.Modes()); diff != "" {
		t.Errorf("mark D without a command: %s", diff)
	}
}

func TestModesAreRecordedPerCommand(t *testing.T) {
	resets := 0
	term := vt.New(vt.Options{Cols: 20, Rows: 6, Event: func(e vt.Event) {
		if _, ok := e.(vt.ResetEvent); ok {
			resets++
		}
	}})
	term.Write([]byte("\x1b[?1000h\x1b]133;C\a\x1b[?1003h\x1b[3 q\x1b]133;D\a"))
	if m := term.Modes(); m.Mouse != keys.MouseClick || resets != 1 {
		t.Errorf("modes %+v, %d resets", m, resets)
	}
	for _, harmless := range []string{"text", "\x1b[31m", "\x1b[5 q", "\x1b[?12l", "\x1b]2;title\a", "\x1b[?1049h\x1b[?1049l"} {
		term.Write([]byte("\x1b]133;C\a" + harmless + "\x1b]133;D\a"))
		if resets != 1 {
			t.Fatalf("%q caused a reset of the modes", harmless)
		}
	}
}

func TestCheckpointKeepsModesOfCommandStart(t *testing.T) {
	term := startCommand(nil)
	term.Write([]byte(killedModes))
	again := vt.New(vt.Options{Cols: 20, Rows: 6})
	again.SetReplies(false)
	again.RestoreCheckpoint(append(term.AppendCheckpoint(nil), "\x1b]633;E;vim;n\a\x1b]133;C;at=5;aid=n\a"...)) // with the state of the shell
	again.SetReplies(true)
	if !again.Modes().Alt || again.Modes().Mouse != keys.MouseMotion {
		t.Fatalf("modes after the checkpoint: %+v", again.Modes())
	}
	again.Write([]byte("\x1b]133;D;137\a"))
	if diff := cmp.Diff(startCommand(nil).Modes(), again.Modes()); diff != "" {
		t.Error(diff)
	}
}

func TestResetModesKeepsBracketedPaste(t *testing.T) {
	term := vt.New(vt.Options{Cols: 20, Rows: 6})
	want := term.Modes()
	want.BracketedPaste = true
	term.Write([]byte(killedModes + "\x0e\x1b(0"))
	term.ResetModes()
	if diff := cmp.Diff(want, term.Modes()); diff != "" {
		t.Error(diff)
	}
	term.Write([]byte("\x1b[Hq"))
	if got := term.Lines(0, 1)[0].Line.Runs[0].Text; got[:1] != "q" {
		t.Errorf("printed %q after the reset, want q", got)
	}
}
