package attach

import (
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/screen/passthrough"
	"tandem/engine/screen/styled"
)

// passTold is a script that sends received properties and input to told.
func passTold(text string, told chan<- api.Input) script {
	return func(_ testing.TB, v *server.Viewer) error {
		if err := sendText(v, text); err != nil {
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

func TestSessionLearnsPropertiesOfTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("TMUX", "")
	told := make(chan api.Input, 16)
	p := newPerson(t)
	p.watchScreen()
	p.attach(newEngineStub(t, passTold("ready>", told)), nil)
	p.waitOutput("\x1b]11;?\x1b\\")
	p.waitOutput("ready>")
	p.sendText("\x1b[?1016;2$y\x1b[6;18;9t\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b]4;1;rgb:cdcd/0000/0000\a\x1b[?62;4c")
	in := <-told
	if d := in.Display; d == nil || d.Colors.Background != white || d.Colors.Colors[1] != styled.ColorRGB|0xCD0000 || d.CellWidth != 9 || d.CellHeight != 18 || !d.Pixels {
		t.Fatalf("told %+v", in)
	}
	p.sendText("\x1b[O") // the terminal loses focus
	if in := <-told; in.Focus == nil || *in.Focus {
		t.Fatalf("told %+v", in)
	}
	asked := strings.Count(p.screenText(), passthrough.AskColors)
	p.sendText("\x1b[I") // it regains focus, with another theme
	if in := <-told; in.Focus == nil || !*in.Focus {
		t.Fatalf("told %+v", in)
	}
	for strings.Count(p.screenText(), passthrough.AskColors) == asked {
		<-p.more
	}
	p.sendText("\x1b]11;rgb:0/0/0\x1b\\\x1b[?62;4c")
	if in := <-told; in.Display == nil || in.Display.Colors.Background != styled.ColorRGB {
		t.Fatalf("told %+v", in)
	}
	p.sendText("\x02d")
	p.waitExit()
	if !strings.Contains(p.screenText(), "\x1b[?1004l") {
		t.Error("the terminal goes on to tell of the focus")
	}
}

func TestTerminalReportingColourChangesIsNotPolled(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	told := make(chan api.Input, 16)
	p := newPerson(t)
	p.watchScreen()
	p.attach(newEngineStub(t, passTold("ready>", told)), nil)
	p.waitOutput("ready>")
	p.sendText("\x1b[?997;1n\x1b]11;rgb:0/0/0\x1b\\\x1b[?62c")
	if in := <-told; in.Display == nil {
		t.Fatalf("told %+v", in)
	}
	asked := strings.Count(p.screenText(), passthrough.AskColors)
	p.sendText("\x1b[I")
	<-told
	p.sendText("\x1b[?997;2n")
	for strings.Count(p.screenText(), passthrough.AskColors) == asked {
		<-p.more
	}
	p.sendText("\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62c")
	if in := <-told; in.Display == nil || in.Display.Colors.Background != white {
		t.Fatalf("told %+v", in)
	}
	if n := strings.Count(p.screenText(), passthrough.AskColors); n != asked+1 {
		t.Errorf("it was asked %d times", n)
	}
	p.sendText("\x02d")
	p.waitExit()
}

func TestMouseOfTerminalWithoutPixelsGoesToEngine(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	told := make(chan api.Input, 16)
	p := newPerson(t)
	p.watchScreen()
	pixels := "\x1b[?1002h\x1b[?1016h"
	p.attach(newEngineStub(t, passTold("ready>"+pixels, told), passTold("again>"+pixels, told)), nil)
	p.waitOutput("ready>")
	p.sendText("\x1b[?1016;0$y\x1b[?62c") // the session is repainted, in a mode the terminal supports
	p.waitOutput("again>\x1b[?1002h\x1b[?1006h")
	p.sendText("\x1b[<0;3;4M")
	for {
		if in := <-told; in.Mouse != nil {
			if in.Mouse.X != 2 || in.Mouse.Y != 3 {
				t.Errorf("told %+v", in.Mouse)
			}
			break
		}
	}
	p.sendText("\x02d")
	p.waitExit()
}
