package replies

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// shell is the pid of the shell.
const shell = 100

// A fakeForeground plays the terminal and its shell.
type fakeForeground struct {
	pid              int // process group in the foreground
	reads            bool
	output           bool // there is unread output
	running, between bool // according to the shell's marks
}

func (f *fakeForeground) ForegroundGroup() (group int, own bool) { return f.pid, f.pid == shell }

func (f *fakeForeground) ForegroundReads() bool { return f.reads && !(f.pid == shell && f.output) }

func (f *fakeForeground) IsRunning() bool { return f.running }

func (f *fakeForeground) IsBetween() bool { return f.between }

func TestRepliesReachOnlyTheProgramThatAsked(t *testing.T) {
	const program, other, never = 200, 300, -1
	atPrompt := fakeForeground{pid: shell, reads: true}
	for name, c := range map[string]struct {
		asks fakeForeground // at the query
		then fakeForeground // 20 ms later
		want time.Duration  // until the reply is written; below zero: never
	}{
		"the shell at its prompt":                     {atPrompt, atPrompt, 0},
		"a shell without marks":                       {fakeForeground{pid: shell}, atPrompt, 0},
		"no terminal":                                 {fakeForeground{}, fakeForeground{}, 0},
		"a program that reads":                        {fakeForeground{pid: program, reads: true, running: true}, atPrompt, 0},
		"a program that reads soon":                   {fakeForeground{pid: program, running: true}, fakeForeground{pid: program, reads: true, running: true}, 31 * time.Millisecond},
		"a program that never waits":                  {fakeForeground{pid: program, running: true}, fakeForeground{pid: program, running: true}, 1027 * time.Millisecond},
		"a program that exits":                        {fakeForeground{pid: program, running: true}, fakeForeground{pid: shell, reads: true, running: true, output: true}, never},
		"a program replaced by another":               {fakeForeground{pid: program, running: true}, fakeForeground{pid: other, reads: true, running: true}, never},
		"a builtin that reads":                        {fakeForeground{pid: shell, reads: true, running: true}, atPrompt, 0},
		"a builtin that reads soon":                   {fakeForeground{pid: shell, running: true}, fakeForeground{pid: shell, reads: true, running: true}, 31 * time.Millisecond},
		"a builtin that ends":                         {fakeForeground{pid: shell, running: true}, fakeForeground{pid: shell, between: true}, never},
		"a builtin that has ended, marks unread":      {fakeForeground{pid: shell, reads: true, running: true, output: true}, atPrompt, never},
		"a builtin before a program that never reads": {fakeForeground{pid: shell, running: true}, fakeForeground{pid: program, running: true}, never},
		"a builtin before a program that reads":       {fakeForeground{pid: shell, running: true}, fakeForeground{pid: program, reads: true, running: true}, 31 * time.Millisecond},
		"a prompt that measures":                      {fakeForeground{pid: shell, between: true}, fakeForeground{pid: shell, reads: true, between: true}, 31 * time.Millisecond},
		"a hook that asks only":                       {fakeForeground{pid: shell, between: true}, atPrompt, never},
	} {
		synctest.Test(t, func(t *testing.T) {
			now := c.asks
			written := time.Duration(never)
			began := time.Now()
			w := New(func(p []byte) {
				if string(p) != "reply" || written != never {
					t.Errorf("%s: wrote %q after %v", name, p, written)
				}
				written = time.Since(began)
			}, &now)
			text := []byte("reply")
			w.Add(text)
			copy(text, "other") // the emulator uses the space again
			change := time.After(20 * time.Millisecond)
			for end := time.After(5 * time.Second); ; {
				select {
				case <-w.Due():
					w.Settle()
					continue
				case <-change:
					now = c.then
					continue
				case <-end:
				}
				break
			}
			if written != c.want {
				t.Errorf("%s: written after %v, want %v", name, written, c.want)
			}
		})
	}
}

func TestHeldRepliesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := fakeForeground{pid: 200, running: true}
		var written strings.Builder
		w := New(func(p []byte) { written.Write(p) }, &now)
		for range 1000 {
			w.Add([]byte("r"))
		}
		now.reads = true
		w.Settle()
		if written.Len() != maxHeldReplies || len(w.held) > 0 {
			t.Errorf("wrote %d, holds %d", written.Len(), len(w.held))
		}
		time.Sleep(time.Second) // timers end
	})
}
