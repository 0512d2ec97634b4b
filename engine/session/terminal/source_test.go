package terminal

import (
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/persist/inputnotes"
)

// succession starts sessions with the same terminal, one after the other.
type succession struct {
	t      *testing.T
	master *os.File
	log    *memoryLog
	notes  *inputnotes.Notes // which outlive a session, as they outlive an engine
	now    *Session
}

func newSuccession(t *testing.T) (s *succession, slave *os.File) {
	master, slave := rawPTY(t)
	s = &succession{t: t, master: master, log: &memoryLog{}, notes: inputnotes.New()}
	s.next(true)
	return s, slave
}

// crash is like next, but leaves the notes as a killed engine would.
func (s *succession) crash(new bool) {
	in := s.now.keyboard.input
	in.mu.Lock()
	notes := *s.notes
	in.closed = true
	in.mu.Unlock()
	s.now.Close()
	<-s.now.closed
	*s.notes, s.now = notes, nil
	s.next(new)
}

// next ends the session and starts the next one.
func (s *succession) next(new bool) {
	if s.now != nil {
		s.now.Close()
		<-s.now.closed
	}
	fd, err := unix.FcntlInt(s.master.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		s.t.Fatal(err)
	}
	s.now = newMemorySession(s.t, s.log, func(o *testOptions) {
		o.Master, o.New = os.NewFile(uintptr(fd), "pty"), new
		o.Notes = func() (*inputnotes.Notes, error) { return s.notes, nil }
	})
}

// viewer makes a viewer the connection of the input called name.
func (s *succession) viewer(name string) (attachment, api.InputState) {
	v := newViewer(api.AttachOptions{Input: name})
	st := s.now.keyboard.takeOver(v, func() {})
	return attachment{session: s.now, viewer: v}, st
}

func (s *succession) send(a attachment, in api.Input) {
	s.t.Helper()
	if err := a.handleInput(s.t.Context(), in); err != nil {
		s.t.Fatal(err)
	}
}

// drain returns what the terminal holds for its program.
func drain(t *testing.T, slave *os.File) string {
	t.Helper()
	var all strings.Builder
	for p := make([]byte, 64<<10); ; {
		polled := []unix.PollFd{{Fd: int32(slave.Fd()), Events: unix.POLLIN}}
		if n, err := unix.Poll(polled, 0); n == 0 || err != nil {
			return all.String()
		}
		n, err := slave.Read(p)
		if err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		all.Write(p[:n])
	}
}

func TestInputIsNumberedOverConnectionsAndEngines(t *testing.T) {
	s, slave := newSuccession(t)
	first, st := s.viewer("x")
	if want := (api.InputState{Counts: true}); st != want {
		t.Errorf("at first: %+v", st)
	}
	for _, in := range []api.Input{{Bytes: []byte("a")}, {Lines: &api.LineRange{}}, {Resize: &api.Size{}}, {Bytes: []byte("b")}} {
		s.send(first, in)
	}
	_, st = s.viewer("x")
	if want := (api.InputState{Counts: true, Known: true, Taken: 3}); st != want {
		t.Errorf("for the next connection: %+v", st)
	}
	if err := first.handleInput(t.Context(), api.Input{Bytes: []byte("late")}); !errors.Is(err, errReplaced) {
		t.Errorf("the former connection: %v", err)
	}
	s.next(false)
	if _, st = s.viewer("x"); st != (api.InputState{Counts: true, Known: true, Taken: 3}) {
		t.Errorf("for the next engine: %+v", st)
	}
	if _, st = s.viewer("y"); st.Known {
		t.Errorf("for another viewer: %+v", st)
	}
	if got := drain(t, slave); got != "ab" {
		t.Errorf("the program gets %q", got)
	}
}

// An engine that stops leaves the rest of the message that it is writing.
func TestNextEngineWritesTheRestOfAMessage(t *testing.T) {
	s, slave := newSuccession(t)
	a, _ := s.viewer("x")
	var all strings.Builder
	var sent []string
	for i := range 30 {
		sent = append(sent, strings.Repeat(string(rune('a'+i%26)), 7000))
		all.WriteString(sent[i])
		s.send(a, api.Input{Bytes: []byte(sent[i])})
	}
	got := ""
	for engine := range 4 {
		s.next(false)
		if engine%2 == 1 {
			continue // before the viewer is back
		}
		again, st := s.viewer("x")
		if st.Unsure != 0 {
			t.Fatalf("engine %d: %+v", engine, st)
		}
		for _, text := range sent[st.Taken:] {
			s.send(again, api.Input{Bytes: []byte(text)})
		}
		for before := len(got); len(got) < before+10_000 && !s.now.keyboard.isIdle(); {
			got += drain(t, slave)
			runtime.Gosched()
		}
	}
	again, st := s.viewer("x")
	for _, text := range sent[st.Taken:] {
		s.send(again, api.Input{Bytes: []byte(text)})
	}
	for idle := false; !idle; idle = s.now.keyboard.isIdle() {
		got += drain(t, slave)
		runtime.Gosched()
	}
	if got += drain(t, slave); got != all.String() {
		t.Errorf("the program gets %d bytes, want %d", len(got), all.Len())
	}
}

func TestFinishedMessageIsNotSentAgain(t *testing.T) {
	s, _ := newSuccession(t)
	a, _ := s.viewer("x")
	in, m := s.now.keyboard.input, &message{rest: []byte("hello")}
	in.mu.Lock()
	taken := in.take(m, a.viewer)
	in.pending, in.waiting = []*message{m}, len(m.rest) // as while the terminal is full
	in.mu.Unlock()
	// The engine stops just after the message was written.
	if err := in.conn.Control(func(fd uintptr) { in.writePending(int(fd)) }); err != nil || !taken {
		t.Fatal(taken, err)
	}
	s.next(false)
	if _, st := s.viewer("x"); st.Taken != 1 || st.Unsure != 0 {
		t.Errorf("%+v", st)
	}
}

func TestNewProgramGetsNoRestOfAFormerMessage(t *testing.T) {
	s, slave := newSuccession(t)
	a, _ := s.viewer("x")
	s.send(a, api.Input{Bytes: []byte(strings.Repeat("x", 200<<10))})
	s.now.Close()
	<-s.now.closed
	s.now = nil
	drain(t, slave)
	s.next(true)
	again, _ := s.viewer("x")
	s.send(again, api.Input{Bytes: []byte("whole")})
	if got := drain(t, slave); got != "whole" {
		t.Errorf("the new program gets %.20q", got)
	}
}

// If messages wait for a program that does not read, the next engine knows which one was begun.
func TestPossiblyWrittenInputIsKnownAfterAnEngineCrash(t *testing.T) {
	s, slave := newSuccession(t)
	a, _ := s.viewer("x")
	const size = 1000
	for range 200 {
		s.send(a, api.Input{Bytes: []byte(strings.Repeat("x", size))})
	}
	s.crash(false)
	_, st := s.viewer("x")
	written := uint64(len(drain(t, slave)))
	if st.Unsure > 1 || written < (st.Taken-st.Unsure)*size || written > st.Taken*size {
		t.Errorf("%+v after %d bytes", st, written)
	}
	if st.Unsure == 0 && written != st.Taken*size {
		t.Errorf("%d bytes of a message that is said not to have begun", written%size)
	}
}

func TestInterruptedPasteIsEndedByTheNextEngine(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	for name, c := range map[string]struct {
		cut  func(s *succession, a attachment)
		want string // behind the text
		sees bool   // the viewer learns that its paste is over
	}{
		"inside a message, by a crash": {func(s *succession, a attachment) {
			s.send(a, api.Input{Bytes: []byte(keys.PasteStart + long)})
			s.crash(false)
		}, keys.PasteEnd, true},
		"inside a message, by a crash, for a new program": {func(s *succession, a attachment) {
			s.send(a, api.Input{Bytes: []byte(keys.PasteStart + long)})
			s.crash(true)
		}, "", false},
		"inside a message of a viewer that goes on": {func(s *succession, a attachment) {
			paste := keys.PasteStart + long + keys.PasteEnd
			s.send(a, api.Input{Bytes: []byte(paste)})
			s.next(false)
			again, _ := s.viewer("x")
			s.send(again, api.Input{Bytes: []byte(paste)})
			other, _ := s.viewer("y")
			s.send(other, api.Input{Bytes: []byte("y")})
		}, keys.PasteEnd + "y", false},
		"inside a message, and another types first": {func(s *succession, a attachment) {
			s.send(a, api.Input{Bytes: []byte(keys.PasteStart + long)})
			s.next(false)
			other, _ := s.viewer("y")
			s.send(other, api.Input{Bytes: []byte("y")})
			again, _ := s.viewer("x")
			s.send(again, api.Input{Bytes: []byte("whole")}) // behind the paste, which it drops
		}, keys.PasteEnd + "ywhole", false},
		"between messages of a viewer that goes on": {func(s *succession, a attachment) {
			s.send(a, api.Input{Bytes: []byte(keys.PasteStart + "x")})
			s.next(false)
			again, _ := s.viewer("x")
			s.send(again, api.Input{Bytes: []byte("more" + keys.PasteEnd)})
		}, "more" + keys.PasteEnd, false},
		"between messages, and another types first": {func(s *succession, a attachment) {
			s.send(a, api.Input{Bytes: []byte(keys.PasteStart + "x")})
			s.next(false)
			other, _ := s.viewer("y")
			s.send(other, api.Input{Bytes: []byte("y")})
		}, keys.PasteEnd + "y", true},
		"by a viewer that leaves, and another types": {func(s *succession, a attachment) {
			s.send(a, api.Input{Bytes: []byte(keys.PasteStart[:3])})
			s.send(a, api.Input{Bytes: []byte(keys.PasteStart[3:] + "x")})
			s.now.keyboard.disconnect(a.viewer)
			other, _ := s.viewer("y")
			s.send(other, api.Input{Bytes: []byte("y")})
		}, keys.PasteEnd + "y", true},
		"by nobody": {func(s *succession, a attachment) {
			s.send(a, api.Input{Bytes: []byte(keys.PasteStart + "x" + keys.PasteEnd)})
			s.next(false)
			other, _ := s.viewer("y")
			s.send(other, api.Input{Bytes: []byte("y")})
		}, keys.PasteEnd + "y", false},
	} {
		t.Run(name, func(t *testing.T) {
			s, slave := newSuccession(t)
			a, _ := s.viewer("x")
			c.cut(s, a)
			idle := make(chan struct{})
			s.now.keyboard.whenIdle(func() { close(idle) })
			got := ""
			for over := false; !over; {
				select {
				case <-idle:
					over = true
				default:
					runtime.Gosched()
				}
				got += drain(t, slave)
			}
			text, begun := strings.CutPrefix(got, keys.PasteStart)
			if rest := strings.TrimLeft(text, "x"); !begun || rest != c.want {
				t.Errorf("the program gets %q, and at the end %q", got[:min(20, len(got))], rest)
			}
			if _, st := s.viewer("x"); st.Cut != c.sees {
				t.Errorf("for the viewer: %+v", st)
			}
		})
	}
}
