package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/client"
)

// callers is the number of concurrent requests of a client.
const callers = 16

// BenchmarkStart measures the time from connecting until 100 and 500 processes run, according to
// the kernel instead of the manager, and from the request to stop them until none is left.
// Processes of "keep-alive" restart after a reboot, so their records are synced to disk.
func BenchmarkStart(b *testing.B) {
	for _, n := range []int{100, 500} {
		for _, keepAlive := range []bool{false, true} {
			name := fmt.Sprintf("tandem-%d", n)
			if keepAlive {
				name += "-keep-alive"
			}
			b.Run(name, func(b *testing.B) { benchmarkStart(b, n, keepAlive) })
		}
		b.Run(fmt.Sprintf("pm2-%d", n), func(b *testing.B) { benchmarkPM2(b, n) })
		b.Run(fmt.Sprintf("process-compose-%d", n), func(b *testing.B) { benchmarkCompose(b, n) })
		b.Run(fmt.Sprintf("mprocs-%d", n), func(b *testing.B) { benchmarkMprocs(b, n) })
	}
}

func benchmarkStart(b *testing.B, n int, keepAlive bool) {
	p := build(b)
	p.run(b, "info") // starts the engine; its start is measured elsewhere
	var times runTimes
	for b.Loop() {
		c := connect(b, p)
		mark := newSleep()
		began := time.Now()
		inParallel(b, n, func(ctx context.Context) error {
			_, err := api.ProcessStart.Call(ctx, c, api.ProcessStartInput{Command: mark.argv(), KeepAlive: keepAlive})
			return err
		})
		mark.await(b, n)
		times.started = append(times.started, time.Since(began))
		began = time.Now()
		p.run(b, "stop", "--all")
		mark.await(b, 0)
		times.stopped = append(times.stopped, time.Since(began))
		removeAll(b, c)
	}
	times.report(b)
}

// runTimes are the durations of one benchmark's runs.
type runTimes struct{ started, stopped []time.Duration }

func (t runTimes) report(b *testing.B) {
	reportMedian(b, t.started, "s-start")
	reportMedian(b, t.stopped, "s-stop")
}

// reportMedian reports the median of some times, in the unit at the beginning of the metric's
// name.
func reportMedian(b *testing.B, times []time.Duration, metric string) {
	b.Helper()
	slices.Sort(times)
	unit := time.Second
	if strings.HasPrefix(metric, "ms") {
		unit = time.Millisecond
	}
	b.ReportMetric(float64(times[len(times)/2])/float64(unit), metric)
}

// BenchmarkRestart measures the time from kill -9 of a process to the first output of the next
// one. The process runs for 30 seconds first, so the restart is not delayed.
func BenchmarkRestart(b *testing.B) {
	const healthy = 31 * time.Second
	for _, others := range []int{0, 500} {
		b.Run(fmt.Sprintf("tandem-among-%d", others), func(b *testing.B) {
			p := build(b)
			p.run(b, "info")
			c := connect(b, p)
			startSleeps(b, c, others)
			const n = 20
			dir := b.TempDir()
			flag := func(i int) string { return filepath.Join(dir, strconv.Itoa(i)) }
			for i := range n {
				call(b, c, api.ProcessStart, api.ProcessStartInput{KeepAlive: true,
					Command: []string{"sh", "-c", `echo $$ >"$0.new"; mv "$0.new" "$0"; exec sleep 1000`, flag(i)}})
			}
			for b.Loop() {
				time.Sleep(healthy)
				var times []time.Duration
				for i := range n {
					pid := parseNumber(b, readFile(b, flag(i)))
					os.Remove(flag(i))
					began := time.Now()
					if err := unix.Kill(pid, unix.SIGKILL); err != nil {
						b.Fatal(err)
					}
					for {
						if _, err := os.Stat(flag(i)); err == nil {
							break
						}
						time.Sleep(50 * time.Microsecond)
					}
					times = append(times, time.Since(began))
				}
				reportMedian(b, times, "ms-again")
				b.ReportMetric(times[len(times)-1].Seconds()*1000, "ms-slowest")
			}
		})
	}
}

// BenchmarkOneShot measures calls of `true` over an open connection, one after the other, and
// what remains after 2,000 calls, eight at a time.
func BenchmarkOneShot(b *testing.B) {
	b.Run("tandem", func(b *testing.B) {
		p := build(b)
		p.run(b, "info")
		c := connect(b, p)
		for b.Loop() {
			var times []time.Duration
			for range 300 {
				began := time.Now()
				out := call(b, c, api.Exec, api.ExecInput{Command: []string{"true"}})
				times = append(times, time.Since(began))
				if out.Process.ExitCode == nil || *out.Process.ExitCode != 0 {
					b.Fatalf("true exited with %+v", out.Process)
				}
			}
			reportMedian(b, times, "ms-median")
			b.ReportMetric(times[len(times)*99/100].Seconds()*1000, "ms-p99")
		}
	})
	b.Run("tandem-2000-by-8", benchmarkManyExecs)
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			var times []time.Duration
			for range 300 {
				began := time.Now()
				spawnTrue(b)
				times = append(times, time.Since(began))
			}
			reportMedian(b, times, "ms-median")
			b.ReportMetric(times[len(times)*99/100].Seconds()*1000, "ms-p99")
		}
	})
}

func benchmarkManyExecs(b *testing.B) {
	p := build(b)
	p.run(b, "info")
	c := connect(b, p)
	call(b, c, api.Exec, api.ExecInput{Command: []string{"true"}})
	for b.Loop() {
		i := p.info(b)
		before := [2]int{countDescriptors(b, i.EnginePID), countDescriptors(b, i.KeeperPID)}
		const total = 2000
		var count atomic.Int64
		began := time.Now()
		inParallelBy(b, 8, total, func(ctx context.Context) error {
			word := strconv.FormatInt(count.Add(1), 10)
			out, err := api.Exec.Call(ctx, c, api.ExecInput{Command: []string{"echo", word}})
			if err == nil && (out.Stdout != word+"\n" || out.Process.ExitCode == nil || *out.Process.ExitCode != 0) {
				err = fmt.Errorf("echo %s: %+v", word, out)
			}
			return err
		})
		b.ReportMetric(time.Since(began).Seconds()*1000/total, "ms-each")
		c.Close()
		time.Sleep(4 * time.Second) // the keeper releases memory when idle
		b.ReportMetric(float64(countDescriptors(b, i.EnginePID)-before[0]), "fds-engine")
		b.ReportMetric(float64(countDescriptors(b, i.KeeperPID)-before[1]), "fds-keeper")
		folders, err := os.ReadDir(filepath.Join(p.dataDir(), "processes"))
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(folders)), "folders")
		b.ReportMetric(residentMB(b, i.EnginePID), "MB-engine")
		b.ReportMetric(residentMB(b, i.KeeperPID), "MB-keeper")
	}
}

// BenchmarkManyProcesses measures the cost of 500 idle processes: `tandem ps` as a command and as
// a single operation, memory, and CPU over ten seconds.
func BenchmarkManyProcesses(b *testing.B) {
	p := build(b)
	p.run(b, "info")
	c := connect(b, p)
	startSleeps(b, c, 500)
	for b.Loop() {
		var whole, list, measured, bare []time.Duration
		took := func(times *[]time.Duration, f func()) {
			began := time.Now()
			f()
			*times = append(*times, time.Since(began))
		}
		for range 21 {
			took(&whole, func() { p.run(b, "ps") })
			took(&list, func() { call(b, c, api.ProcessList, api.ProcessListInput{}) })
			took(&measured, func() { call(b, c, api.ProcessList, api.ProcessListInput{Metrics: true}) })
			took(&bare, func() { p.run(b, "--version") })
		}
		reportMedian(b, whole, "ms-ps")
		reportMedian(b, list, "ms-list")
		reportMedian(b, measured, "ms-list-metrics")
		reportMedian(b, bare, "ms-version")
		i := p.info(b)
		time.Sleep(5 * time.Second) // settle first
		used := cpuOver(b, 10*time.Second, i.EnginePID, i.KeeperPID)
		b.ReportMetric(used[0], "%engine")
		b.ReportMetric(used[1], "%keeper")
		b.ReportMetric(residentMB(b, i.EnginePID), "MB-engine")
		b.ReportMetric(residentMB(b, i.KeeperPID), "MB-keeper")
	}
}

func connect(b *testing.B, p program) *client.Client {
	b.Helper()
	c, err := client.Connect(b.Context(), client.Options{DataDir: p.dataDir(), Name: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	return c
}

func (p program) dataDir() string {
	for _, pair := range slices.Backward(p.env) {
		if dir, ok := strings.CutPrefix(pair, "TANDEM_DATA_DIR="); ok {
			return dir
		}
	}
	return ""
}

func call[In, Out any](b *testing.B, c *client.Client, op api.Operation[In, Out], in In) Out {
	b.Helper()
	out, err := op.Call(context.Background(), c, in)
	if err != nil {
		b.Fatal(err)
	}
	return out
}

func startSleeps(b *testing.B, c *client.Client, n int) {
	b.Helper()
	inParallel(b, n, func(ctx context.Context) error {
		_, err := api.ProcessStart.Call(ctx, c, api.ProcessStartInput{Command: []string{"sleep", "1000"}})
		return err
	})
}

func removeAll(b *testing.B, c *client.Client) {
	b.Helper()
	for _, p := range call(b, c, api.ProcessList, api.ProcessListInput{}).Processes {
		call(b, c, api.ProcessRemove, api.IDInput{ID: p.ID})
	}
}

func inParallel(b *testing.B, n int, f func(context.Context) error) {
	b.Helper()
	inParallelBy(b, callers, n, f)
}

// inParallelBy calls f n times, with at most limit calls at a time.
func inParallelBy(b *testing.B, limit, n int, f func(context.Context) error) {
	b.Helper()
	turns := make(chan struct{}, n)
	for range n {
		turns <- struct{}{}
	}
	close(turns)
	failed := make(chan error, n)
	var all sync.WaitGroup
	for range limit {
		all.Go(func() {
			for range turns {
				if err := f(context.Background()); err != nil {
					failed <- err
				}
			}
		})
	}
	all.Wait()
	close(failed)
	if err := <-failed; err != nil {
		b.Fatal(err)
	}
}

// A sleep is a command line unique on this machine.
type sleep struct{ seconds string }

func newSleep() sleep { return sleep{fmt.Sprintf("%d.%09d", 100_000, time.Now().UnixNano()%1e9)} }

func (s sleep) argv() []string { return []string{"sleep", s.seconds} }

// await waits until n processes with this command line run.
func (s sleep) await(b *testing.B, n int) { b.Helper(); s.awaitNamed(b, "sleep", n) }

// awaitNamed waits until n processes with this command line run, started under another program
// name.
func (s sleep) awaitNamed(b *testing.B, program string, n int) {
	b.Helper()
	want := program + "\x00" + s.seconds + "\x00"
	known := map[string]bool{} // by pid: whether it is one of them
	for end := time.Now().Add(time.Minute); ; {
		names, err := filepath.Glob("/proc/[0-9]*")
		if err != nil {
			b.Fatal(err)
		}
		found := 0
		for _, name := range names {
			isMatch, ok := known[name]
			if !ok || isMatch {
				line, _ := os.ReadFile(name + "/cmdline")
				// Before execve, the command line is still the manager's.
				if isMatch = string(line) == want; isMatch || n == 0 {
					known[name] = isMatch
				}
			}
			if isMatch {
				found++
			}
		}
		if found == n {
			return
		}
		if time.Now().After(end) {
			b.Fatalf("%d of %d run", found, n)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func readFile(b *testing.B, path string) string {
	b.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

func countDescriptors(b *testing.B, pid int) int {
	b.Helper()
	names, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		b.Fatal(err)
	}
	return len(names)
}

// spawnTrue is the lower bound for any manager: fork, execve and wait.
func spawnTrue(b *testing.B) {
	b.Helper()
	null, err := os.Open(os.DevNull)
	if err != nil {
		b.Fatal(err)
	}
	defer null.Close()
	path, err := exec.LookPath("true")
	if err != nil {
		b.Fatal(err)
	}
	p, err := os.StartProcess(path, []string{"true"}, &os.ProcAttr{Files: []*os.File{null, null, null}})
	if err != nil {
		b.Fatal(err)
	}
	if s, err := p.Wait(); err != nil || !s.Success() {
		b.Fatal(errors.Join(err, errors.New(s.String())))
	}
}
