package engine

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/direct"
	"tandem/keys"
	"tandem/tests/wait"
)

func TestUsersClientReceivesTheMasterAndTypesIntoIt(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	p := m.start("sh", "-c", "stty raw -echo; printf 'ready>'; exec cat")
	m.awaitScreen(p.ID, "ready>")
	w := m.attach(api.AttachOptions{ID: p.ID, Raw: true, Direct: true, Cols: 80, Rows: 24})
	if out := <-w.in; out.Direct == nil || !out.Direct.Offer {
		t.Fatalf("instead of an offer %+v", out)
	}
	master := w.a.TakePassed()
	if master == nil {
		t.Fatal("no master comes with the offer")
	}
	defer master.Close()
	window := handOver(t, w.a)
	if out := <-w.in; out.Direct == nil || !out.Direct.Keys {
		t.Fatalf("instead of a word that keys go to the master %+v", out)
	}
	shows := func(want string) {
		t.Helper()
		var shown []byte
		buffer := make([]byte, 4096)
		for !bytes.Contains(shown, []byte(want)) {
			window.SetReadDeadline(time.Now().Add(wait.Timeout))
			n, err := window.Read(buffer)
			if err != nil {
				t.Fatalf("the terminal shows %q: %v", shown, err)
			}
			shown = append(shown, buffer[:n]...)
		}
	}
	shows("ready>")
	if _, err := master.Write([]byte("key")); err != nil {
		t.Fatal(err)
	}
	shows("key")
	w.send(api.Input{Typed: []byte("key")})
	m.eventually("who typed last is told", func() bool {
		view := m.get(p.ID)
		return view.Terminal != nil && view.Terminal.Typist != ""
	})
	w.send(api.Input{Hand: &api.Hand{Back: true}})
	for range w.in { // ends with the connection
	}
}

// handOver hands a terminal over to the engine and returns its other end. Only the engine keeps
// the terminal open.
func handOver(t *testing.T, a *client.Attachment) (window *os.File) {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer slave.Close()
	fd, err := unix.FcntlInt(master.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.SetNonblock(fd, true); err != nil { // for deadlines
		t.Fatal(err)
	}
	window = os.NewFile(uintptr(fd), "window")
	t.Cleanup(func() { window.Close() })
	tty, err := unix.Open(slave.Name(), unix.O_WRONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(tty)
	if err := a.HandOver(tty, false); err != nil {
		t.Fatal(err)
	}
	return window
}

func TestEngineClosesTheTerminalOfAViewerThatTakesItBackAtOnce(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	p := m.start("cat")
	for range 20 {
		w := m.attach(api.AttachOptions{ID: p.ID, Raw: true, Direct: true, Master: true, Cols: 80, Rows: 24})
		if out := <-w.in; out.Direct == nil || !out.Direct.Offer {
			t.Fatalf("instead of an offer %+v", out)
		}
		window := handOver(t, w.a)
		w.send(api.Input{Hand: &api.Hand{Back: true}})
		window.SetReadDeadline(time.Now().Add(wait.Timeout))
		if _, err := io.Copy(io.Discard, window); !errors.Is(err, unix.EIO) {
			t.Fatalf("the terminal is still open: %v", err)
		}
	}
}

func TestUsersPaneBorrowsTheMaster(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	p := m.start("sh", "-c", "stty raw -echo; printf 'ready>'; exec cat")
	m.awaitScreen(p.ID, "ready>")
	w := m.attach(api.AttachOptions{ID: p.ID, Master: true, Cols: 80, Rows: 24})
	awaitMaster := func() *api.Master {
		for out := range w.in {
			if out.Master != nil {
				return out.Master
			}
		}
		t.Fatal("the attachment has ended")
		return nil
	}
	if got := awaitMaster(); got.Lent {
		t.Errorf("at first %+v", got)
	}
	w.send(api.Input{Key: &keys.Key{Code: 'a', Text: "a"}})
	w.send(api.Input{Master: true})
	lent := awaitMaster()
	if !lent.Lent {
		t.Fatalf("after a key %+v", lent)
	}
	defer lent.File.Close()
	if _, err := lent.File.WriteString("key"); err != nil {
		t.Fatal(err)
	}
	w.send(api.Input{Typed: []byte("key")})
	m.awaitScreen(p.ID, "ready>akey")
}

func TestCommandTypedIntoTheMasterIsInTheHistory(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	p := m.start("bash", "--norc")
	m.sh(p.ID, "true")
	w := m.attach(api.AttachOptions{ID: p.ID, Master: true, Cols: 80, Rows: 24})
	path := direct.NewPath(w.a.Send)
	defer path.Close()
	awaitMaster := func(lent bool) {
		t.Helper()
		limit := time.After(wait.Timeout)
		for {
			select {
			case out := <-w.in:
				if out.Master == nil {
					continue
				}
				path.Receive(out.Master)
				if out.Master.Lent != lent {
					t.Fatalf("%+v", out.Master)
				}
				return
			case <-limit:
				t.Fatal("no message about the master")
			}
		}
	}
	for _, command := range []string{"echo one", "false", "echo $((1+1)) # three"} {
		awaitMaster(false)
		for i, c := range []byte(command + "\r") {
			if _, err := path.Type([]byte{c}, api.Input{Bytes: []byte{c}}); err != nil {
				t.Fatal(err)
			}
			if i == 0 || c == '\r' {
				awaitMaster(true)
			}
		}
		m.eventually(command+" in the history", func() bool {
			rows := m.history(api.HistorySearchInput{})
			return len(rows) > 0 && rows[0].Command.Command == command && rows[0].Actor == "person"
		})
		// The shell is free at once.
		wantRun(m, p.ID, "echo free", "free\n", 0)
	}
}

func TestAgentReceivesNoMaster(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	p := m.start("cat")
	conn, err := client.Connect(context.Background(), client.Options{DataDir: m.dir, Version: "1.2.3", Name: "agent:tester/1", Owner: "tester-1"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := conn.Attach(context.Background(), api.AttachOptions{ID: p.ID, Raw: true, Direct: true, Master: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	out, err := a.Receive()
	if err != nil || out.Direct != nil || out.Master != nil || out.Bytes == nil {
		t.Fatalf("instead of a repaint %+v, %v", out, err)
	}
	if f := a.TakePassed(); f != nil {
		t.Error("a descriptor came")
	}
	// The engine also refuses a terminal that the agent hands over unasked.
	if err := a.HandOver(int(os.Stdout.Fd()), false); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Receive(); err == nil {
		t.Error("the attachment goes on")
	}
}
