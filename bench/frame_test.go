package bench

import (
	"bytes"
	"os/exec"
	"testing"
	"time"

	"github.com/creack/pty"
)

const (
	// frames is the number of times a dashboard is started.
	frames = 20
	// shownWord is the first text of a session. drawer prints it without containing it, because
	// the dashboard may show the command in a title.
	shownWord = "first-frame"
	drawer    = `stty raw -echo; printf 'first-%s\r\n' frame; exec cat`
)

// BenchmarkFirstFrame measures the time from the start of a client to a session's text on the
// user's terminal, with a running engine or server.
func BenchmarkFirstFrame(b *testing.B) {
	b.Run("dashboard", func(b *testing.B) {
		p := build(b)
		p.run(b, "new", "--size", "120x36", "--", "sh", "-c", drawer)
		benchmarkFrame(b, func() *exec.Cmd { return p.command() })
	})
	peer, ok := tmux(b)
	if !ok {
		return
	}
	peer.run(b, "new-session", "-d", "-s", "drawn", "-x", "120", "-y", "36", drawer)
	b.Run("tmux new-session", func(b *testing.B) {
		benchmarkFrame(b, func() *exec.Cmd { return peer.command("new-session", drawer) })
	})
	b.Run("tmux attach", func(b *testing.B) {
		benchmarkFrame(b, func() *exec.Cmd { return peer.command("attach", "-t", "drawn") })
	})
}

// benchmarkFrame starts a client repeatedly, and reports the median times to its first output and
// to the session's text.
func benchmarkFrame(b *testing.B, client func() *exec.Cmd) {
	for b.Loop() {
		var first, shown []time.Duration
		for range frames {
			begun, whole := timeFrame(b, client())
			first, shown = append(first, begun), append(shown, whole)
		}
		reportMedian(b, first, "ms-first-byte")
		reportMedian(b, shown, "ms-first-frame")
	}
}

func timeFrame(b *testing.B, cmd *exec.Cmd) (first, shown time.Duration) {
	b.Helper()
	start := time.Now()
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 120, Rows: 36})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
		master.Close()
	}()
	late := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
	defer late.Stop()
	var seen []byte
	buf := make([]byte, 64<<10)
	for {
		n, err := master.Read(buf)
		if err != nil {
			b.Fatalf("the program exited before showing the session; it printed %q", seen)
		}
		if first == 0 {
			first = time.Since(start)
		}
		if seen = append(seen, buf[:n]...); bytes.Contains(seen, []byte(shownWord)) {
			return first, time.Since(start)
		}
	}
}
