package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/system/proctree"

	"golang.org/x/sys/unix"
	"tandem/tests/wait"
)

// BenchmarkStartMany starts processes from concurrent callers until all run, and then stops them
// all.
func BenchmarkStartMany(b *testing.B) {
	for _, n := range []int{100, 500} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := startMachine(b)
			var started, stopped time.Duration
			var engineCPU, keeperCPU float64
			for b.Loop() {
				i := m.info()
				cpu := [2]float64{cpuSeconds(i.EnginePID), cpuSeconds(i.KeeperPID)}
				began := time.Now()
				failed := make(chan error, n)
				for range n {
					go func() {
						_, err := api.ProcessStart.Call(context.Background(), m.client, api.ProcessStartInput{Command: []string{"sleep", "1000"}})
						failed <- err
					}()
				}
				for range n {
					if err := <-failed; err != nil {
						b.Fatal(err)
					}
				}
				started += time.Since(began)
				engineCPU += cpuSeconds(i.EnginePID) - cpu[0]
				keeperCPU += cpuSeconds(i.KeeperPID) - cpu[1]
				began = time.Now()
				if out := call(m, api.ProcessStopAll, api.ProcessStopAllInput{}); len(out.Stopped) != n {
					b.Fatalf("stopped %d", len(out.Stopped))
				}
				stopped += time.Since(began)
				for _, p := range call(m, api.ProcessList, api.ProcessListInput{}).Processes {
					call(m, api.ProcessRemove, api.IDInput{ID: p.ID})
				}
			}
			b.ReportMetric(started.Seconds()/float64(b.N), "s/start")
			b.ReportMetric(engineCPU/float64(b.N), "s/engine-cpu")
			b.ReportMetric(keeperCPU/float64(b.N), "s/keeper-cpu")
			b.ReportMetric(stopped.Seconds()/float64(b.N), "s/stop")
		})
	}
}

// cpuSeconds returns the processor time used by a process.
func cpuSeconds(pid int) float64 {
	s, _ := proctree.Read(pid)
	return float64(s.CPU) / 100
}

// BenchmarkExec measures a command from the call to its answer.
func BenchmarkExec(b *testing.B) {
	m := startMachine(b)
	for b.Loop() {
		call(m, api.Exec, api.ExecInput{Command: []string{"true"}})
	}
}

// BenchmarkRestart measures the time from the death of a process to the start of the next, among a
// number of others. The delay of the policy is made short, because no run here is healthy.
func BenchmarkRestart(b *testing.B) {
	for _, n := range []int{0, 500} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := startMachine(b)
			for range n {
				call(m, api.ProcessStart, api.ProcessStartInput{Command: []string{"sleep", "1000"}})
			}
			flag := filepath.Join(m.dir, "flag")
			p := call(m, api.ProcessStart, api.ProcessStartInput{
				Command:   []string{"sh", "-c", `echo $$ >"$0.new"; mv "$0.new" "$0"; exec sleep 1000`, flag},
				KeepAlive: true, Restart: &api.Restart{DelayMS: 1},
			})
			var took time.Duration
			for b.Loop() {
				m.eventually("a run", func() bool { p = m.getProcess(p.ID); return p.State == api.StateRunning && p.PID != 0 })
				wait.File(m, flag)
				os.Remove(flag)
				began := time.Now()
				unix.Kill(p.PID, unix.SIGKILL)
				for {
					if _, err := os.Stat(flag); err == nil {
						break
					}
					time.Sleep(100 * time.Microsecond)
				}
				took += time.Since(began)
				call(m, api.ProcessRestart, api.ProcessRestartInput{ID: p.ID}) // clears the failure
				wait.File(m, flag)
			}
			b.ReportMetric(took.Seconds()*1000/float64(b.N), "ms/restart")
		})
	}
}
