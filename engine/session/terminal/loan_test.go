package terminal

import (
	"bytes"
	"io"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/term"

	"tandem/engine/api"
)

// A lendingStream is a connection that can pass descriptors.
type lendingStream struct{ *fakeStream }

func (lendingStream) CanPass() bool { return true }

// A borrower is a viewer that asks for the master.
type borrower struct {
	*fakeStream
	t *testing.T
}

func newBorrower(t *testing.T, s *Session, o api.AttachOptions) borrower {
	t.Helper()
	o.Master = true
	f := newFakeStream()
	attachFor(t, s, o, f.leave, lendingStream{f})
	return borrower{f, t}
}

// awaitMaster returns the next message about the master.
func (b borrower) awaitMaster() api.Master {
	b.t.Helper()
	for {
		if out := <-b.out; out.Master != nil {
			return *out.Master
		}
	}
}

// borrow types and asks for the master.
func (b borrower) borrow(text string) api.Master {
	b.t.Helper()
	b.in <- api.Input{Bytes: []byte(text)}
	b.in <- api.Input{Master: true}
	return b.awaitMaster()
}

// newTypedSession returns a session with a program that does not read yet.
func newTypedSession(t *testing.T) (s *Session, master, slave *os.File) {
	t.Helper()
	master, slave = openPTY(t)
	if _, err := term.MakeRaw(slave.Fd()); err != nil {
		t.Fatal(err)
	}
	return newMemorySession(t, &memoryLog{}, func(o *testOptions) { o.Master = master }), master, slave
}

func TestMasterIsLentToTheViewerThatTypedLast(t *testing.T) {
	s, master, _ := newTypedSession(t)
	b := newBorrower(t, s, api.AttachOptions{})
	if got := b.awaitMaster(); got != (api.Master{}) {
		t.Fatalf("at first %+v", got)
	}
	b.in <- api.Input{Master: true}
	if got := b.awaitMaster(); got != (api.Master{Refused: true}) {
		t.Errorf("before it has typed: %+v", got)
	}
	lent := api.Master{Lent: true, File: master}
	if got := b.borrow("a"); got != lent {
		t.Errorf("after a key: %+v", got)
	}
	agent := api.WithCaller(t.Context(), api.Caller{Owner: "x", Name: "claude"})
	if err := s.TypeInto(agent, []byte("b")); err != nil {
		t.Fatal(err)
	}
	if got := b.awaitMaster(); got != (api.Master{}) {
		t.Errorf("after an agent has typed: %+v", got)
	}
	b.in <- api.Input{Master: true}
	if got := b.awaitMaster(); got != (api.Master{Refused: true}) {
		t.Errorf("while the agent has typed last: %+v", got)
	}
	if got := b.borrow("c"); got != lent {
		t.Errorf("after another key: %+v", got)
	}
	other := view(t, s, api.AttachOptions{})
	go func() {
		for range other.out {
		}
	}()
	other.in <- api.Input{Bytes: []byte("d")}
	if got := b.awaitMaster(); got != (api.Master{}) {
		t.Errorf("after another viewer has typed: %+v", got)
	}
}

func TestMasterIsLentOnceThePTYHasTakenAllInput(t *testing.T) {
	s, master, slave := newTypedSession(t)
	b := newBorrower(t, s, api.AttachOptions{})
	b.awaitMaster()
	text := bytes.Repeat([]byte("x"), 100<<10)
	b.in <- api.Input{Bytes: text}
	b.in <- api.Input{Master: true}
	answer := make(chan api.Master, 1)
	go func() { answer <- b.awaitMaster() }()
	// The engine has handled the request once it takes the next message.
	b.in <- api.Input{Reset: true}
	select {
	case got := <-answer:
		t.Fatalf("%+v before the program has read anything", got)
	default:
	}
	if _, err := io.ReadFull(slave, make([]byte, len(text))); err != nil {
		t.Fatal(err)
	}
	if got := <-answer; got != (api.Master{Lent: true, File: master}) {
		t.Errorf("%+v", got)
	}
}

func TestReportOfDirectInputKeepsTheLaterTypist(t *testing.T) {
	s, _, _ := newTypedSession(t)
	b := newBorrower(t, s, api.AttachOptions{})
	b.awaitMaster()
	b.borrow("a")
	b.in <- api.Input{Typed: []byte("b")}
	b.in <- api.Input{AskColors: true} // taken once the report is handled
	agent := api.WithCaller(t.Context(), api.Caller{Owner: "x", Name: "claude"})
	if err := s.TypeInto(agent, []byte("c")); err != nil {
		t.Fatal(err)
	}
	b.awaitMaster()
	b.in <- api.Input{Typed: []byte("typed before c")}
	b.in <- api.Input{AskColors: true} // taken once the report is handled
	if got := s.LastTypist(); got != "agent:claude" {
		t.Errorf("%s has typed last", got)
	}
}

func TestMasterIsNotLentToEveryViewer(t *testing.T) {
	s, _, _ := newTypedSession(t)
	for name, attach := range map[string]func() *fakeStream{
		"read-only":       func() *fakeStream { return newBorrower(t, s, api.AttachOptions{ReadOnly: true}).fakeStream },
		"not on a socket": func() *fakeStream { return view(t, s, api.AttachOptions{Master: true}) },
		"that does not want it": func() *fakeStream {
			f := newFakeStream()
			attachFor(t, s, api.AttachOptions{}, f.leave, lendingStream{f})
			return f
		},
	} {
		f := attach()
		go func() {
			f.in <- api.Input{Bytes: []byte("a")}
			f.in <- api.Input{Master: true}
			f.in <- api.Input{Lines: &api.LineRange{}}
		}()
		for out := range f.out {
			if out.Master != nil {
				t.Errorf("a viewer %s gets %+v", name, *out.Master)
			}
			if out.Lines != nil {
				break
			}
		}
		f.leave()
	}
}

func TestEchoesOfKeysWrittenToThePTYAreNotDelayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memoryLog{}
		s := memorySession(t, l)
		f := view(t, s, api.AttachOptions{})
		<-f.out // the first, full one
		time.Sleep(time.Second)
		v := s.viewers.snapshot()[0]
		v.loan.held.Store(true)
		v.loan.echoes.Store(3)
		for i, c := range []struct {
			text string
			want time.Duration
		}{{"a", 0}, {"b", 0}, {"c", 0}, {"d", frameGap}, {"e", frameGap}} {
			start := time.Now()
			s.output(l, c.text)
			<-f.out
			if got := time.Since(start); got != c.want {
				t.Errorf("frame %d comes after %v, not %v", i, got, c.want)
			}
		}
		v.loan.echoes.Store(3)
		time.Sleep(time.Second)
		s.output(l, "f")
		<-f.out
		start := time.Now()
		s.output(l, string(bytes.Repeat([]byte("flood "), maxEcho)))
		<-f.out
		if got := time.Since(start); got != frameGap {
			t.Errorf("a flood is sent after %v", got)
		}
	})
}
