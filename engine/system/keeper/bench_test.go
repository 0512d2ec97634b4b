package keeper

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
)

func BenchmarkStart(b *testing.B) {
	for _, tty := range []bool{false, true} {
		b.Run(fmt.Sprintf("tty=%v", tty), func(b *testing.B) {
			r := newRig(b)
			r.keeper("").mustBeReady()
			c := r.dial()
			s := r.spec("a", "")
			s.Argv, s.TTY = []string{"true"}, tty
			b.ResetTimer()
			for i := range b.N {
				s.ID = strconv.Itoa(i)
				_, master, err := c.Start(r.ctx(), s)
				if err != nil {
					b.Fatal(err)
				}
				if master != nil {
					master.Close()
				}
				r.ended(c)
				if err := c.Forget(r.ctx(), s.ID); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "children/s")
		})
	}
}

// BenchmarkMemory reports the resident set of a keeper that holds terminals. The iterations do
// nothing: one measurement is enough.
func BenchmarkMemory(b *testing.B) {
	for _, n := range []int{0, 200} {
		b.Run(fmt.Sprintf("terminals=%d", n), func(b *testing.B) {
			r := newRig(b)
			k := r.keeper("").mustBeReady()
			c := r.dial()
			s := r.ttySpec("a", "")
			s.Argv = []string{"sleep", "1000"}
			for i := range n {
				s.ID = strconv.Itoa(i)
				_, master, err := c.Start(r.ctx(), s)
				if err != nil {
					b.Fatal(err)
				}
				master.Close()
			}
			pid := k.cmd.Process.Pid
			b.ReportMetric(statusMB(b, pid, "VmRSS"), "MB")
			b.ReportMetric(float64(threadsOf(b, pid)), "threads")
		})
	}
}

// statusMB reads a size from /proc/<pid>/status.
func statusMB(b *testing.B, pid int, field string) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	m := regexp.MustCompile(field + `:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		b.Fatalf("no %s in %s", field, status)
	}
	kb, _ := strconv.Atoi(string(m[1]))
	return float64(kb) / 1000
}

// BenchmarkList is the cost of one round trip.
func BenchmarkList(b *testing.B) {
	r := newRig(b)
	r.keeper("").mustBeReady()
	c := r.dial()
	for b.Loop() {
		if _, err := c.List(r.ctx()); err != nil {
			b.Fatal(err)
		}
	}
}
