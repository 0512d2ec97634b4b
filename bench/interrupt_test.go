package bench

import (
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/creack/pty"
)

// interrupts is how many times each peer's flood is interrupted.
const interrupts = 10

// flooder is a shell that runs a program without end until ctrl+c, and then prints a numbered line
// that the program does not print.
const flooder = `trap : INT; n=0; while :; do n=$((n+1)); printf 'go%%d.\r\n' $n; read x; %s; done`

// slowRate is a slow link's rate in bytes per second.
const slowRate = 20_000

// BenchmarkInterrupt measures the time from ctrl+c during a flood to the next prompt on the user's
// terminal, and prints a table: a bare PTY, tmux if installed, `tandem attach`, a pane of the
// dashboard and a zoomed one, on a fast terminal and on a slow one. A full screen of yes never changes,
// but that of seq does. They take turns:
//
//	go test -run xxx -bench Interrupt -benchtime 1x ./bench
func BenchmarkInterrupt(b *testing.B) {
	for _, load := range []struct {
		name, program string
		rate          int
	}{{"yes", "yes", 0}, {"yes-slow", "yes", slowRate}, {"seq-slow", "seq 1000000000", slowRate}} {
		b.Run(load.name, func(b *testing.B) {
			peers := openFloodPeers(b, fmt.Sprintf(flooder, load.program), load.rate)
			for b.Loop() {
				for range interrupts {
					for _, e := range peers {
						e.interrupt(b)
					}
				}
			}
			printEchoes(b, "ctrl+c to the prompt", peers)
		})
	}
}

// openFloodPeers starts a flooder behind each peer, on terminals of a rate.
func openFloodPeers(b *testing.B, flooder string, rate int) (peers []*echoTerminal) {
	open := func(name string, cmd *exec.Cmd, keys string) {
		e := &echoTerminal{name: name, cmd: cmd}
		e.screen, e.chunks = openTerminalOf(b, cmd, pty.Winsize{Cols: 120, Rows: 36}, rate)
		await(b, e.chunks, []byte("go1."))
		await(b, e.chunks, nil)
		e.send(b, keys)
		await(b, e.chunks, nil)
		peers = append(peers, e)
	}
	open("bare", exec.Command("sh", "-c", flooder), "")
	if peer, ok := tmux(b); ok {
		open("tmux", peer.command("new-session", flooder), "")
	}
	p := build(b)
	for _, kind := range []struct {
		name, keys string
		args       []string
	}{{"attach", "", []string{"attach", "flood"}}, {"pane", "", nil}, {"zoomed pane", "\x02z", nil}} {
		p := p.withNewData(b)
		p.run(b, "new", "--size", "80x24", "--name", "flood", "--", "sh", "-c", flooder)
		open(kind.name, p.command(kind.args...), kind.keys)
	}
	return peers
}

// interrupt lets the program flood the terminal for a second, and waits for the prompt after ctrl+c.
func (e *echoTerminal) interrupt(b *testing.B) {
	e.send(b, "\r")
	receive(e.chunks, time.Second)
	start := time.Now()
	e.send(b, "\x03")
	await(b, e.chunks, fmt.Appendf(nil, "go%d.", len(e.times)+2))
	e.times = append(e.times, time.Since(start))
	await(b, e.chunks, nil)
}
