package outputs

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandem/engine/api"
)

// benchSize is the size of all logs in bytes: TANDEM_SEARCH_MB, or 256 MB.
func benchSize(b *testing.B) int {
	size, err := strconv.Atoi(os.Getenv("TANDEM_SEARCH_MB"))
	if err != nil {
		size = 256
	}
	return size << 20
}

// benchLogs makes logs as services write them, every second one coloured.
func benchLogs(b *testing.B) (r *rig, size int64) {
	const count = 200
	r = newRig(b)
	for n := range count {
		var text strings.Builder
		for i := 0; text.Len() < benchSize(b)/count; i++ {
			level := "INFO"
			if n%2 == 0 {
				level = "\x1b[32mINFO\x1b[0m"
			}
			fmt.Fprintf(&text, "2026-11-20T17:%02d:%02d.%03dZ %s  http request id=%08x method=GET path=/api/v1/items/%d status=200 took=%dms\n",
				i/60%60, i%60, i%1000, level, i*2654435761, i%5000, i%97)
		}
		r.add(fmt.Sprint(n), n+1, text.String())
		size += int64(text.Len())
	}
	return r, size
}

// reportCPU reports the time of all processors, since that of the clock depends on what else runs.
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

// BenchmarkOutputSearch searches all logs for what is not there, and for the first of many hits.
func BenchmarkOutputSearch(b *testing.B) {
	r, size := benchLogs(b)
	for name, p := range map[string]api.Pattern{
		"text": {Text: "panic: runtime error", Exact: true}, "any case": {Text: "panic: runtime error"},
		"regexp": {Text: "took=[0-9]{4}ms", Regexp: true, Exact: true},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			defer reportCPU(b)()
			for b.Loop() {
				if hits := r.searchAll(api.OutputSearchInput{Pattern: p, WaitMS: 80}, nothing); len(hits) > 0 {
					b.Fatalf("found %q", hits[0].Text)
				}
			}
		})
	}
	b.Run("first hit", func(b *testing.B) {
		for b.Loop() {
			begin := time.Now()
			if out := r.search(api.OutputSearchInput{Pattern: api.Pattern{Text: "items"}, Limit: 1}); len(out.Hits) != 1 {
				b.Fatal("nothing found")
			}
			b.ReportMetric(float64(time.Since(begin).Microseconds())/1000, "ms")
		}
	})
}
