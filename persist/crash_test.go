package persist

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestAKilledWriterLosesNothingItHasCommitted(t *testing.T) {
	for _, limit := range []int64{0, 200_000} {
		t.Run(fmt.Sprint("limit ", limit), func(t *testing.T) {
			path := logPath(t)
			var want []byte
			for range 15 {
				c := startChild(t, roleWriter, pathVar+"="+path, limitVar+"="+fmt.Sprint(limit))
				acked := c.killAfter(t, rand.IntN(400))
				l := mustOpen(t, path, LogOptions{Limit: limit}, systemDisk())
				if l.End() < acked {
					t.Fatalf("the log ends at %d, and %d bytes were committed", l.End(), acked)
				}
				want = growLines(want, l.End())
				if !bytes.Equal(contents(t, l), want[l.Start():]) {
					t.Fatalf("lines between %d and %d are missing or wrong", l.Start(), l.End())
				}
				crash(t, l)
			}
		})
	}
}

// growLines makes lines, which a log of numbered lines begins with, end long.
func growLines(lines []byte, end int64) []byte {
	from := len(lines)
	lines = append(lines, make([]byte, max(end-int64(from), 0))...)
	fillLines(lines[from:], int64(from))
	return lines[:end]
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
		for _, name := range fileNames(t, s.Dir("p")) {
			if strings.HasPrefix(name, tempPrefix) {
				t.Errorf("%s is left of a killed write", name)
			}
		}
		if len(records) != 1 || int64(records[0].Cols) < acked || records[0].Argv[0] != fmt.Sprint(records[0].Cols) {
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
