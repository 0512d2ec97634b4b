package cast

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

const (
	sixelPicture = "\x1bP0;1q\"1;1;10;6#1!10~\x1b\\"
	kittyPicture = "\x1b_Ga=T,f=24,s=1,v=1,c=1,r=1,q=2;AAAA\x1b\\"
)

// playedOn plays texts on a terminal and returns the bytes written to it. The terminal replies to
// the first query with answers, which may include keys.
func playedOn(t *testing.T, wanted, answers string, texts ...string) string {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	if err := pty.Setsize(slave, &pty.Winsize{Cols: 40, Rows: 10}); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Dup(int(slave.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	tty := os.NewFile(uintptr(fd), "terminal")
	defer tty.Close()
	var events eventList
	for _, text := range texts {
		events = append(events, Event{0, Output, text})
	}
	p := player{out: tty, onTerminal: true, speed: 1, terminal: newScreen(tty, wanted)}
	done := make(chan error, 1)
	go func() { done <- p.playWithKeys(t.Context(), &events, tty) }()
	var seen []byte
	buffer := make([]byte, 4096)
	for !bytes.Contains(seen, []byte("the end")) {
		n, err := master.Read(buffer)
		if err != nil {
			t.Fatalf("after %q: %v", seen, err)
		}
		asked := bytes.Contains(seen, []byte("\x1b[c"))
		if seen = append(seen, buffer[:n]...); !asked && bytes.Contains(seen, []byte("\x1b[c")) {
			master.WriteString(answers)
		}
	}
	go func() { // the terminal must not block
		for {
			if _, err := master.Read(buffer); err != nil {
				return
			}
		}
	}()
	if err := <-done; err != nil {
		t.Error(err)
	}
	return string(seen)
}

func TestPlayShowsPicturesInASupportedProtocol(t *testing.T) {
	const kitty, sixel, neither = "+\x1b[A\x1b]11;rgb:0/0/0\x1b\\\x1b_Gi=31;OK\x1b\\\x1b[?62c", "\x1b[6;20;10t\x1b[?62;4c", "\x1b[?62c"
	for name, c := range map[string]struct{ wanted, answers, picture, shown string }{
		"kitty's by kitty's":   {"", kitty, kittyPicture, "\x1b_Ga=p,p=1,C=1,q=2,"},
		"sixel by kitty's":     {"auto", kitty, sixelPicture, "\x1b_Ga=p,p=1,C=1,q=2,"},
		"sixel as it is":       {"auto", sixel, sixelPicture, "\x1b[c" + sixelPicture},
		"kitty's as sixel":     {"auto", sixel, kittyPicture, "\x1bP0;1;0q"},
		"sixel in blocks":      {"auto", neither, sixelPicture, "▀"},
		"as the user wants it": {"blocks", sixel, sixelPicture, "▀"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TERM", "xterm-256color")
			t.Setenv("TMUX", "")
			t.Setenv("STY", "")
			half := len(c.picture) / 2
			seen := playedOn(t, c.wanted, c.answers, "begin\r\n", c.picture[:half], c.picture[half:]+"\r\n", "the end\r\n")
			if !strings.Contains(seen, c.shown) || strings.Contains(seen, kittyPicture) {
				t.Errorf("the terminal received %q", seen)
			}
			if asks := strings.Contains(seen, "\x1b[c"); asks != (c.wanted != "blocks") {
				t.Errorf("queried: %v", asks)
			}
		})
	}
}

func TestPlaySendsNoQueryWithoutPictures(t *testing.T) {
	if seen := playedOn(t, "", "", "text\r\n", "the end"); !strings.HasPrefix(seen, "text\r\nthe end") || strings.Contains(seen, "\x1b[c") {
		t.Errorf("the terminal received %q", seen)
	}
}
