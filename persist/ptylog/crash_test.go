package ptylog

import (
	"bytes"
	"fmt"
	"testing"

	"tandem/persist/logtest"
	"tandem/persist/sparse"
	"tandem/tests/needs"
	"tandem/tests/seed"
)

func TestKilledWriterLosesNoCommittedByte(t *testing.T) {
	needs.FullRun(t)
	for _, limit := range []int64{0, 200_000} {
		t.Run(fmt.Sprint("limit ", limit), func(t *testing.T) {
			path := logtest.LogPath(t)
			random := seed.Rand(t)
			var want []byte
			for range 15 {
				c := logtest.Start(t, roleWriter, logtest.PathVar+"="+path, logtest.LimitVar+"="+fmt.Sprint(limit))
				acked := c.KillAfter(t, random.IntN(400))
				l := mustOpen(t, path, Options{Limit: limit}, sparse.System())
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

// growLines extends lines, the beginning of a log of numbered lines, to the length end.
func growLines(lines []byte, end int64) []byte {
	from := len(lines)
	lines = append(lines, make([]byte, max(end-int64(from), 0))...)
	logtest.FillLines(lines[from:], int64(from))
	return lines[:end]
}
