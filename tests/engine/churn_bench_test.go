package engine

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"tandem/engine/api"
)

// rssOf returns the anonymous memory of a process in MB.
func rssOf(b *testing.B, pid int) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		var kB float64
		if n, _ := fmt.Sscanf(line, "RssAnon: %g kB", &kB); n == 1 {
			return kB / 1000
		}
	}
	b.Fatalf("process %d has no memory", pid)
	return 0
}

// BenchmarkChurn starts and ends sessions, processes and attachments, and reports the engine's
// memory at intervals: it should reach a plateau. Some sessions run throughout, like a user's, and
// half of the others stay listed after their exit.
func BenchmarkChurn(b *testing.B) {
	m := startMachine(b)
	var kept []string
	for range 10 {
		kept = append(kept, m.start("sh", "-c", "seq 20000; read x").ID)
	}
	look := func(id string) {
		a, err := m.client.Attach(context.Background(), api.AttachOptions{ID: id, Cols: 160, Rows: 50})
		if err != nil {
			b.Fatal(err)
		}
		defer a.Close()
		for {
			out, err := a.Receive()
			if err != nil {
				b.Fatal(err)
			}
			if out.Frame != nil {
				return
			}
		}
	}
	pid := m.info().EnginePID
	n := 0
	for b.Loop() {
		p := m.start("sh", "-c", "seq 3000; read x")
		look(p.ID)
		look(kept[n%len(kept)])
		call(m, api.SessionKill, api.IDInput{ID: p.ID})
		m.awaitEnd(p.ID)
		if n%2 == 0 {
			call(m, api.ProcessRemove, api.IDInput{ID: p.ID})
		}
		call(m, api.Exec, api.ExecInput{Command: []string{"true"}})
		if n++; n%1000 == 0 {
			b.Logf("%6d rounds: %6.1f MB", n, rssOf(b, pid))
		}
	}
	b.ReportMetric(rssOf(b, pid), "MB")
}
