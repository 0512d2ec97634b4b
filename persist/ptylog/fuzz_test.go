package ptylog

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func FuzzOpenLog(f *testing.F) {
	f.Add([]byte("hello\n"), uint32(0), int64(0))
	f.Add([]byte("a\x00\x00b\x00"), uint32(1<<20), int64(4))
	f.Add([]byte{}, uint32(70_000), int64(-1))
	f.Add(bytes.Repeat([]byte{0}, 9000), uint32(5), int64(9000))
	f.Fuzz(func(t *testing.T, content []byte, hole uint32, committed int64) {
		path := filepath.Join(t.TempDir(), "process.log")
		hole %= 8 << 20
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteAt(content, int64(hole)); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		l, err := Open(path, Options{Committed: committed, Limit: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if l.Start() < 0 || l.Start() > l.End() || l.End() > int64(hole)+int64(len(content)) {
			t.Fatalf("a log from %d to %d", l.Start(), l.End())
		}
		end := l.End()
		if trimmed := len(bytes.TrimRight(content, "\x00")); trimmed > 0 && end < int64(hole)+int64(trimmed) {
			t.Fatalf("the log ends at %d, before its last byte", end)
		}
		s, err := l.Space(5)
		if err != nil {
			t.Fatal(err)
		}
		l.Commit(copy(s, "added"))
		got := make([]byte, 5)
		if n, err := l.ReadAt(got, end); err != nil || string(got[:n]) != "added" {
			t.Fatalf("%q, %v", got[:n], err)
		}
		if _, err := io.Copy(io.Discard, io.NewSectionReader(l, l.Start(), l.End()-l.Start())); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() != end+5 {
			t.Fatalf("the closed log has %v bytes, want %d (%v)", info.Size(), end+5, err)
		}
	})
}
