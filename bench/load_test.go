package bench

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/creack/pty"
)

// BenchmarkLog sends 100 MB of log lines through an unwatched terminal of 80×24: to a bare
// reader, a Tandem session, and tmux.
func BenchmarkLog(b *testing.B) {
	log := logFile(b, 100<<20)
	b.Run("bare", func(b *testing.B) {
		b.SetBytes(100 << 20)
		for b.Loop() {
			cmd := exec.Command("cat", log)
			master, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 80, Rows: 24})
			if err != nil {
				b.Fatal(err)
			}
			io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{master}, make([]byte, 64<<10))
			cmd.Wait()
			master.Close()
		}
	})
	b.Run("tandem", func(b *testing.B) {
		p := build(b)
		p.run(b, "info")
		b.SetBytes(100 << 20)
		for b.Loop() {
			done := fifo(b)
			p.run(b, "new", "--size", "80x24", "--", "sh", "-c", "cat '"+log+"'; stty size >/dev/null; echo > '"+done+"'")
			readPipe(b, done)
		}
	})
	b.Run("tmux", func(b *testing.B) {
		peer, ok := tmux(b)
		if !ok {
			return
		}
		peer.run(b, "new-session", "-d", "-x", "80", "-y", "24", "exec sleep 1000")
		b.SetBytes(100 << 20)
		for b.Loop() {
			done := fifo(b)
			peer.run(b, "new-window", "cat '"+log+"'; stty size >/dev/null; echo > '"+done+"'")
			readPipe(b, done)
		}
	})
}

// logFile writes lines like those of a web server's log.
func logFile(b *testing.B, size int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "access.log")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for n, i := 0, 0; n < size; i++ {
		k, _ := fmt.Fprintf(w, "10.0.%d.%d - - [20/Nov/2026:10:%02d:%02d +0000] \"GET /items/%d HTTP/1.1\" 200 %d\n",
			i>>8&255, i&255, i/60%60, i%60, i, i*7919%100000)
		n += k
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

// fifo creates a named pipe for a program to signal its completion.
func fifo(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "done")
	if out, err := exec.Command("mkfifo", path).CombinedOutput(); err != nil {
		b.Fatalf("mkfifo: %v\n%s", err, out)
	}
	return path
}

func readPipe(b *testing.B, path string) {
	b.Helper()
	if _, err := os.ReadFile(path); err != nil {
		b.Fatal(err)
	}
}
