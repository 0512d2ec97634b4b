package linelog

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"tandem/persist/logtest"
	"tandem/persist/sparse"
)

// benchLog is a log of 1 GiB as services write it. It is real unless sparse:
// then only its last 64 MiB are.
func benchLog(b *testing.B, holes bool) *File {
	const size, kept = 1 << 30, 64 << 20
	path := logtest.LogPath(b)
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	at := 0
	if holes {
		at = size - kept
		if _, err := f.Seek(int64(at), 0); err != nil {
			b.Fatal(err)
		}
	}
	for i := 0; at < size; i++ {
		n, err := fmt.Fprintf(w, "2026-11-20T17:%02d:%02d.%03dZ INFO  http request id=%08x method=GET path=/api/v1/items/%d status=200 took=%dms\n",
			i/60%60, i%60, i%1000, i*2654435761, i%5000, i%97)
		if err != nil {
			b.Fatal(err)
		}
		at += n
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return mustOpenFile(b, path, Options{}, sparse.System())
}

// reportCPU has the time of all processors told beside that of the clock, which
// depends on what else runs.
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

// BenchmarkSearch looks through 1 GiB for what is not there.
func BenchmarkSearch(b *testing.B) {
	l := benchLog(b, false)
	for _, expr := range []string{
		"panic: runtime error", "(?i)panic: runtime", "error|fatal|panic", "id=[0-9a-f]+ method=POST", "took=[0-9]{4}ms",
		"[0-9]{4}ms$", "[A-Z]$", "\\s$", "(?i)(error|warn(ing)?|fatal|panic)\\b.*$", "^[^ ]+ (WARN|ERROR)", "\\b5[0-9]{2}\\b$", "^.{200,}$",
		"e.{30}[xq]$", "[0-9].{0,90}[zq]$", "(\\w+ ){3,9}\\d+$", "\\pL{20}$", "[aet=][^~]*.{60}[#~]$",
	} {
		s, err := NewSearch(expr)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(expr, func(b *testing.B) {
			b.SetBytes(l.End())
			defer reportCPU(b)()
			for b.Loop() {
				_, err := s.Forward(context.Background(), l, 0, l.End(), func(l Line) bool { b.Errorf("found %q", l.Text); return false })
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("backward", func(b *testing.B) {
		s, err := NewSearch("panic: runtime error")
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(l.End())
		for b.Loop() {
			if _, err := s.Backward(context.Background(), l, 0, l.End(), func(Line) bool { return false }); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkLines goes to lines of a log of 1 GiB.
func BenchmarkLines(b *testing.B) {
	for _, sparse := range []bool{false, true} {
		l := benchLog(b, sparse)
		for _, n := range []int64{-1, -1000, -100_000, 100_000} {
			b.Run(fmt.Sprintf("sparse=%v/line=%d", sparse, n), func(b *testing.B) {
				for b.Loop() {
					if _, err := FindLine(context.Background(), l, n); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("sparse=%v/ends", sparse), func(b *testing.B) {
			for b.Loop() {
				if l.Start() >= l.End() {
					b.Fatal("an empty log")
				}
			}
		})
	}
}
