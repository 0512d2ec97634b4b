package engine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"tandem/engine/api"
)

// floodSize is the output of one run of the throughput benchmarks.
const floodSize = 100 << 20

// floodFile creates a file of log lines.
func floodFile(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "flood")
	var text strings.Builder
	for i := 0; text.Len() < floodSize; i++ {
		fmt.Fprintf(&text, "2026-11-20T12:00:00.%06dZ INFO request served method=GET path=/v1/items/%d status=200\n", i%1e6, i)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkFlood compares a session without viewers with a bare reader of a PTY, alternating.
func BenchmarkFlood(b *testing.B) {
	path := floodFile(b)
	m := startMachine(b)
	var bare, session time.Duration
	for b.Loop() {
		bare += floodBare(b, path)
		session += m.flood(path)
	}
	speed := func(d time.Duration) float64 { return floodSize / 1e6 * float64(b.N) / d.Seconds() }
	b.ReportMetric(speed(bare), "MB/s-bare")
	b.ReportMetric(speed(session), "MB/s-session")
	b.ReportMetric(100*bare.Seconds()/session.Seconds(), "%")
}

func floodBare(b *testing.B, path string) time.Duration {
	cmd := exec.Command("cat", path)
	began := time.Now()
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 80, Rows: 24})
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	buffer := make([]byte, 64<<10)
	for {
		if _, err := f.Read(buffer); err != nil {
			break
		}
	}
	took := time.Since(began)
	cmd.Wait()
	return took
}

func (m *machine) flood(path string) time.Duration {
	began := time.Now()
	p := m.start("cat", path)
	m.awaitEnd(p.ID)
	took := time.Since(began)
	call(m, api.ProcessRemove, api.IDInput{ID: p.ID})
	return took
}

// BenchmarkMemory reports the memory of engine and keeper with a number of idle shells.
func BenchmarkMemory(b *testing.B) {
	for _, n := range []int{0, 1, 50, 200} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			m := startMachine(b)
			for range n {
				m.start("sh", "-c", "seq 1 2000; read x")
			}
			m.eventually("output", func() bool {
				for _, p := range call(m, api.SessionList, api.Empty{}).Sessions {
					if p.Terminal.Bytes < 8893+2000 {
						return false
					}
				}
				return true
			})
			for b.Loop() {
			}
			i := m.info()
			b.ReportMetric(residentMB(b, i.EnginePID), "MB-engine")
			b.ReportMetric(residentMB(b, i.KeeperPID), "MB-keeper")
		})
	}
}

// residentMB returns a process's memory in MB, without pages backed by files.
func residentMB(b *testing.B, pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmRSS:" {
			kb, _ := strconv.ParseFloat(f[1], 64)
			return kb / 1024
		}
	}
	b.Fatal("no VmRSS")
	return 0
}

// BenchmarkEcho measures the time from a key to its echo, as bytes and as a frame.
func BenchmarkEcho(b *testing.B) {
	for _, raw := range []bool{true, false} {
		b.Run(fmt.Sprintf("raw=%v", raw), func(b *testing.B) {
			m := startMachine(b)
			p := m.start("sh", "-c", "stty raw -echo; echo ready; exec cat")
			m.awaitScreen(p.ID, "ready")
			a, err := m.client.Attach(context.Background(), api.AttachOptions{ID: p.ID, Raw: raw, Cols: 80, Rows: 24})
			if err != nil {
				b.Fatal(err)
			}
			defer a.Close()
			a.Receive()
			for b.Loop() {
				if err := a.Send(api.Input{Bytes: []byte("x")}); err != nil {
					b.Fatal(err)
				}
				if _, err := a.Receive(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
