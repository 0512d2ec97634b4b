package screen

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// A readTerminal is a terminal that a Reader reads. Text that the test writes to it arrives as if
// typed.
type readTerminal struct {
	*os.File
	t      *testing.T
	reader *Reader
	input  *Input
	news   chan struct{}
}

func newReadTerminal(t *testing.T) *readTerminal {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r := &readTerminal{File: write, t: t, news: make(chan struct{}, 1)}
	r.input = &Input{Notify: func() { notifyChan(r.news) }}
	if r.reader, err = NewReader(read, r.input); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.reader.Close()
		read.Close()
		write.Close()
	})
	return r
}

// awaitEvents waits for n events.
func (r *readTerminal) awaitEvents(n int) []string {
	r.t.Helper()
	for r.input.Len() < n {
		<-r.news
	}
	return eventNames(r.input.Drain())
}

func TestReaderSeparatesKeysFromReplies(t *testing.T) {
	r := newReadTerminal(t)
	r.reader.Start()
	const reply = "\x1b[?2026;2$y"
	r.WriteString("a" + reply + "b")
	got := make([]byte, len(reply))
	if _, err := io.ReadFull(r.reader.Replies(), got); err != nil || string(got) != reply {
		t.Errorf("the reply is %q, %v", got, err)
	}
	if d := cmp.Diff([]string{"a", "b"}, r.awaitEvents(2)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestLoneEscapeIsKeyButSplitSequenceIsNot(t *testing.T) {
	r := newReadTerminal(t)
	r.reader.Start()
	r.WriteString("\x1b")
	if d := cmp.Diff([]string{"esc"}, r.awaitEvents(1)); d != "" {
		t.Errorf("a lone escape (-want +got)\n%s", d)
	}
	r.reader.Stop()
	r.input.Feed([]byte("\x1b["))
	r.input.Feed([]byte("5~"))
	if d := cmp.Diff([]string{"pgup"}, eventNames(r.input.Drain())); d != "" {
		t.Errorf("a sequence in two pieces (-want +got)\n%s", d)
	}
}

func TestMouseReportAndCharacterSplitBySlowLinkAreJoined(t *testing.T) {
	r := newReadTerminal(t)
	r.reader.Start()
	for _, c := range []struct{ first, rest, want string }{{"\x1b[<0;3", ";4M", "mouse"}, {"\xe6\xbc", "\xa2", "漢"}} {
		r.WriteString(c.first)
		slow := time.AfterFunc(2*escapeWait, func() { r.WriteString(c.rest) })
		defer slow.Stop()
		if d := cmp.Diff([]string{c.want}, r.awaitEvents(1)); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	}
}

func TestStoppedReaderLeavesInputToTheNext(t *testing.T) {
	r := newReadTerminal(t)
	r.reader.Start()
	r.WriteString("a")
	r.awaitEvents(1)
	r.reader.Stop()
	r.WriteString("b")
	buffer := make([]byte, 10)
	if n, err := unix.Read(int(r.reader.file.Fd()), buffer); err != nil || string(buffer[:n]) != "b" {
		t.Errorf("the next reader gets %q, %v", buffer[:max(n, 0)], err)
	}
	r.reader.Start()
	r.WriteString("c")
	if d := cmp.Diff([]string{"c"}, r.awaitEvents(1)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestReaderFinishesASequenceBeforeItStops(t *testing.T) {
	r := newReadTerminal(t)
	r.reader.Start()
	r.WriteString("a\x1b[")
	r.awaitEvents(1)
	rest := time.AfterFunc(escapeWait/2, func() { r.WriteString("Ab") })
	defer rest.Stop()
	r.reader.Stop()
	if r.input.isUnfinished() {
		t.Error("half a sequence is left")
	}
}

func TestReaderReportsATerminalThatCannotBeRead(t *testing.T) {
	for name, breakOff := range map[string]func(t *testing.T, r *readTerminal){
		"it hangs up": func(_ *testing.T, r *readTerminal) { r.Close() },
		"an error": func(t *testing.T, r *readTerminal) {
			directory, err := os.Open(".")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { directory.Close() })
			r.reader.file = directory
			r.WriteString("a")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReadTerminal(t)
			var failed error // set before the loop has returned
			r.reader.Fail = func(err error) { failed = err }
			breakOff(t, r)
			r.reader.Start()
			if <-r.reader.done; failed == nil {
				t.Error("no error")
			}
		})
	}
}
