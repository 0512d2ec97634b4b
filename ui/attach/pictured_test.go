package attach

import (
	"io"
	"strings"
	"testing"

	"tandem/engine/api/server"

	"tandem/engine/api"
)

// A picture of a cell, as programs print it.
const (
	aSixel = "\x1bP0;1q\"1;1;10;6#1!10~\x1b\\"
	aKitty = "\x1b_Ga=T,f=24,s=1,v=1,c=1,r=1,q=2;AAAA\x1b\\"
)

// attached are the options of the attachments so far.
func (e *engineStub) attached() []api.AttachOptions {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]api.AttachOptions{}, e.options...)
}

func plainTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("TMUX", "")
	t.Setenv("STY", "")
}

func TestPicturesThatTheTerminalDoesNotKnowAreConverted(t *testing.T) {
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
			p.watch()
			e := newEngineStub(t, greetAndEcho("ready>"+c.picture), greetAndEcho("again>"+c.picture))
			p.attach(e, func(o *Options) { o.Pictures = c.wanted })
			p.sees("ready>")
			if p.types(c.answers); c.picture == aKitty {
				p.sees("again>")
			}
			p.sees(c.shown)
			p.types("typed")
			p.sees("<typed>")
			p.types("\x02d")
			p.leaves()
			if got := e.attached(); len(got) != 2 || !got[0].Direct || !got[0].Kinds || got[1].Direct {
				t.Errorf("attached as %+v", got)
			}
			screen := p.screen()
			if _, after, _ := strings.Cut(screen, c.shown); strings.Contains(after, c.picture) {
				t.Errorf("the program's own passes: %q", screen)
			}
			if c.answers == speaksKitty && !strings.Contains(screen, "\x1b_Ga=d,q=2,d=I,i=") {
				t.Error("the terminal keeps the picture")
			}
		})
	}
}

func TestPicturesThatTheTerminalKnowsPassAsTheyAre(t *testing.T) {
	plainTerminal(t)
	p := newPerson(t)
	p.watch()
	told := make(chan api.Input, 16)
	e := newEngineStub(t, tells("ready>"+aSixel, told))
	p.attach(e, nil)
	p.sees("ready>" + aSixel)
	p.types("\x1b[?62;4c")
	for in := range told {
		if in.Display != nil {
			break
		}
	}
	p.types("\x02d")
	p.leaves()
	if got := e.attached(); len(got) != 1 {
		t.Errorf("attached as %+v", got)
	}
}

func TestATerminalThatIsHandedOverIsTakenBackForAPicture(t *testing.T) {
	plainTerminal(t)
	program := newProgram(t)
	p := newPerson(t)
	p.watch()
	typed := make(chan string, 1)
	e := newEngineStub(t, func(t testing.TB, v *server.Viewer) error {
		tty := takeOver(t, v, program.master)
		defer tty.Close()
		io.WriteString(tty, "ready>")
		for known := false; !known; { // what the terminal is like
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
		got, _ := untilBack(v)
		typed <- got
		return nil
	}, greetAndEcho("again>"+aSixel))
	p.attach(e, nil)
	p.sees("ready>")
	p.types("\x1b_Gi=31;OK\x1b\\\x1b[?62c")
	p.sees("again>")
	p.sees("\x1b_Ga=p,p=1,C=1,q=2,")
	p.types("\x02d")
	p.leaves()
	<-typed
}
