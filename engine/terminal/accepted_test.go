package terminal

import (
	"io"
	"strings"
	"testing"

	"tandem/engine/api"
)

// acceptedReports returns the reports of a viewer as they come.
func acceptedReports(f *fakeStream) <-chan int64 {
	reports := make(chan int64, 1000)
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
		s := newMemorySession(t, &memoryLog{}, func(o *Options) { o.Master = master })
		f := view(t, s, api.AttachOptions{Raw: raw, Progress: true})
		reports := acceptedReports(f)
		if n := <-reports; n != 0 {
			t.Errorf("raw %v: first report %d", raw, n)
		}
		text := strings.Repeat("0123456789", 20<<10) // more than a PTY holds
		f.in <- api.Input{Bytes: []byte(text)}
		f.in <- api.Input{Paste: new("pasted")}
		select {
		case n := <-reports:
			t.Errorf("raw %v: %d bytes reported before the program reads", raw, n)
		default:
		}
		want := int64(len(text) + len("pasted"))
		go io.CopyN(io.Discard, slave, want)
		for n := range reports {
			if n == want {
				break
			}
		}
	}
}

func TestAcceptedTextOfAReadOnlyViewerIsReported(t *testing.T) {
	s := memorySession(t, &memoryLog{})
	v := newViewer(api.AttachOptions{Progress: true})
	v.outside = true
	if err := (attachment{session: s, viewer: v}).handleInput(t.Context(), api.Input{Bytes: []byte("dropped")}); err != nil {
		t.Fatal(err)
	}
	if n := v.progress.accepted.Load(); n != 7 {
		t.Errorf("%d bytes are reported", n)
	}
}

func TestInterruptDiscardsUnreadInput(t *testing.T) {
	master, slave := openPTY(t)
	s := newMemorySession(t, &memoryLog{}, func(o *Options) { o.Master = master })
	f := view(t, s, api.AttachOptions{Progress: true})
	reports := acceptedReports(f)
	<-reports
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
	want := int64(len(text) + len("\x03next\n"))
	for n := range reports {
		if n == want {
			break
		}
	}
}

func TestCtrlCInARawTerminalKeepsItsPlace(t *testing.T) {
	master, slave := rawPTY(t)
	s := newMemorySession(t, &memoryLog{}, func(o *Options) { o.Master = master })
	f := view(t, s, api.AttachOptions{Progress: true})
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
