package bench

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/creack/pty"
)

// keystrokes is how many keys one echo benchmark presses.
const keystrokes = 500

// echoer is a program that sends every byte back at once.
const echoer = `stty raw -echo; printf 'go\r\n'; exec cat`

// BenchmarkEcho measures the time from a key to its echo on the person's
// terminal: through a bare PTY, `tandem attach`, a pane of the dashboard, one that is zoomed, and tmux.
func BenchmarkEcho(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		benchmarkEcho(b, exec.Command("sh", "-c", echoer))
	})
	b.Run("attach", func(b *testing.B) {
		p := build(b)
		id := p.run(b, "new", "--size", "80x24", "--", "sh", "-c", echoer)
		benchmarkEcho(b, p.command("attach", id))
	})
	b.Run("dashboard", func(b *testing.B) {
		p := build(b)
		p.run(b, "new", "--size", "80x24", "--", "sh", "-c", echoer)
		benchmarkEcho(b, p.command())
	})
	b.Run("zoom", func(b *testing.B) {
		p := build(b)
		p.run(b, "new", "--size", "80x24", "--", "sh", "-c", echoer)
		benchmarkEcho(b, p.command(), "\x02z")
	})
	b.Run("tmux", func(b *testing.B) {
		if peer, ok := tmux(b); ok {
			benchmarkEcho(b, peer.command("new-session", echoer))
		}
	})
}

// benchmarkEcho presses letters that occur in no escape sequence, each a new
// one, and waits for each to come back. Other keys may be pressed first.
func benchmarkEcho(b *testing.B, cmd *exec.Cmd, first ...string) {
	screen, chunks := openTerminal(b, cmd)
	await(b, chunks, []byte("go"))
	await(b, chunks, nil)
	for _, keys := range first {
		if _, err := screen.WriteString(keys); err != nil {
			b.Fatal(err)
		}
		await(b, chunks, nil)
	}
	timeKeys(b, screen, chunks)
}

// timeKeys presses keys, waits for the echo of each, and reports the times.
func timeKeys(b *testing.B, screen *os.File, chunks <-chan []byte) {
	b.Helper()
	for b.Loop() {
		times := make([]time.Duration, 0, keystrokes)
		for i := range keystrokes {
			letter := []byte(string(rune('а' + i%32)))
			start := time.Now()
			if _, err := screen.Write(letter); err != nil {
				b.Fatal(err)
			}
			await(b, chunks, letter)
			times = append(times, time.Since(start))
		}
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "ms-median")
		b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "ms-p99")
	}
}

// openTerminal runs cmd on a terminal of 120×36 that answers no queries, and
// delivers what it prints.
func openTerminal(b *testing.B, cmd *exec.Cmd) (*os.File, <-chan []byte) {
	b.Helper()
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 120, Rows: 36})
	if err != nil {
		b.Fatal(err)
	}
	chunks := make(chan []byte, 1024)
	go func() {
		defer close(chunks)
		buf := make([]byte, 64<<10)
		for {
			n, err := master.Read(buf)
			if err != nil {
				return
			}
			chunks <- bytes.Clone(buf[:n])
		}
	}()
	b.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		master.Close()
	})
	return master, chunks
}

// await reads until want has come; without want, until nothing came for a
// moment, so that start-up is over.
func await(b *testing.B, chunks <-chan []byte, want []byte) {
	b.Helper()
	limit := 10 * time.Second
	if want == nil {
		limit = 500 * time.Millisecond
	}
	var seen []byte
	timeout := time.After(limit)
	for {
		select {
		case chunk, ok := <-chunks:
			if !ok {
				b.Fatalf("the program ended; it printed %q", seen)
			}
			seen = append(seen, chunk...)
			if want != nil && bytes.Contains(seen, want) {
				return
			}
		case <-timeout:
			if want == nil {
				return
			}
			b.Fatalf("no %q within %v; got %q", want, limit, seen)
		}
	}
}
