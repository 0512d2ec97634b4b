package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/client"
)

// An agent is a client of `tandem --serve` that writes and reads lines like a script.
type agent struct {
	b   *testing.B
	pid int
	in  io.WriteCloser
	out *bufio.Reader
	n   int
	end func()
}

// serve starts a server for an agent.
func (p program) serve(b *testing.B) *agent {
	b.Helper()
	return serveWith(b, p.command("--serve"))
}

// serveWith starts an MCP server from cmd.
func serveWith(b *testing.B, cmd *exec.Cmd) *agent {
	b.Helper()
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	a := &agent{b: b, pid: cmd.Process.Pid, in: in, out: bufio.NewReaderSize(out, 1<<20)}
	a.end = func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			b.Errorf("serve: %v", err)
		}
	}
	return a
}

// ask calls a method and returns the line of its answer, skipping earlier lines.
func (a *agent) ask(method, params string) []byte {
	a.b.Helper()
	a.n++
	fmt.Fprintf(a.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", a.n, method, params)
	mine := []byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,`, a.n))
	for {
		line, err := a.out.ReadBytes('\n')
		if err != nil {
			a.b.Fatal(err)
		}
		if bytes.HasPrefix(line, mine) {
			return line
		}
	}
}

func (a *agent) initialize() {
	a.b.Helper()
	a.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`)
	fmt.Fprintln(a.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (a *agent) exec(args string) []byte {
	a.b.Helper()
	return a.ask("tools/call", `{"name":"exec","arguments":`+args+`}`)
}

// rss returns a process's resident memory in MB: all of it, and the part not mapped from files.
func rss(b *testing.B, pid int) (all, own float64) {
	b.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, "VmRSS: %f kB", &kb); n == 1 {
			all = kb / 1024
		}
		if n, _ := fmt.Sscanf(line, "RssAnon: %f kB", &kb); n == 1 {
			own = kb / 1024
		}
	}
	return all, own
}

func median(times []time.Duration) float64 {
	slices.Sort(times)
	return times[len(times)/2].Seconds() * 1000
}

// BenchmarkAgentStart measures from the start of the server to its answer to initialize, with a
// running engine.
func BenchmarkAgentStart(b *testing.B) {
	p := build(b)
	p.run(b, "info")
	var times []time.Duration
	for range max(b.N, 15) {
		began := time.Now()
		a := p.serve(b)
		a.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`)
		times = append(times, time.Since(began))
		a.end()
	}
	b.ReportMetric(median(times), "ms-to-initialize")
}

// BenchmarkAgentExec runs `true` through a server, with and without a sandbox, and directly
// through the engine.
func BenchmarkAgentExec(b *testing.B) {
	p := build(b)
	a := p.serve(b)
	a.initialize()
	home, err := os.UserHomeDir()
	if err != nil {
		b.Fatal(err)
	}
	const plain = `{"command":"true"}`
	sandboxed := fmt.Sprintf(`{"command":"true","sandbox":{"filesystem":{"allowWrite":[%q],"denyRead":[%q]},"network":{"allowedDomains":[]}}}`, b.TempDir(), filepath.Join(home, ".ssh"))
	for _, args := range []string{plain, sandboxed} {
		if answer := a.exec(args); bytes.Contains(answer, []byte(`"isError":true`)) {
			b.Fatalf("%s gave %s", args, answer)
		}
	}
	var dir string
	for _, v := range p.env {
		if d, ok := strings.CutPrefix(v, "TANDEM_DATA_DIR="); ok {
			dir = d
		}
	}
	conn, err := client.Connect(context.Background(), client.Options{DataDir: dir, Name: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	in := api.ExecInput{Command: []string{"bash", "-c", "true"}, CWD: "/", Environ: api.Environ(os.Environ())}
	var through, confined, alone []time.Duration
	for range max(b.N, 200) {
		began := time.Now()
		a.exec(plain)
		through = append(through, time.Since(began))
		began = time.Now()
		a.exec(sandboxed)
		confined = append(confined, time.Since(began))
		began = time.Now()
		if _, err := api.Exec.Call(context.Background(), conn, in); err != nil {
			b.Fatal(err)
		}
		alone = append(alone, time.Since(began))
	}
	a.end()
	b.ReportMetric(median(through), "ms-through-serve")
	b.ReportMetric(median(confined), "ms-sandboxed")
	b.ReportMetric(median(confined)/median(through), "sandboxed/plain")
	b.ReportMetric(median(alone), "ms-engine-alone")
}

// BenchmarkAgentOutput returns 10 MB of output through the baseline and a server in turns, and
// reports the memory still in use afterwards.
func BenchmarkAgentOutput(b *testing.B) {
	p := build(b)
	floor := serveWith(b, baselineCommand())
	floor.initialize()
	a := p.serve(b)
	a.initialize()
	a.exec(`{"command":"true"}`)
	before, _ := rss(b, a.pid)
	const command = `{"command":"yes 0123456789abcdef | head -c 10000000"`
	returnOutput := func(a *agent, args string) time.Duration {
		began := time.Now()
		answer := a.exec(args)
		took := time.Since(began)
		if len(answer) < 10_000_000 || !json.Valid(answer) {
			b.Fatalf("an answer of %d bytes: %.300s", len(answer), answer)
		}
		return took
	}
	var times, floorTimes []time.Duration
	for range max(b.N, 5) {
		floorTimes = append(floorTimes, returnOutput(floor, command+"}"))
		times = append(times, returnOutput(a, command+`,"maxOutput":16000000}`))
	}
	floor.end()
	// The server returns memory to the system shortly after the answer.
	var after, own float64
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if after, own = rss(b, a.pid); after < 25 {
			break
		}
	}
	a.end()
	b.ReportMetric(median(times), "ms-10MB")
	b.ReportMetric(median(times)/median(floorTimes), "tandem/floor")
	b.ReportMetric(before, "MB-before")
	b.ReportMetric(after, "MB-after")
	b.ReportMetric(own, "MB-after-own")
}
