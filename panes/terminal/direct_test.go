package terminal

import (
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/keys"
)

// lend lends the pane of a session the writing end of a pipe, as the engine lends a master after a
// key. It returns the other end.
func lend(t *testing.T, p *Terminal) (program *os.File) {
	t.Helper()
	program, master, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close(); master.Close() })
	p.Feed.Receive(api.Output{Master: &api.Master{}})
	if err := p.Feed.Type(api.Input{Key: &keys.Key{Code: 'a', Text: "a"}}); err != nil {
		t.Fatal(err)
	}
	p.Feed.Receive(api.Output{Master: &api.Master{Lent: true, File: master}})
	return program
}

// readInput returns the input that the program has got so far.
func readInput(t *testing.T, program *os.File) string {
	t.Helper()
	conn, err := program.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 100)
	var n int
	if err := conn.Read(func(fd uintptr) bool {
		n, _ = unix.Read(int(fd), buffer)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return string(buffer[:max(n, 0)])
}

func TestKeysOfAPaneAreEncodedForTheModesOfTheLastFrame(t *testing.T) {
	p, _ := livePane(10, 2, screenOf(10, 2, 0, "$", ""))
	program := lend(t, p)
	up := api.Input{Key: &keys.Key{Code: keys.Up}}
	for _, c := range []struct {
		modes keys.Modes
		want  string
	}{{keys.Modes{}, "\x1b[A"}, {keys.Modes{AppCursor: true}, "\x1bOA"}, {keys.Modes{}, "\x1b[A"}} {
		p.Feed.Receive(api.Output{Modes: &c.modes})
		if err := p.Feed.Type(up); err != nil {
			t.Fatal(err)
		}
		if got := readInput(t, program); got != c.want {
			t.Errorf("in %+v the program gets %q", c.modes, got)
		}
	}
}

func TestPastesAndMouseEventsGoThroughTheEngine(t *testing.T) {
	for name, send := range map[string]func(*Terminal){
		"paste": func(p *Terminal) { p.Feed.Type(api.Input{Paste: new("x")}) },
		"text":  func(p *Terminal) { p.Feed.Type(api.Input{Bytes: []byte("x")}) },
		"focus": func(p *Terminal) { p.Focus(true) },
		"mouse": func(p *Terminal) { p.Mouse(keys.Mouse{Kind: keys.MouseDown}) },
	} {
		frame := screenOf(10, 2, 0, "$", "")
		frame.Mouse = keys.MouseClick
		p, box := livePane(10, 2, frame)
		program := lend(t, p)
		box.sent = nil
		send(p)
		if got := readInput(t, program); got != "" || len(box.sent) != 1 {
			t.Errorf("%s: the program gets %q", name, got)
		}
		// A key must not overtake it.
		p.Feed.Type(api.Input{Key: &keys.Key{Code: 'k', Text: "k"}})
		if got := readInput(t, program); got != "" {
			t.Errorf("%s: a key overtakes it: %q", name, got)
		}
	}
}

func TestPaneReleasesTheMasterWhenItsAttachmentEnds(t *testing.T) {
	p, box := livePane(10, 2, screenOf(10, 2, 0, "$", ""))
	program := lend(t, p)
	p.Feed.Type(api.Input{Key: &keys.Key{Code: 'x', Text: "x"}})
	box.sent = nil
	p.Feed.Disconnect()
	if got, err := io.ReadAll(program); err != nil || string(got) != "x" {
		t.Errorf("the program reads %q, %v", got, err)
	}
	if sent := box.sent; len(sent) != 1 || string(sent[0].Typed) != "x" {
		t.Errorf("the engine is told %+v", sent)
	}
}
