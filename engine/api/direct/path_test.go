package direct

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/tests/seed"
)

// An engineStub passes input on to a program, as an engine does. The program reads from a pipe,
// because a pipe takes little at once.
type engineStub struct {
	t       *testing.T
	path    *Path
	program *os.File // its end of the pipe
	master  *os.File

	queue   chan api.Input // from the path, not handled yet
	answers []*api.Master
	pending []byte // input that the pipe has not taken
	due     bool   // a request waits for pending
	foreign bool   // another client has typed since the viewer
	lost    bool

	read, typed, through []byte // input that the program has read, and that was reported or sent
}

func newEngineStub(t *testing.T) *engineStub {
	t.Helper()
	e := &engineStub{t: t, queue: make(chan api.Input, 10_000)}
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	e.program, e.master = os.NewFile(uintptr(fds[0]), "program"), os.NewFile(uintptr(fds[1]), "master")
	t.Cleanup(func() { e.program.Close(); e.master.Close() })
	if _, err := unix.FcntlInt(uintptr(fds[1]), unix.F_SETPIPE_SZ, 4096); err != nil {
		t.Fatal(err)
	}
	e.path = NewPath(func(in api.Input) error {
		if e.lost {
			return errors.New("lost")
		}
		in.Bytes, in.Typed = slices.Clone(in.Bytes), slices.Clone(in.Typed)
		e.queue <- in
		return nil
	})
	return e
}

// announce says that the engine lends the master.
func (e *engineStub) announce() { e.path.Receive(&api.Master{}) }

// handleOne handles the oldest message in the queue.
func (e *engineStub) handleOne() {
	if len(e.queue) > 0 {
		switch in := <-e.queue; {
		case in.Typed != nil:
			e.typed = append(e.typed, in.Typed...)
		case in.Master:
			e.due = true
		default:
			e.foreign = false
			e.pending = append(e.pending, in.Bytes...)
			e.through = append(e.through, in.Bytes...)
		}
	}
	e.flush()
}

// flush writes pending input, and then answers a request.
func (e *engineStub) flush() {
	for len(e.pending) > 0 {
		n, err := unix.Write(int(e.master.Fd()), e.pending)
		if err != nil {
			return
		}
		e.pending = e.pending[n:]
	}
	if !e.due {
		return
	}
	e.due = false
	if e.foreign {
		e.answers = append(e.answers, &api.Master{Refused: true})
		return
	}
	fd, err := unix.FcntlInt(e.master.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		e.t.Fatal(err)
	}
	e.answers = append(e.answers, &api.Master{Lent: true, File: os.NewFile(uintptr(fd), "lent")})
}

// answerOne delivers the oldest answer.
func (e *engineStub) answerOne() {
	if len(e.answers) > 0 {
		e.path.Receive(e.answers[0])
		e.answers = e.answers[1:]
	}
}

// withdraw ends the loan because another client types.
func (e *engineStub) withdraw() {
	e.foreign = true
	e.answers = append(e.answers, &api.Master{})
}

// readSome makes the program read at most n bytes.
func (e *engineStub) readSome(n int) {
	buffer := make([]byte, n)
	if got, err := unix.Read(int(e.program.Fd()), buffer); err == nil {
		e.read = append(e.read, buffer[:got]...)
	}
}

// settle handles everything that is on its way.
func (e *engineStub) settle() {
	for len(e.queue) > 0 || len(e.pending) > 0 || len(e.answers) > 0 || e.due {
		e.handleOne()
		e.answerOne()
		e.readSome(64 << 10)
	}
	e.readSome(64 << 10)
}

func (e *engineStub) typeText(text string) {
	e.t.Helper()
	if n, err := e.path.Type([]byte(text), api.Input{Bytes: []byte(text)}); n != len(text) || err != nil {
		e.t.Fatalf("typing %q sends %d bytes: %v", text, n, err)
	}
}

func (e *engineStub) isOpen() bool {
	e.path.mu.Lock()
	defer e.path.mu.Unlock()
	return e.path.master != notLent
}

// open types until keys go to the PTY.
func (e *engineStub) open() {
	e.t.Helper()
	e.announce()
	e.typeText("a")
	e.settle()
	if !e.isOpen() {
		e.t.Fatal("the path is closed after a key and its answer")
	}
	e.read, e.through = nil, nil
}

func TestInputStaysInOrderWhenItsPathChanges(t *testing.T) {
	random := seed.Rand(t)
	for order := range 200 {
		synctest.Test(t, func(t *testing.T) {
			e := newEngineStub(t)
			e.announce()
			var want []byte
			direct := 0
			for i := range 400 {
				text := bytes.Repeat([]byte{byte('a' + i%26)}, 1+random.IntN(3))
				switch random.IntN(13) {
				case 0, 1, 2, 3:
					e.typeText(string(text))
					want = append(want, text...)
					if e.isOpen() {
						direct++
					}
				case 4:
					if random.IntN(4) == 0 {
						text = bytes.Repeat(text, 1500)
					}
					if err := e.path.Send(api.Input{Bytes: text}); err != nil {
						t.Fatal(err)
					}
					want = append(want, text...)
				case 5, 6:
					e.handleOne()
				case 7, 8:
					e.answerOne()
				case 9:
					e.readSome(1 + random.IntN(3000))
				case 10:
					time.Sleep(reportDelay)
					synctest.Wait()
				case 11:
					e.settle()
				case 12:
					if random.IntN(4) == 0 {
						e.withdraw()
					}
				}
			}
			e.settle()
			e.path.Close()
			e.settle()
			if !bytes.Equal(e.read, want) {
				t.Fatalf("order %d: the program reads %d bytes of %d, or in another order", order, len(e.read), len(want))
			}
			if got := len(e.typed) + len(e.through); got != len(want) {
				t.Fatalf("order %d: the engine learns of %d bytes of %d", order, got, len(want))
			}
			if direct == 0 {
				t.Fatalf("order %d: no key went to the PTY", order)
			}
		})
	}
}

func TestTypedKeysAreReportedAfterTheirEcho(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngineStub(t)
		e.open()
		e.typeText("l")
		e.typeText("s")
		e.readSome(10)
		if string(e.read) != "ls" || len(e.queue) != 0 {
			t.Errorf("at first the program reads %q, and the engine gets %d messages", e.read, len(e.queue))
		}
		time.Sleep(reportDelay)
		synctest.Wait()
		e.settle()
		if string(e.typed) != "ls" || len(e.through) != 0 {
			t.Errorf("%q is reported, and %q sent", e.typed, e.through)
		}
	})
}

func TestRestOfInputGoesThroughEngineWhenPTYIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngineStub(t)
		e.open()
		text := string(bytes.Repeat([]byte("0123456789abcdef"), 1024)) // exceeds the pipe
		e.typeText(text)
		e.typeText("more")
		if e.isOpen() {
			t.Error("the path is open though the PTY is full")
		}
		e.settle()
		if string(e.read) != text+"more" || len(e.typed) == 0 || len(e.through) == 0 {
			t.Errorf("the program reads %d bytes; %d were reported and %d sent", len(e.read), len(e.typed), len(e.through))
		}
		if !e.isOpen() {
			t.Error("the path stays closed after the program has read everything")
		}
	})
}

func TestPathClosesAMasterNoLongerLent(t *testing.T) {
	for name, end := range map[string]func(*engineStub){
		"when another client types": func(e *engineStub) { e.withdraw(); e.answerOne() },
		"after a paste":             func(e *engineStub) { _ = e.path.Send(api.Input{Paste: new("text")}) },
		"with the attachment":       func(e *engineStub) { e.path.Close() },
		"with a lost attachment":    func(e *engineStub) { e.lost = true; e.path.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEngineStub(t)
				e.open()
				e.path.mu.Lock()
				master := e.path.master
				e.path.mu.Unlock()
				var lent, now unix.Stat_t
				if err := unix.Fstat(master, &lent); err != nil {
					t.Fatal(err)
				}
				end(e)
				if err := unix.Fstat(master, &now); err == nil && now.Ino == lent.Ino || e.isOpen() {
					t.Error("the master is open")
				}
			})
		})
	}
}

func TestKeysThatEndALineGoThroughTheEngine(t *testing.T) {
	for _, key := range []string{"\r", "\n", "\x03", "\x04", "\x1c"} {
		synctest.Test(t, func(t *testing.T) {
			e := newEngineStub(t)
			e.open()
			e.typeText("ls")
			e.typeText(key)
			e.typeText("x")
			// The engine must know the whole line before it passes on the end of the line.
			if e.handleOne(); string(e.typed) != "ls" || len(e.through) != 0 {
				t.Errorf("first, %q is reported, and %q sent", e.typed, e.through)
			}
			if e.handleOne(); string(e.through) != key {
				t.Errorf("%q is sent after the report, want %q", e.through, key)
			}
			e.settle()
			if string(e.read) != "ls"+key+"x" {
				t.Errorf("the program reads %q", e.read)
			}
			if !e.isOpen() {
				t.Errorf("the path stays closed after %q", key)
			}
		})
	}
}

func TestPathNeverAsksAnEngineThatDoesNotLend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngineStub(t)
		e.typeText("a")
		if len(e.queue) != 1 {
			t.Errorf("it sends %d messages", len(e.queue))
		}
	})
}
