package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadResizesReturnsAppendedOrder(t *testing.T) {
	s := mustStore(t)
	if got, err := s.ReadResizes("p"); got != nil || err != nil {
		t.Fatalf("without a journal: %v, %v", got, err)
	}
	mustSave(t, s, Record{ID: "p"})
	want := []Resize{{0, 80, 24, 0, 0}, {17, 1, 1, 9, 18}, {1 << 62, maxSide, maxSide, maxSide, maxSide}}
	for _, r := range want {
		if err := s.AppendResize("p", r); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.ReadResizes("p")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatal(diff, err)
	}
	if got := mode(t, filepath.Join(s.Dir("p"), "sizes")); got != 0o600 {
		t.Errorf("the journal has mode %o", got)
	}
}

func TestReadResizesStopsAtDamagedLine(t *testing.T) {
	s := mustStore(t)
	for _, line := range []string{"7 80", "7 80 24 1", "x 80 24", "-7 80 24", "7 0 24", "7 80 65536", "", "\x00\x00", "99999999999999999999 80 24"} {
		put(t, s, "p", "sizes", "0 80 24\n5 90 30\n"+line+"\n9 100 40\n")
		got, err := s.ReadResizes("p")
		if diff := cmp.Diff([]Resize{{Offset: 0, Cols: 80, Rows: 24}, {Offset: 5, Cols: 90, Rows: 30}}, got); diff != "" || err != nil {
			t.Errorf("line %q: %s %v", line, diff, err)
		}
	}
}

func TestAppendResizeRemovesPartialLine(t *testing.T) {
	s := mustStore(t)
	for _, torn := range []string{"1", "12 100 4", "12 100 40"} {
		put(t, s, "p", "sizes", "0 80 24\n"+torn)
		if got, _ := s.ReadResizes("p"); len(got) != 1 {
			t.Errorf("the unfinished line %q was read: %v", torn, got)
		}
		if err := s.AppendResize("p", Resize{Offset: 20, Cols: 100, Rows: 40}); err != nil {
			t.Fatal(err)
		}
		got, err := s.ReadResizes("p")
		if diff := cmp.Diff([]Resize{{Offset: 0, Cols: 80, Rows: 24}, {Offset: 20, Cols: 100, Rows: 40}}, got); diff != "" || err != nil {
			t.Error(diff, err)
		}
	}
}

func TestLaterResizeReplacesGreaterOffsets(t *testing.T) {
	got := parseResizes([]byte("0 80 24\n10 81 24\n10 82 24\n30 83 24\n20 84 24\n"))
	if diff := cmp.Diff([]Resize{{Offset: 0, Cols: 80, Rows: 24}, {Offset: 10, Cols: 82, Rows: 24}, {Offset: 20, Cols: 84, Rows: 24}}, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestAppendResizeRejectsInvalidSizes(t *testing.T) {
	s := mustStore(t)
	mustSave(t, s, Record{ID: "p"})
	for _, r := range []Resize{{-1, 80, 24, 0, 0}, {0, 0, 24, 0, 0}, {0, 80, -1, 0, 0}, {0, 1 << 16, 24, 0, 0}, {0, 80, 24, -1, 0}} {
		if err := s.AppendResize("p", r); err == nil {
			t.Errorf("%+v was accepted", r)
		}
	}
}

func TestLongJournalDropsOlderHalf(t *testing.T) {
	s := mustStore(t)
	var b strings.Builder
	n := 0
	for ; b.Len() < maxSizes; n++ {
		fmt.Fprintf(&b, "%d 80 24\n", n)
	}
	put(t, s, "p", "sizes", b.String())
	if err := s.AppendResize("p", Resize{Offset: int64(n), Cols: 90, Rows: 30}); err != nil {
		t.Fatal(err)
	}
	got, err := s.ReadResizes("p")
	if err != nil || len(got) < n/3 || len(got) > 2*n/3 {
		t.Fatalf("%d resizes are left of %d, %v", len(got), n, err)
	}
	for i, r := range got {
		if want := int64(n - len(got) + 1 + i); r.Offset != want {
			t.Fatalf("resize %d has offset %d, want %d", i, r.Offset, want)
		}
	}
}

func TestSaveCheckpointKeepsTheLastTwo(t *testing.T) {
	s := mustStore(t)
	if got, err := s.ReadCheckpoints("p"); got != nil || err != nil {
		t.Fatalf("without any: %v, %v", got, err)
	}
	mustSave(t, s, Record{ID: "p"})
	var saved []Checkpoint
	for i := range 4 {
		c := Checkpoint{int64(i * 100), 80, 24, bytes.Repeat([]byte{byte(i), '\n', 0}, i*1000)}
		if err := s.SaveCheckpoint("p", c); err != nil {
			t.Fatal(err)
		}
		saved = append([]Checkpoint{c}, saved...)
		got, err := s.ReadCheckpoints("p")
		if diff := cmp.Diff(saved[:min(2, len(saved))], got); diff != "" || err != nil {
			t.Fatal(diff, err)
		}
	}
	if diff := cmp.Diff([]string{"checkpoint", "checkpoint.old", "record.json"}, fileNames(t, s.Dir("p"))); diff != "" {
		t.Error(diff)
	}
}

func TestReadCheckpointsSkipsDamagedOne(t *testing.T) {
	s := mustStore(t)
	mustSave(t, s, Record{ID: "p"})
	older, newer := Checkpoint{100, 80, 24, []byte("older")}, Checkpoint{200, 80, 24, []byte("newer")}
	for _, c := range []Checkpoint{older, newer} {
		if err := s.SaveCheckpoint("p", c); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(s.Dir("p"), "checkpoint")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(damage string, b []byte) {
		t.Helper()
		put(t, s, "p", "checkpoint", string(b))
		got, err := s.ReadCheckpoints("p")
		if diff := cmp.Diff([]Checkpoint{older}, got); diff != "" || err != nil {
			t.Errorf("%s: %s %v", damage, diff, err)
		}
	}
	for i := range whole {
		check(fmt.Sprint("cut at ", i), whole[:i])
		flipped := bytes.Clone(whole)
		flipped[i] ^= 1
		check(fmt.Sprint("bit flipped at ", i), flipped)
	}
	check("one byte more", append(bytes.Clone(whole), 'x'))
}

func TestSaveCheckpointRejectsInvalidSizes(t *testing.T) {
	s := mustStore(t)
	mustSave(t, s, Record{ID: "p"})
	for _, c := range []Checkpoint{{-1, 80, 24, nil}, {0, 0, 24, nil}, {0, 80, 1 << 16, nil}, {0, 80, 24, make([]byte, maxRepaint+1)}} {
		if err := s.SaveCheckpoint("p", c); err == nil {
			t.Errorf("offset %d, %d×%d was accepted", c.Offset, c.Cols, c.Rows)
		}
	}
}
