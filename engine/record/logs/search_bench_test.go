package logs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"tandem/persist/linelog"
	"tandem/persist/logtest"
)

// benchLog is a log of 1 GiB as services write it.
func benchLog(b *testing.B) *linelog.File {
	path := logtest.LogPath(b)
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for i, at := 0, 0; at < 1<<30; i++ {
		n, err := fmt.Fprintf(w, "2026-11-20T17:%02d:%02d.%03dZ INFO  http request id=%08x method=GET path=/api/v1/items/%d status=200 took=%dms\n",
			i/60%60, i%60, i%1000, i*2654435761, i%5000, i%97)
		if err != nil {
			b.Fatal(err)
		}
		at += n
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		b.Fatal(err)
	}
	l, err := linelog.Open(path, linelog.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	return l
}

// reportCPU makes a benchmark report the processor time as well. The elapsed time depends on what
// else runs.
func reportCPU(b *testing.B) (report func()) {
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	return func() { b.ReportMetric((used()-before).Seconds()/float64(b.N), "cpu-s/op") }
}

// BenchmarkSearch searches 1 GiB for a text it does not contain.
func BenchmarkSearch(b *testing.B) {
	l := benchLog(b)
	for _, expr := range []string{
		"panic: runtime error", "(?i)panic: runtime", "error|fatal|panic", "id=[0-9a-f]+ method=POST", "took=[0-9]{4}ms",
		"[0-9]{4}ms$", "[A-Z]$", "\\s$", "(?i)(error|warn(ing)?|fatal|panic)\\b.*$", "^[^ ]+ (WARN|ERROR)", "\\b5[0-9]{2}\\b$", "^.{200,}$",
		"e.{30}[xq]$", "[0-9].{0,90}[zq]$", "(\\w+ ){3,9}\\d+$", "\\pL{20}$", "[aet=][^~]*.{60}[#~]$",
	} {
		p, err := CompilePattern("x", expr)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(expr, func(b *testing.B) {
			b.SetBytes(l.End())
			defer reportCPU(b)()
			for b.Loop() {
				_, err := linelog.Forward(context.Background(), l, p, 0, l.End(), func(l linelog.Line) bool { b.Errorf("found %q", l.Text); return false })
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("backward", func(b *testing.B) {
		p, err := CompilePattern("x", "panic: runtime error")
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(l.End())
		for b.Loop() {
			if _, err := linelog.Backward(context.Background(), l, p, 0, l.End(), func(linelog.Line) bool { return false }); err != nil {
				b.Fatal(err)
			}
		}
	})
}
