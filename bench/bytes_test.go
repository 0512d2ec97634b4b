package bench

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// An action is something that a user does in a program on a pane of 100×30.
type action struct {
	name  string
	needs string // the program
	start string // typed at the prompt; "" to stay there
	keys  []string
	lasts time.Duration // counted for this long; 0 for a second after the last key
	quit  string
}

var actions = []action{
	{name: "a key at a prompt", needs: "sh", keys: []string{"x"}, quit: "\x15"},
	{name: "vim: scroll one line (ctrl+e)", needs: "vim", start: "vim -u NONE -N echo_test.go\r", keys: []string{"\x05"}, quit: ":q!\r"},
	{name: "vim: j", needs: "vim", start: "vim -u NONE -N echo_test.go\r", keys: []string{"j"}, quit: ":q!\r"},
	{name: "vim: ctrl+d", needs: "vim", start: "vim -u NONE -N echo_test.go\r", keys: []string{"\x04"}, quit: ":q!\r"},
	{name: "less: j × 10", needs: "less", start: "less echo_test.go\r", keys: slices.Repeat([]string{"j"}, 10), quit: "q"},
	{name: "seq 100000", needs: "seq", keys: []string{"seq 100000\r"}},
	{name: "htop, 4 s", needs: "htop", start: "htop\r", lasts: 4 * time.Second, quit: "q"},
	{name: "top, 4 s", needs: "top", start: "top -d 1\r", lasts: 4 * time.Second, quit: "q"},
	{name: "idle, 3 s", needs: "sh", lasts: 3 * time.Second},
}

// BenchmarkBytes counts the bytes that reach the user's terminal for an action, and prints a
// table: a pane of the dashboard, `tandem attach`, tmux and no multiplexer. The terminal answers no
// queries.
//
//	go test -run xxx -bench Bytes -benchtime 1x ./bench
func BenchmarkBytes(b *testing.B) {
	peers := openBytePeers(b)
	fmt.Printf("\n%-32s", "bytes")
	for _, p := range peers {
		fmt.Printf("%12s", p.name)
	}
	for b.Loop() {
		for _, a := range actions {
			if _, err := exec.LookPath(a.needs); err != nil {
				b.Logf("%s is not installed", a.needs)
				continue
			}
			fmt.Printf("\n%-32s", a.name)
			for _, p := range peers {
				fmt.Printf("%12d", p.count(b, a))
			}
		}
		fmt.Println()
	}
}

// openBytePeers opens a shell on 100×30 cells behind each peer. Beside them, tmux needs a row and
// the dashboard four.
func openBytePeers(b *testing.B) (peers []*echoTerminal) {
	p := build(b)
	open := func(name string, rows uint16, cmd *exec.Cmd) {
		peers = append(peers, openPeer(b, name, cmd, pty.Winsize{Cols: 100, Rows: rows}, "ready>"))
	}
	for _, kind := range []struct {
		name string
		rows uint16
		args []string
	}{{"dashboard", 34, nil}, {"attach", 30, []string{"attach", "work"}}} {
		p := p.withNewData(b)
		p.run(b, "new", "--size", "100x30", "--name", "work", "--", "sh")
		open(kind.name, kind.rows, p.command(kind.args...))
		if got := p.run(b, "ls", "--json"); !strings.Contains(got, `"rows": 30`) {
			b.Errorf("the terminal of %s does not have 30 rows: %s", kind.name, got)
		}
	}
	if peer, ok := tmux(b); ok {
		open("tmux", 31, peer.command("new-session", "exec sh"))
	}
	shell := exec.Command("sh")
	shell.Env = p.env
	open("bare", 30, shell)
	return peers
}

// count does an action three times, and returns the median of the bytes that reach the terminal.
func (e *echoTerminal) count(b *testing.B, a action) int {
	e.send(b, a.start)
	receive(e.chunks, 2*time.Second) // until tmux has renamed its window
	var sizes []int
	for range 3 {
		size := 0
		for _, key := range a.keys {
			e.send(b, key)
			size += receive(e.chunks, 100*time.Millisecond)
		}
		sizes = append(sizes, size+receive(e.chunks, max(a.lasts, time.Second)))
	}
	e.send(b, a.quit)
	await(b, e.chunks, nil)
	slices.Sort(sizes)
	return sizes[1]
}

// receive counts what arrives within a time.
func receive(chunks <-chan []byte, wait time.Duration) (bytes int) {
	for end := time.After(wait); ; {
		select {
		case chunk := <-chunks:
			bytes += len(chunk)
		case <-end:
			return bytes
		}
	}
}
