package bench

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

const (
	// turns is the number of rounds for each peer, and keystrokes the number of keys pressed in
	// one.
	turns      = 20
	keystrokes = 50
	// minPause and maxPause are the bounds of pauses between keys.
	minPause, maxPause = 12 * time.Millisecond, 18 * time.Millisecond
)

// echoer is a program that sends every byte back immediately.
const echoer = `stty raw -echo; printf 'go\r\n'; exec cat`

// BenchmarkEcho measures the time from a key to its echo on the user's terminal, and prints a
// table: a bare PTY, dtach and tmux if installed, `tandem attach`, and a pane of the dashboard.
// They take turns, so that other load on the machine affects all of them alike:
//
//	go test -run xxx -bench 'Echo$' -benchtime 1x ./bench
func BenchmarkEcho(b *testing.B) {
	peers := openEchoPeers(b)
	for b.Loop() {
		for range turns {
			for _, e := range peers {
				e.press(b, keystrokes)
			}
		}
	}
	printEchoes(b, "a key to its echo", peers)
}

// BenchmarkEchoTyping is BenchmarkEcho for keys typed 12 to 18 ms apart, as by a fast typist or a
// key held down. Every process has gone to sleep in between:
//
//	go test -run xxx -bench 'EchoTyping$' -benchtime 1x ./bench
func BenchmarkEchoTyping(b *testing.B) {
	peers := openEchoPeers(b)
	for _, e := range peers {
		e.pauses = rand.New(rand.NewPCG(1, 2))
	}
	for b.Loop() {
		for range turns / 2 {
			for _, e := range peers {
				e.press(b, keystrokes)
			}
		}
	}
	printEchoes(b, "a key to its echo", peers)
}

// BenchmarkEchoBesideFlood measures the time from a key to its echo in a pane of the dashboard,
// alone and beside a session that prints without pause.
func BenchmarkEchoBesideFlood(b *testing.B) {
	p := build(b).withNewData(b)
	p.run(b, "new", "--size", "80x24", "--name", "echo", "--", "sh", "-c", echoer)
	for b.Loop() {
		alone := openEcho(b, "alone", p.command())
		alone.press(b, turns*keystrokes)
		alone.cmd.Process.Kill()
		beside := openEcho(b, "beside yes", p.command(), "\x02%", "exec yes\r", "\x02h")
		beside.press(b, turns*keystrokes)
		printEchoes(b, "a key to its echo", []*echoTerminal{alone, beside})
	}
}

// openEchoPeers starts an echoing program behind each peer, and waits until all are quiet.
func openEchoPeers(b *testing.B) []*echoTerminal {
	peers := []*echoTerminal{openEcho(b, "bare", exec.Command("sh", "-c", echoer))}
	if _, err := exec.LookPath("dtach"); err == nil {
		dir := b.TempDir()
		b.Cleanup(func() { endDtach(b, filepath.Join(dir, "pids")) })
		tells := "echo $PPID $$ >'" + filepath.Join(dir, "pids") + "'; "
		peers = append(peers, openEcho(b, "dtach", exec.Command("dtach", "-A", filepath.Join(dir, "dtach"), "-r", "none", "sh", "-c", tells+echoer)))
	}
	if peer, ok := tmux(b); ok {
		peers = append(peers, openEcho(b, "tmux", peer.command("new-session", echoer)))
	}
	p := build(b)
	for _, kind := range []struct {
		name string
		args []string
	}{{"attach", []string{"attach", "echo"}}, {"dashboard", nil}} {
		p := p.withNewData(b)
		p.run(b, "new", "--size", "80x24", "--name", "echo", "--", "sh", "-c", echoer)
		peers = append(peers, openEcho(b, kind.name, p.command(kind.args...)))
	}
	return peers
}

// endDtach stops dtach's daemon and the program on its terminal. file contains both pids.
func endDtach(b *testing.B, file string) {
	b.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		b.Error(err)
		return
	}
	pids := strings.Fields(string(text))
	endDaemon(b, func() { _ = syscall.Kill(parseNumber(b, pids[0]), syscall.SIGTERM) }, pids...)
}

// An echoTerminal is a terminal with an echoing program, and the echo times measured in it.
type echoTerminal struct {
	name   string
	cmd    *exec.Cmd
	screen *os.File
	chunks <-chan []byte
	times  []time.Duration
	pauses *rand.Rand // for pauses between keys; nil without any
}

// openEcho starts cmd on a terminal of 120×36, presses the keys first, and waits until the program
// is ready.
func openEcho(b *testing.B, name string, cmd *exec.Cmd, first ...string) *echoTerminal {
	b.Helper()
	return openPeer(b, name, cmd, pty.Winsize{Cols: 120, Rows: 36}, "go", first...)
}

// openPeer is openEcho for any size, and a program that prints ready.
func openPeer(b *testing.B, name string, cmd *exec.Cmd, size pty.Winsize, ready string, first ...string) *echoTerminal {
	b.Helper()
	e := &echoTerminal{name: name, cmd: cmd}
	e.screen, e.chunks = openTerminalOf(b, cmd, size, 0)
	await(b, e.chunks, []byte(ready))
	await(b, e.chunks, nil)
	for _, keys := range first {
		e.send(b, keys)
		await(b, e.chunks, nil)
	}
	return e
}

// send types keys.
func (e *echoTerminal) send(b *testing.B, keys string) {
	b.Helper()
	if _, err := e.screen.WriteString(keys); err != nil {
		b.Fatal(err)
	}
}

// press types n letters, a different one each time, and waits for each echo. The letters occur in
// no escape sequence.
func (e *echoTerminal) press(b *testing.B, n int) {
	b.Helper()
	for range n {
		if e.pauses != nil {
			time.Sleep(minPause + time.Duration(e.pauses.Int64N(int64(maxPause-minPause))))
		}
		letter := []byte(string(rune('а' + len(e.times)%32)))
		start := time.Now()
		if _, err := e.screen.Write(letter); err != nil {
			b.Fatal(err)
		}
		await(b, e.chunks, letter)
		e.times = append(e.times, time.Since(start))
	}
}

// printEchoes logs the table of medians and 99th percentiles.
func printEchoes(b *testing.B, what string, peers []*echoTerminal) {
	table := "milliseconds from " + what + "\n" + fmt.Sprintf("%-24s %8s %8s\n", "", "median", "p99")
	for _, e := range peers {
		slices.Sort(e.times)
		table += fmt.Sprintf("%-24s %8.3f %8.3f\n", e.name, percentile(e.times, 50), percentile(e.times, 99))
		b.ReportMetric(percentile(e.times, 50), "ms-"+strings.ReplaceAll(e.name, " ", "-"))
	}
	b.Log(table)
}

// percentile returns a percentile of sorted times in milliseconds.
func percentile(times []time.Duration, percent int) float64 {
	return float64(times[len(times)*percent/100].Microseconds()) / 1000
}

// openTerminal runs cmd on a terminal of 120×36, which answers no queries, and delivers its
// output.
func openTerminal(b *testing.B, cmd *exec.Cmd) (*os.File, <-chan []byte) {
	b.Helper()
	return openTerminalOf(b, cmd, pty.Winsize{Cols: 120, Rows: 36}, 0)
}

// openTerminalOf is openTerminal for any size. A rate limits how many bytes per second the terminal
// takes; 0 is no limit.
func openTerminalOf(b *testing.B, cmd *exec.Cmd, size pty.Winsize, rate int) (*os.File, <-chan []byte) {
	b.Helper()
	master, err := pty.StartWithSize(cmd, &size)
	if err != nil {
		b.Fatal(err)
	}
	chunks := make(chan []byte, 1024)
	go func() {
		defer close(chunks)
		buf := make([]byte, 64<<10)
		if rate > 0 {
			buf = buf[:1<<10]
		}
		for {
			n, err := master.Read(buf)
			if err != nil {
				return
			}
			chunks <- bytes.Clone(buf[:n])
			if rate > 0 {
				time.Sleep(time.Duration(n) * time.Second / time.Duration(rate))
			}
		}
	}()
	b.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		master.Close()
	})
	return master, chunks
}

// await reads until want has arrived. If want is nil, it reads until nothing has arrived for a
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
				b.Fatalf("the program exited; it printed %q", seen)
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
