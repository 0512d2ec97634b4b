package persist

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestAKilledWriterLosesNothingItHasCommitted(t *testing.T) {
	for _, limit := range []int64{0, 200_000} {
		t.Run(fmt.Sprint("limit ", limit), func(t *testing.T) {
			path := logPath(t)
			for range 15 {
				c := startChild(t, roleWriter, pathVar+"="+path, limitVar+"="+fmt.Sprint(limit))
				acked := c.killAfter(t, rand.IntN(400))
				l := mustOpen(t, path, LogOptions{Limit: limit}, systemDisk())
				checkLines(t, l, acked)
				crash(t, l)
			}
		})
	}
}

// checkLines checks that a log holds all lines up to offset acked at least.
func checkLines(t *testing.T, l *Log, acked int64) {
	t.Helper()
	if l.End() < acked {
		t.Fatalf("the log ends at %d, and %d bytes were committed", l.End(), acked)
	}
	got := contents(t, l)
	want := make([]byte, len(got))
	fillLines(want, l.Start())
	if !bytes.Equal(got, want) {
		t.Fatalf("lines between %d and %d are missing or wrong", l.Start(), l.End())
	}
}

func TestAKilledSaverLeavesWholeFiles(t *testing.T) {
	s := mustStore(t)
	for range 10 {
		acked := startChild(t, roleSaver, pathVar+"="+s.dir).killAfter(t, rand.IntN(30))
		records, problems := s.Load()
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if acked == 0 {
			continue
		}
		if len(records) != 1 || int64(records[0].Cols) < acked {
			t.Fatalf("number %d was saved, and the records are %v", acked, records)
		}
		resizes, err := s.ReadResizes("p")
		if err != nil || len(resizes) == 0 || resizes[len(resizes)-1].Offset < acked {
			t.Fatalf("number %d was saved, and the sizes are %v, %v", acked, resizes, err)
		}
		checkpoints, err := s.ReadCheckpoints("p")
		if err != nil || len(checkpoints) == 0 || checkpoints[0].Offset < acked-1 {
			t.Fatalf("number %d was saved, and there are %d checkpoints, %v", acked, len(checkpoints), err)
		}
	}
}
