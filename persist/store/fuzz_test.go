package store

import (
	"bytes"
	"testing"
)

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
			if !r.isValid() || i > 0 && before[i-1].Offset >= r.Offset {
				t.Fatalf("%+v", before)
			}
		}
		if err := s.AppendResize("p", Resize{Offset: 1 << 40, Cols: 80, Rows: 24}); err != nil {
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
		c, err := DecodeCheckpoint(content)
		if err != nil {
			return
		}
		if !c.isValid() || !bytes.Equal(append(c.header(), c.Repaint...), content) {
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
