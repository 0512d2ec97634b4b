package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/base/invariants"
)

// A handStream is the connection of a viewer that can hand over a terminal.
type handStream struct {
	*fakeStream
	tty   *os.File
	taken atomic.Bool // the session has the terminal
}

func (h *handStream) Offer(*os.File) (bool, error) {
	return true, h.Send(api.Output{Direct: &api.Direct{Offer: true}})
}

func (h *handStream) Passed() *os.File {
	h.taken.Store(true)
	return h.tty
}

// A person is a user whose terminal an attachment may take over.
type person struct {
	*handStream
	t      *testing.T
	window *os.File // what is on the terminal is read here
	left   chan struct{}
	shown  []byte
}

func newWindow(t *testing.T) (window, tty *os.File) {
	t.Helper()
	window, slave := openPTY(t)
	fd, err := unix.Open(slave.Name(), unix.O_WRONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return window, os.NewFile(uintptr(fd), "terminal")
}

// handOver attaches and hands over a terminal.
func handOver(t *testing.T, s *Session) *person {
	t.Helper()
	return handOverBy(t, s, api.AttachOptions{Raw: true, Direct: true})
}

func handOverBy(t *testing.T, s *Session, o api.AttachOptions) *person {
	t.Helper()
	t.Cleanup(invariants.Never("repaint")) // the tests expect exact output
	window, tty := newWindow(t)
	p := &person{handStream: &handStream{fakeStream: newFakeStream(), tty: tty}, t: t, window: window, left: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(p.left)
		s.Attach(ctx, o, false, p.handStream)
	}()
	t.Cleanup(func() {
		cancel()
		close(p.closed)
		<-p.left
	})
	if out := <-p.out; out.Direct == nil || !out.Direct.Offer {
		t.Fatalf("instead of an offer %+v", out)
	}
	p.in <- api.Input{Hand: &api.Hand{}}
	if out := <-p.out; out.Direct == nil || out.Direct.Offer {
		t.Fatalf("instead of a word about keys %+v", out)
	}
	return p
}

// sees waits until the terminal has shown text, since the last call.
func (p *person) sees(text string) {
	p.t.Helper()
	buffer := make([]byte, 64<<10)
	for !bytes.Contains(p.shown, []byte(text)) {
		p.window.SetReadDeadline(time.Now().Add(time.Minute))
		n, err := p.window.Read(buffer)
		if err != nil {
			p.t.Fatalf("the terminal shows %q and not %q: %v", p.shown, text, err)
		}
		p.shown = append(p.shown, buffer[:n]...)
	}
	p.shown = p.shown[bytes.Index(p.shown, []byte(text))+len(text):]
}

// live waits until the reader writes to the terminal.
func (p *person) live(s *Session) *direct {
	p.t.Helper()
	for {
		for _, v := range s.viewers.snapshot() {
			if d := v.handedOver.Load(); d != nil {
				d.mu.Lock()
				live := d.live
				d.mu.Unlock()
				if live {
					return d
				}
			}
		}
		runtime.Gosched()
	}
}

func TestDirectTerminalGetsARepaintAndThenTheOutput(t *testing.T) {
	l := &memoryLog{}
	l.add("before")
	s := memorySession(t, l)
	p := handOver(t, s)
	p.sees("before")
	p.live(s)
	s.output(l, "\x1b[6n\x1b[?1004$pafter\x1b]52;c;?\a")
	p.sees("after")
	if strings.Contains(string(p.shown), "\x1b") {
		t.Errorf("a question passes: %q", p.shown)
	}
}

func TestTerminalTakenIsClosedIfTheViewerLeavesAtOnce(t *testing.T) {
	for range 20 {
		for _, takesBack := range []bool{true, false} {
			s := memorySession(t, &memoryLog{})
			_, tty := newWindow(t)
			h := &handStream{fakeStream: newFakeStream(), tty: tty}
			ctx, cancel := context.WithCancel(t.Context())
			left := make(chan struct{})
			go func() {
				defer close(left)
				s.Attach(ctx, api.AttachOptions{Raw: true, Direct: true}, false, h)
			}()
			// The session waits for the terminal only once its offer is received below.
			h.in <- api.Input{Hand: &api.Hand{}}
			if takesBack {
				h.in <- api.Input{Hand: &api.Hand{Back: true}}
			}
			<-h.out
			h.leave()
			<-left
			cancel()
			if err := tty.Close(); h.taken.Load() && !errors.Is(err, os.ErrClosed) {
				t.Fatalf("takes back %v: the terminal was left open", takesBack)
			}
		}
	}
}

func TestDirectViewerIsToldThePictureProtocolsInUse(t *testing.T) {
	for _, kinds := range []bool{true, false} {
		l := &memoryLog{}
		s := memorySession(t, l)
		p := handOverBy(t, s, api.AttachOptions{Raw: true, Direct: true, Kinds: kinds})
		p.live(s)
		s.output(l, "\x1bPq~\x1b\\")
		p.sees("\x1bPq~\x1b\\")
		s.output(l, "\x1b[>1u\x1b_Ga=T,f=24,s=1,v=1;AAAA\x1b\\") // of the keys everybody is told
		var told api.Direct
		for !told.Extended {
			told = *(<-p.out).Direct
		}
		for kinds && !told.Kitty {
			told = *(<-p.out).Direct
		}
		if told.Kitty != kinds || told.Sixel != kinds {
			t.Errorf("wanted %v, told %+v", kinds, told)
		}
	}
}

func TestReturningATerminalClearsProgress(t *testing.T) {
	l := &memoryLog{}
	s := memorySession(t, l)
	p := handOver(t, s)
	p.live(s)
	s.output(l, "\x1b]9;built\a\x1b]9;4;1;50\aso far")
	p.sees("\x1b]9;built\a\x1b]9;4;1;50\aso far")
	p.in <- api.Input{Hand: &api.Hand{Back: true}}
	p.sees("\x1b]9;4;0\x1b\\")
}

func TestReaderWritesAnEchoItself(t *testing.T) {
	l := &memoryLog{}
	s := memorySession(t, l)
	p := handOver(t, s)
	d := p.live(s)
	passed := 0
	for i := range 50 {
		text := fmt.Sprintf("key %d;", i)
		offset := l.End()
		l.add(text)
		if d.passOutput(offset, []byte(text)) {
			passed++
		} else {
			p.live(s) // the viewer's goroutine was active, and writes it
		}
	}
	if passed < 25 {
		t.Errorf("the reader wrote %d of 50 echoes", passed)
	}
	for i := range 50 {
		p.sees(fmt.Sprintf("key %d;", i))
	}
}

func TestBlockedDirectTerminalDelaysNothingAndCatchesUp(t *testing.T) {
	l := &memoryLog{}
	s := memorySession(t, l)
	p := handOver(t, s)
	d := p.live(s)
	// On a busy machine, the terminal would otherwise count as slow and miss lines.
	d.mu.Lock()
	d.keep = 1 << 20
	d.mu.Unlock()
	for i := range 1000 { // far more than a terminal keeps for its reader
		s.output(l, fmt.Sprintf("line %d of a program that does not wait\r\n", i))
	}
	if got := s.Facts(); got.Bytes != l.End() {
		t.Errorf("%d bytes were taken of %d", got.Bytes, l.End())
	}
	for i := range 1000 {
		p.sees(fmt.Sprintf("line %d ", i))
	}
	p.live(s)
}

func TestDirectTerminalIsRepaintedAfterTheAlternateScreen(t *testing.T) {
	l := &memoryLog{}
	l.add("below\x1b[?1049habove")
	s := memorySession(t, l)
	p := handOver(t, s)
	p.sees("above")
	p.live(s)
	s.output(l, "\x1b[?1049l")
	p.sees("below")
	if bytes.Contains(p.shown, []byte("1049")) {
		t.Errorf("a switch reaches the terminal: %q", p.shown)
	}
}

func TestReturnedTerminalGetsNoMoreOutput(t *testing.T) {
	l := &memoryLog{}
	s := memorySession(t, l)
	p := handOver(t, s)
	d := p.live(s)
	p.in <- api.Input{Hand: &api.Hand{Back: true}}
	<-p.left
	if _, err := d.tty.Write([]byte("x")); err == nil {
		t.Error("the terminal is still there to write to")
	}
	s.output(l, "late")
	d.passOutput(l.End()-4, []byte("late"))
	p.window.SetReadDeadline(time.Now().Add(-time.Second))
	buffer := make([]byte, 4096)
	n, _ := p.window.Read(buffer)
	if strings.Contains(string(buffer[:n]), "late") {
		t.Errorf("it shows %q", buffer[:n])
	}
}

func TestBlockingTerminalIsNotTakenOver(t *testing.T) {
	l := &memoryLog{}
	l.add("before")
	s := memorySession(t, l)
	window, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer window.Close()
	slave.Fd() // from now on writes to it wait
	h := &handStream{fakeStream: newFakeStream(), tty: slave}
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		s.Attach(ctx, api.AttachOptions{Raw: true, Direct: true}, false, h)
	}()
	<-h.out
	h.in <- api.Input{Hand: &api.Hand{}}
	<-h.out
	if out := <-h.out; !bytes.Contains(out.Bytes, []byte("before")) {
		t.Errorf("instead of a repaint over the connection %+v", out)
	}
	cancel()
	close(h.closed)
	<-left
}

func TestKeysWrittenByTheViewerCountAsInput(t *testing.T) {
	l := &memoryLog{}
	s := memorySession(t, l)
	s.keyboard.closed = false // as with a PTY
	p := handOver(t, s)
	p.in <- api.Input{Typed: []byte("ls\r")}
	p.in <- api.Input{Resize: &api.Size{Cols: 30, Rows: 5}} // the one before has been seen to
	if got := s.LastTypist(); got != api.Person {
		t.Errorf("%q typed last", got)
	}
}

// Only then may the screen follow later.
func TestOutputIsSeenOnceAllViewersShowIt(t *testing.T) {
	l := &memoryLog{}
	s := memorySession(t, l)
	print := func(text string) (seen bool) {
		offset := l.End()
		l.add(text)
		defer raiseFlag(s.screen.grew)
		return s.viewers.rawChanged(offset, []byte(text))
	}
	if print("a") {
		t.Error("nobody looks, and the output is seen")
	}
	p := handOver(t, s)
	for p.live(s); !print("b"); { // for a moment the viewer's goroutine may be at it
		p.live(s)
	}
	view(t, s, api.AttachOptions{})
	for len(s.viewers.snapshot()) < 2 {
		runtime.Gosched()
	}
	if print("c") {
		t.Error("who looks by frames has seen it already")
	}
}

// The end of a flood must not wait behind it.
func TestSlowTerminalGetsRepaintsInsteadOfQueuedOutput(t *testing.T) {
	l := &memoryLog{}
	s := memorySession(t, l)
	p := handOver(t, s)
	p.live(s)
	for range 1000 {
		s.output(l, strings.Repeat("a flood ", 20)+"\r\n")
	}
	p.live(s) // again, although nothing was read
	s.output(l, "the prompt")
	read := 0
	buffer := make([]byte, 1<<10)
	for seen := ""; !strings.Contains(seen, "the prompt"); {
		p.window.SetReadDeadline(time.Now().Add(time.Minute))
		n, err := p.window.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		read += n
		seen = seen[max(0, len(seen)-100):] + string(buffer[:n])
	}
	// A repaint of 20 by 5 cells needs less than 1 KB.
	if read > maxUndiscarded+4<<10 {
		t.Errorf("%d bytes come before the prompt", read)
	}
	p.live(s)
	s.output(l, "!")
	p.sees("!")
}
