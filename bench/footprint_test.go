package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkIdle measures the CPU use of engine, keeper and dashboard over ten idle seconds, and
// that of tmux.
func BenchmarkIdle(b *testing.B) {
	const while = 10 * time.Second
	b.Run("tandem", func(b *testing.B) {
		p := build(b)
		cmd := p.command()
		_, chunks := openTerminal(b, cmd)
		await(b, chunks, []byte("ready>"))
		await(b, chunks, nil)
		i := p.info(b)
		for b.Loop() {
			used := cpuOver(b, while, i.EnginePID, i.KeeperPID, cmd.Process.Pid)
			b.ReportMetric(used[0], "%engine")
			b.ReportMetric(used[1], "%keeper")
			b.ReportMetric(used[2], "%dashboard")
		}
		idle := 0
		for len(chunks) > 0 {
			idle += len(<-chunks)
		}
		b.ReportMetric(float64(idle), "idle-bytes")
	})
	b.Run("tmux", func(b *testing.B) {
		peer, ok := tmux(b)
		if !ok {
			return
		}
		cmd := peer.command("new-session")
		_, chunks := openTerminal(b, cmd)
		await(b, chunks, []byte("0:sh")) // in its status bar
		await(b, chunks, nil)
		server := parseNumber(b, peer.run(b, "display-message", "-p", "#{pid}"))
		for b.Loop() {
			used := cpuOver(b, while, server, cmd.Process.Pid)
			b.ReportMetric(used[0], "%server")
			b.ReportMetric(used[1], "%client")
		}
	})
}

// BenchmarkMemory measures resident memory with 1, 50 and 200 idle shells.
func BenchmarkMemory(b *testing.B) {
	for _, sessions := range []int{1, 50, 200} {
		b.Run(fmt.Sprintf("tandem-%d", sessions), func(b *testing.B) {
			p := build(b)
			for b.Loop() {
				for range sessions {
					p.run(b, "new", "--size", "80x24")
				}
				i := p.info(b)
				b.ReportMetric(residentMB(b, i.EnginePID), "MB-engine")
				b.ReportMetric(residentMB(b, i.KeeperPID), "MB-keeper")
				p.run(b, "shutdown", "--all", "--yes")
			}
		})
		b.Run(fmt.Sprintf("tmux-%d", sessions), func(b *testing.B) {
			peer, ok := tmux(b)
			if !ok {
				return
			}
			for b.Loop() {
				for i := range sessions {
					peer.run(b, "new-session", "-d", "-s", strconv.Itoa(i), "-x", "80", "-y", "24")
				}
				b.ReportMetric(residentMB(b, parseNumber(b, peer.run(b, "display-message", "-p", "#{pid}"))), "MB-server")
				peer.run(b, "kill-server")
			}
		})
	}
}

// cpuOver sleeps for a while and returns the share of a core used by each process, in percent.
func cpuOver(b *testing.B, while time.Duration, pids ...int) []float64 {
	b.Helper()
	before := make([]time.Duration, len(pids))
	for i, pid := range pids {
		before[i] = cpuTime(b, pid)
	}
	time.Sleep(while)
	used := make([]float64, len(pids))
	for i, pid := range pids {
		used[i] = 100 * float64(cpuTime(b, pid)-before[i]) / float64(while)
	}
	return used
}

// cpuTime returns the CPU time of all threads of a process (proc(5), schedstat, first field, in
// nanoseconds).
func cpuTime(b *testing.B, pid int) (total time.Duration) {
	b.Helper()
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		total += time.Duration(parseNumber(b, strings.Fields(string(text))[0]))
	}
	return total
}

// residentMB returns a process's VmRSS in MB.
func residentMB(b *testing.B, pid int) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return float64(parseNumber(b, strings.Fields(rest)[0])) / 1024
		}
	}
	b.Fatalf("process %d has no VmRSS", pid)
	return 0
}

func parseNumber(b *testing.B, s string) int {
	b.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		b.Fatal(err)
	}
	return n
}
