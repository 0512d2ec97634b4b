package linelog

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"testing"

	"tandem/persist/logtest"
	"tandem/persist/sparse"
)

// benchLog returns a log of 1 GiB with typical lines of services. If holes is set, only its last 64
// MiB have content.
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
