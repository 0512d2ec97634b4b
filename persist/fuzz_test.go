package persist

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
		l, err := OpenLog(path, LogOptions{Committed: committed, Limit: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if l.Start() < 0 || l.Start() > l.End() || l.End() > int64(hole)+int64(len(content)) {
			t.Fatalf("a log from %d to %d", l.Start(), l.End())
		}
		end := l.End()
		if trimmed := trimNUL(content); trimmed > 0 && end < int64(hole)+int64(trimmed) {
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

func FuzzReadResizes(f *testing.F) {
	f.Add([]byte("0 80 24\n10 120 36\n"))
	f.Add([]byte("0 80 24\n10 120 3"))
	f.Add([]byte("\x00\n-1 0 99999999999999999999\n"))
	s := mustStore(f)
	f.Fuzz(func(t *testing.T, content []byte) {
		put(t, s, "p", sizesName, string(content))
		before, err := s.ReadResizes("p")
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range before {
			if !r.valid() || i > 0 && before[i-1].Offset >= r.Offset {
				t.Fatalf("%+v", before)
			}
		}
		if err := s.AppendResize("p", Resize{1 << 40, 80, 24}); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzReadCheckpoints(f *testing.F) {
	c := Checkpoint{100, 80, 24, []byte("\x1b[Hhello")}
	f.Add(append(c.header(), c.Repaint...))
	f.Add([]byte("tandem-checkpoint-1 0 80 24 -1 00000000\n"))
	f.Add([]byte("tandem-checkpoint-1 0 80 24 99999999999 00000000\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		c, err := decodeCheckpoint(content)
		if err != nil {
			return
		}
		if !c.valid() || !bytes.Equal(append(c.header(), c.Repaint...), content) {
			t.Fatalf("%q was taken for a checkpoint", content)
		}
	})
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"schema":1,"id":"p","argv":["sh"]}`))
	f.Add([]byte(`{"schema":2,"id":"p"}`))
	f.Add([]byte(`{"schema":1e400}`))
	f.Add([]byte{})
	s := mustStore(f)
	f.Fuzz(func(t *testing.T, content []byte) {
		put(t, s, "p", recordName, string(content))
		put(t, s, "p", exitName, string(content))
		records, problems := s.Load()
		if len(records)+len(problems) != 1 {
			t.Fatalf("loaded %v, problems %v", records, problems)
		}
		for _, r := range records {
			if err := s.Save(r); err != nil {
				t.Fatal(err)
			}
		}
		if e, ok, err := s.Exit("p"); ok != (err == nil) || ok && e.Code == nil && e.Signal == "" && !e.Unknown {
			t.Fatalf("%+v, %v, %v", e, ok, err)
		}
		if err := s.Remove("p"); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte(statLine(1, "sh", 'S', 9)))
	f.Add([]byte("1 (a) b) Z"))
	f.Fuzz(func(t *testing.T, line []byte) {
		st, err := parseStat(line)
		if err == nil && (st.state == 0 || bytes.IndexByte(line, st.state) < 0) {
			t.Fatalf("%+v from %q", st, line)
		}
	})
}
