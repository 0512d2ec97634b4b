package attach

import (
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/passthrough"
	"tandem/engine/styled"
)

// tells is an engine that passes on what it is told beside what is typed.
func tells(text string, told chan<- api.Input) script {
	return func(_ testing.TB, v *server.Viewer) error {
		if err := say(v, text); err != nil {
			return err
		}
		for {
			in, err := v.Receive()
			if err != nil {
				return err
			}
			if in.Lines != nil {
				err = v.Send(api.Output{Lines: []api.NumberedLine{}})
			}
			if err != nil {
				return err
			}
			if in.Resize == nil && in.Lines == nil {
				told <- in
			}
		}
	}
}

const white = styled.ColorRGB | 0xFFFFFF

func TestTheSessionIsToldWhatTheTerminalIsLike(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("TMUX", "")
	told := make(chan api.Input, 16)
	p := newPerson(t)
	p.watch()
	p.attach(newEngineStub(t, tells("ready>", told)), nil)
	p.sees("\x1b]11;?\x1b\\")
	p.sees("ready>")
	p.types("\x1b[?1016;2$y\x1b[6;18;9t\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b]4;1;rgb:cdcd/0000/0000\a\x1b[?62;4c")
	in := <-told
	if d := in.Display; d == nil || d.Colors.Background != white || d.Colors.Colors[1] != styled.ColorRGB|0xCD0000 || d.CellWidth != 9 || d.CellHeight != 18 || !d.Pixels {
		t.Fatalf("told %+v", in)
	}
	p.types("\x1b[O") // no window has the keyboard for a while
	if in := <-told; in.Focus == nil || *in.Focus {
		t.Fatalf("told %+v", in)
	}
	asked := strings.Count(p.screen(), passthrough.AskColors)
	p.types("\x1b[I") // then it has, and another theme
	if in := <-told; in.Focus == nil || !*in.Focus {
		t.Fatalf("told %+v", in)
	}
	for strings.Count(p.screen(), passthrough.AskColors) == asked {
		<-p.more
	}
	p.types("\x1b]11;rgb:0/0/0\x1b\\\x1b[?62;4c")
	if in := <-told; in.Display == nil || in.Display.Colors.Background != styled.ColorRGB {
		t.Fatalf("told %+v", in)
	}
	p.types("\x02d")
	o := p.leaves()
	if d, _ := o.Told.Display(); d.Colors.Background != styled.ColorRGB {
		t.Errorf("left with %+v", d)
	}
	if !strings.Contains(p.screen(), "\x1b[?1004l") {
		t.Error("the terminal goes on to tell of the focus")
	}
}

func TestATerminalThatTellsOfItsColoursIsAskedWhenTheyChangeAlone(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	told := make(chan api.Input, 16)
	p := newPerson(t)
	p.watch()
	p.attach(newEngineStub(t, tells("ready>", told)), nil)
	p.sees("ready>")
	p.types("\x1b[?997;1n\x1b]11;rgb:0/0/0\x1b\\\x1b[?62c")
	if in := <-told; in.Display == nil {
		t.Fatalf("told %+v", in)
	}
	asked := strings.Count(p.screen(), passthrough.AskColors)
	p.types("\x1b[I")
	<-told
	p.types("\x1b[?997;2n")
	for strings.Count(p.screen(), passthrough.AskColors) == asked {
		<-p.more
	}
	p.types("\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62c")
	if in := <-told; in.Display == nil || in.Display.Colors.Background != white {
		t.Fatalf("told %+v", in)
	}
	if n := strings.Count(p.screen(), passthrough.AskColors); n != asked+1 {
		t.Errorf("it was asked %d times", n)
	}
	p.types("\x02d")
	p.leaves()
}

func TestTheMouseOfATerminalWithoutPixelsGoesToTheEngine(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	told := make(chan api.Input, 16)
	p := newPerson(t)
	p.watch()
	pixels := "\x1b[?1002h\x1b[?1016h"
	p.attach(newEngineStub(t, tells("ready>"+pixels, told), tells("again>"+pixels, told)), nil)
	p.sees("ready>")
	p.types("\x1b[?1016;0$y\x1b[?62c") // the session is repainted, with a mode that the terminal knows
	p.sees("again>\x1b[?1002h\x1b[?1006h")
	p.types("\x1b[<0;3;4M")
	for {
		if in := <-told; in.Mouse != nil {
			if in.Mouse.X != 2 || in.Mouse.Y != 3 {
				t.Errorf("told %+v", in.Mouse)
			}
			break
		}
	}
	p.types("\x02d")
	p.leaves()
}
