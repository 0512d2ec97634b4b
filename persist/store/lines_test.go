package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func newest(t *testing.T, l *Lines, most int) []string {
	t.Helper()
	var got []string
	for line, err := range l.Newest() {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, string(line)); len(got) == most {
			break
		}
	}
	return got
}

func TestNewestYieldsLastLineFirst(t *testing.T) {
	l := NewLines(filepath.Join(t.TempDir(), "lines"))
	if got := newest(t, l, 10); got != nil {
		t.Errorf("before the first: %q", got)
	}
	for i := range 3 {
		if err := l.Append(map[string]int{"n": i}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{`{"n":2}`, `{"n":1}`, `{"n":0}`}, newest(t, l, 10)); diff != "" {
		t.Error(diff)
	}
	if got := newest(t, l, 1); len(got) != 1 || got[0] != `{"n":2}` {
		t.Errorf("the last: %q", got)
	}
}

func TestNewestKeepsLongLinesWhole(t *testing.T) {
	l := NewLines(filepath.Join(t.TempDir(), "lines"))
	long := strings.Repeat("x", 3*backwardChunk+1)
	for _, s := range []string{"a", long, "b", long} {
		if err := l.Append(s); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{`"` + long + `"`, `"b"`, `"` + long + `"`, `"a"`}, newest(t, l, 10)); diff != "" {
		t.Error("the lines are not the same")
	}
}

func TestAppendRenamesFullFileOnce(t *testing.T) {
	l := NewLines(filepath.Join(t.TempDir(), "lines"))
	l.limit = 100
	for i := range 40 {
		if err := l.Append(fmt.Sprintf("%08d", i)); err != nil {
			t.Fatal(err)
		}
	}
	got := newest(t, l, 100)
	if len(got) < 9 || len(got) > 20 {
		t.Errorf("%d lines are kept", len(got))
	}
	for i, line := range got {
		if want := fmt.Sprintf(`"%08d"`, 39-i); line != want {
			t.Fatalf("line %d is %s, want %s", i, line, want)
		}
	}
}

func TestNewestYieldsLinesOnceWhileFileIsRenamed(t *testing.T) {
	l := NewLines(filepath.Join(t.TempDir(), "lines"))
	l.limit = 100
	for i := range 26 {
		if err := l.Append(fmt.Sprintf("%08d", i)); err != nil {
			t.Fatal(err)
		}
	}
	want := newest(t, l, 100)
	var got []string
	for line, err := range l.Newest() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(line))
		if err := l.Append("meanwhile"); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAppendIsSafeForConcurrentUse(t *testing.T) {
	l := NewLines(filepath.Join(t.TempDir(), "lines"))
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			for i := range 50 {
				if err := l.Append([2]int{w, i}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	if got := newest(t, l, 1000); len(got) != 400 {
		t.Errorf("%d lines", len(got))
	}
}

func TestAppendFollowsTheFileAtItsPath(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"deleted": os.Remove,
		"moved":   func(path string) error { return os.Rename(path, path+".moved") },
		"replaced": func(path string) error {
			if err := os.WriteFile(path+".new", nil, 0o600); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
		"emptied": func(path string) error { return os.Truncate(path, 0) },
	} {
		l := NewLines(filepath.Join(t.TempDir(), "lines"))
		err := l.Append(1)
		if err == nil {
			err = change(l.path)
		}
		for _, n := range []int{2, 3} {
			if err == nil {
				err = l.Append(n)
			}
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff([]string{"3", "2"}, newest(t, l, 10)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAppendEndsTruncatedLine(t *testing.T) {
	l := NewLines(filepath.Join(t.TempDir(), "lines"))
	if err := os.WriteFile(l.path, []byte("1\n{\"n\":"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{2, 3} {
		if err := l.Append(n); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(l.path); err != nil || string(text) != "1\n{\"n\":\n2\n3\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// On a full file system, part of the line may have been written.
func TestAppendAfterAFailedWriteStartsALine(t *testing.T) {
	l := NewLines(filepath.Join(t.TempDir(), "lines"))
	if err := l.Append(1); err != nil {
		t.Fatal(err)
	}
	readOnly, err := os.Open(l.path)
	if err != nil {
		t.Fatal(err)
	}
	written := l.file
	l.file = readOnly
	if err := l.Append(2); err == nil {
		t.Error("a failed write is not reported")
	}
	if _, err := written.WriteString("{\"n\":"); err != nil {
		t.Fatal(err)
	}
	written.Close()
	if err := l.Append(3); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"3", `{"n":`, "1"}, newest(t, l, 10)); diff != "" {
		t.Error(diff)
	}
}

func TestNewestYieldsTruncatedLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(path, []byte("{\"n\":1}\n\n{\"n\":"), 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`{"n":`, `{"n":1}`}, newest(t, NewLines(path), 10)); diff != "" {
		t.Error(diff)
	}
}
