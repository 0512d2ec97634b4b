package attach

import (
	"io"
	"strings"
	"testing"

	"tandem/engine/api/server"

	"tandem/engine/api"
)

// A picture of one cell, as programs print it.
const (
	aSixel = "\x1bP0;1q\"1;1;10;6#1!10~\x1b\\"
	aKitty = "\x1b_Ga=T,f=24,s=1,v=1,c=1,r=1,q=2;AAAA\x1b\\"
)

// attachOptions returns the options of all attachments so far.
func (e *engineStub) attachOptions() []api.AttachOptions {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]api.AttachOptions{}, e.options...)
}

func plainTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("TMUX", "")
	t.Setenv("STY", "")
}

func TestUnsupportedPicturesAreConverted(t *testing.T) {
	const speaksKitty, speaksSixel, neither = "\x1b_Gi=31;OK\x1b\\\x1b[?62c", "\x1b[6;20;10t\x1b[?62;4c", "\x1b[?62c"
	for name, c := range map[string]struct{ answers, wanted, picture, shown string }{
		"sixel by kitty's":     {speaksKitty, "", aSixel, "\x1b_Ga=p,p=1,C=1,q=2,"},
		"kitty's as sixel":     {speaksSixel, "auto", aKitty, "\x1bP0;1;0q"},
		"sixel in blocks":      {neither, "auto", aSixel, "▀"},
		"kitty's in blocks":    {neither, "auto", aKitty, "▀"},
		"as the user wants it": {speaksSixel, "blocks", aSixel, "▀"},
	} {
		t.Run(name, func(t *testing.T) {
			plainTerminal(t)
			p := newPerson(t)
			p.watchScreen()
			e := newEngineStub(t, greetAndEcho("ready>"+c.picture), greetAndEcho("again>"+c.picture))
			p.attach(e, func(o *Options) { o.Pictures = c.wanted })
			p.waitOutput("ready>")
			if p.sendText(c.answers); c.picture == aKitty {
				p.waitOutput("again>")
			}
			p.waitOutput(c.shown)
			p.sendText("typed")
			p.waitOutput("<typed>")
			p.sendText("\x02d")
			p.waitExit()
			if got := e.attachOptions(); len(got) != 2 || !got[0].Direct || !got[0].Kinds || got[1].Direct {
				t.Errorf("attached as %+v", got)
			}
			screen := p.screenText()
			if _, after, _ := strings.Cut(screen, c.shown); strings.Contains(after, c.picture) {
				t.Errorf("the program's own passes: %q", screen)
			}
			if c.answers == speaksKitty && !strings.Contains(screen, "\x1b_Ga=d,q=2,d=I,i=") {
				t.Error("the terminal keeps the picture")
			}
		})
	}
}

func TestSupportedPicturesPassUnchanged(t *testing.T) {
	plainTerminal(t)
	p := newPerson(t)
	p.watchScreen()
	told := make(chan api.Input, 16)
	e := newEngineStub(t, passTold("ready>"+aSixel, told))
	p.attach(e, nil)
	p.waitOutput("ready>" + aSixel)
	p.sendText("\x1b[?62;4c")
	for in := range told {
		if in.Display != nil {
			break
		}
	}
	p.sendText("\x02d")
	p.waitExit()
	if got := e.attachOptions(); len(got) != 1 {
		t.Errorf("attached as %+v", got)
	}
}

func TestUnsupportedPictureReclaimsTerminal(t *testing.T) {
	plainTerminal(t)
	program := newProgram(t)
	p := newPerson(t)
	p.watchScreen()
	typed := make(chan string, 1)
	e := newEngineStub(t, func(t testing.TB, v *server.Viewer) error {
		tty := takeTerminal(t, v, program.master)
		defer tty.Close()
		io.WriteString(tty, "ready>")
		for known := false; !known; { // the terminal's properties
			in, err := v.Receive()
			if err != nil {
				return err
			}
			known = in.Display != nil
		}
		io.WriteString(tty, aSixel)
		if err := v.Send(api.Output{Direct: &api.Direct{Sixel: true}}); err != nil {
			return err
		}
		got, _ := serveInput(v, program.master, tty)
		typed <- got
		return nil
	}, greetAndEcho("again>"+aSixel))
	p.attach(e, nil)
	p.waitOutput("ready>")
	p.sendText("\x1b_Gi=31;OK\x1b\\\x1b[?62c")
	p.waitOutput("again>")
	p.waitOutput("\x1b_Ga=p,p=1,C=1,q=2,")
	p.sendText("\x02d")
	p.waitExit()
	<-typed
}
