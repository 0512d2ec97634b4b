package ptylog

import (
	"os"
	"testing"

	"tandem/persist/logtest"
	"tandem/persist/sparse"
)

// recycleAt is the file size at which a benchmark starts a new file.
const recycleAt = 128 << 20

// BenchmarkAppend compares ways of getting 4 KiB from a read(2) into a file.
func BenchmarkAppend(b *testing.B) {
	b.Run("mapped", func(b *testing.B) { benchmarkLog(b, sparse.System()) })
	b.Run("plain", func(b *testing.B) { benchmarkLog(b, logtest.NoMapping{Disk: sparse.System()}) })
	b.Run("write", benchmarkWrite)
}

func benchmarkSource(b *testing.B) *os.File {
	src, err := os.Open("/dev/zero")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { src.Close() })
	b.SetBytes(4096)
	return src
}

func benchmarkLog(b *testing.B, d sparse.Disk) {
	src, path := benchmarkSource(b), logtest.LogPath(b)
	l := mustOpen(b, path, Options{}, d)
	for b.Loop() {
		s, err := l.Space(4096)
		if err != nil {
			b.Fatal(err)
		}
		n, err := src.Read(s[:4096])
		if err != nil {
			b.Fatal(err)
		}
		l.Commit(n)
		if l.End() < recycleAt {
			continue
		}
		b.StopTimer()
		if err := os.Truncate(path, 0); err != nil {
			b.Fatal(err)
		}
		crash(b, l)
		l = mustOpen(b, path, Options{}, d)
		l.size = maxWindow
		b.StartTimer()
	}
}

func benchmarkWrite(b *testing.B) {
	src := benchmarkSource(b)
	f, err := os.OpenFile(logtest.LogPath(b), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	buf := make([]byte, 4096)
	for size := 0; b.Loop(); {
		n, err := src.Read(buf)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := f.Write(buf[:n]); err != nil {
			b.Fatal(err)
		}
		if size += n; size < recycleAt {
			continue
		}
		b.StopTimer()
		if size = 0; f.Truncate(0) != nil {
			b.Fatal("cannot truncate")
		}
		b.StartTimer()
	}
}

// BenchmarkOpenLog finds the end of a log of 64 MiB with a preallocated tail.
func BenchmarkOpenLog(b *testing.B) {
	path := logtest.LogPath(b)
	l := mustOpen(b, path, Options{}, sparse.System())
	write(b, l, logtest.Text(64<<20))
	crash(b, l)
	for b.Loop() {
		l, err := Open(path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		crash(b, l)
	}
}
