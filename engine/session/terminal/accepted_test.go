package terminal

import (
	"io"
	"strings"
	"testing"

	"tandem/engine/api"
)

// acceptedReports returns a channel of the numbers of accepted messages reported to a viewer.
func acceptedReports(f *fakeStream) <-chan uint64 {
	reports := make(chan uint64, 1000)
	go func() {
		for {
			select {
			case out := <-f.out:
				if out.Accepted != nil {
					reports <- *out.Accepted
				}
			case <-f.closed:
				return
			}
		}
	}()
	return reports
}

func TestAcceptedTextIsReportedOnceTheTerminalHasIt(t *testing.T) {
	for _, raw := range []bool{false, true} {
		master, slave := rawPTY(t)
		s := newMemorySession(t, &memoryLog{}, func(o *testOptions) { o.Master = master })
		f := view(t, s, api.AttachOptions{Raw: raw, Input: "x", Master: true})
		reports := acceptedReports(f)
		text := strings.Repeat("0123456789", 20<<10) // more than a PTY holds
		f.in <- api.Input{Bytes: []byte(text)}
		f.in <- api.Input{Paste: new(strings.Repeat("pasted", 20))}
		select {
		case n := <-reports:
			t.Errorf("raw %v: message %d is reported before the program reads", raw, n)
		default:
		}
		go io.CopyN(io.Discard, slave, int64(len(text)+20*len("pasted")))
		awaitReport(reports, 2)
	}
}

// awaitReport waits for the report of a message.
func awaitReport(reports <-chan uint64, want uint64) {
	for n := range reports {
		if n == want {
			return
		}
	}
}

func TestDroppedTextOfAReadOnlyViewerIsReported(t *testing.T) {
	master, _ := rawPTY(t)
	s := newMemorySession(t, &memoryLog{}, func(o *testOptions) { o.Master = master })
	v := newViewer(api.AttachOptions{Input: "x"})
	v.outside = true
	s.keyboard.takeOver(v, func() {})
	if err := (attachment{session: s, viewer: v}).handleInput(t.Context(), api.Input{Bytes: []byte("dropped")}); err != nil {
		t.Fatal(err)
	}
	if n := v.input.from.done.Load(); n != 1 {
		t.Errorf("message %d is reported", n)
	}
}

func TestInterruptDiscardsUnreadInput(t *testing.T) {
	master, slave := openPTY(t)
	s := newMemorySession(t, &memoryLog{}, func(o *testOptions) { o.Master = master })
	f := view(t, s, api.AttachOptions{Input: "x"})
	reports := acceptedReports(f)
	text := strings.Repeat("a line\n", 20<<10)
	f.in <- api.Input{Bytes: []byte(text)}
	f.in <- api.Input{Bytes: []byte("\x03")}
	f.in <- api.Input{Bytes: []byte("next\n")}
	buffer := make([]byte, 100)
	if n, err := slave.Read(buffer); err != nil || string(buffer[:n]) != "next\n" {
		t.Errorf("after the interrupt, the program reads %q, %v", buffer[:n], err)
	}
	if s.Facts().Interrupt.IsZero() {
		t.Error("the interrupt is not recorded")
	}
	// The two short messages are reported along with other output, or with a longer message.
	f.in <- api.Input{Bytes: []byte(strings.Repeat("x", 64) + "\n")}
	awaitReport(reports, 4)
}

func TestCtrlCInARawTerminalIsNotAnInterrupt(t *testing.T) {
	master, slave := rawPTY(t)
	s := newMemorySession(t, &memoryLog{}, func(o *testOptions) { o.Master = master })
	f := view(t, s, api.AttachOptions{Input: "x"})
	acceptedReports(f)
	text := strings.Repeat("0123456789", 20<<10)
	f.in <- api.Input{Bytes: []byte(text)}
	f.in <- api.Input{Bytes: []byte("\x03")}
	got := make([]byte, len(text)+1)
	if _, err := io.ReadFull(slave, got); err != nil || string(got) != text+"\x03" {
		t.Errorf("the program reads other text, %v", err)
	}
	if at := s.Facts().Interrupt; !at.IsZero() {
		t.Errorf("an interrupt at %v", at)
	}
}
