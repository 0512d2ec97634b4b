package persist

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
)

func TestAKilledWriterLosesNothingItHasCommitted(t *testing.T) {
	for _, limit := range []int64{0, 200_000} {
		t.Run(fmt.Sprint("limit ", limit), func(t *testing.T) {
			path := logPath(t)
			for range 15 {
				acked := floodAndKill(t, path, limit)
				l := mustOpen(t, path, LogOptions{Limit: limit}, systemDisk())
				checkLines(t, l, acked)
				crash(t, l)
			}
		})
	}
}

// floodAndKill runs a writer on the log at path, kills it after some of its
// commits and returns the last end that it has told.
func floodAndKill(t *testing.T, path string, limit int64) int64 {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"="+roleWriter, pathVar+"="+path, limitVar+"="+fmt.Sprint(limit))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := rand.IntN(400)
	acked := int64(0)
	for n := 0; ; n++ {
		if n == kill {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		var ack [8]byte
		if _, err := io.ReadFull(out, ack[:]); err != nil {
			break
		}
		acked = int64(binary.LittleEndian.Uint64(ack[:]))
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("the writer was not killed but ended: %v", err)
	}
	return acked
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
