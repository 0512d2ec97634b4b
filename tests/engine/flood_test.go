package engine

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/tests/needs"

	"golang.org/x/sys/unix"
)

// numberedLine is the length of each line of a flood, with its newline. All are equally long, so an
// offset determines the content.
const numberedLine = 16

// fillNumbered fills p with the content of a flood at an offset.
func fillNumbered(p []byte, off int64) {
	var line [numberedLine]byte
	n := off / numberedLine
	for i := numberedLine - 2; i >= 0; i-- {
		line[i] = byte('0' + n%10)
		n /= 10
	}
	line[numberedLine-1] = '\n'
	from := int(off % numberedLine)
	for len(p) > 0 {
		k := copy(p, line[from:])
		p, from = p[k:], 0
		for i := numberedLine - 2; ; i-- {
			if line[i]++; line[i] <= '9' {
				break
			}
			line[i] = '0'
		}
	}
}

// runFlood is a role of the test binary: it writes numbered lines up to a size, with a pause after
// each piece, and exits with status 7.
func runFlood(args []string) int {
	size, err := strconv.ParseInt(args[0], 10, 64)
	pause, err2 := time.ParseDuration(args[1])
	if err := errors.Join(err, err2); err != nil {
		return 2
	}
	piece := make([]byte, 1<<16)
	for off := int64(0); off < size; off += int64(len(piece)) {
		piece = piece[:min(int64(len(piece)), size-off)]
		fillNumbered(piece, off)
		if _, err := os.Stdout.Write(piece); err != nil {
			return 3
		}
		time.Sleep(pause)
	}
	return 7
}

func (m *machine) startFlood(size int64, pause time.Duration, limit int64) api.Process {
	m.Helper()
	exe, err := os.Executable()
	if err != nil {
		m.Fatal(err)
	}
	return m.startProcess(api.ProcessStartInput{Command: []string{exe, "flood", strconv.FormatInt(size, 10), pause.String()}, LogLimit: limit})
}

// A floodRead is the result of reading a flood's log while it was written.
type floodRead struct {
	read, skipped int64
	pages         int
	most          int64 // maximum disk use of the file
}

// readFlood follows a flood through the API to its end. It fails if a byte is wrong, or if the log
// hides that it dropped some. It survives a crash of the engine.
func (m *machine) readFlood(ctx context.Context, p api.Process) (r floodRead, err error) {
	want := make([]byte, 1<<20)
	for at := int64(0); ; {
		out, err := api.ProcessLog.Call(ctx, m.client, api.ProcessLogInput{ID: p.ID, Since: &at, Max: len(want), WaitMS: 5000})
		r.most = max(r.most, diskUse(p.LogPath))
		if errors.Is(err, api.CodeUnavailable) && ctx.Err() == nil {
			time.Sleep(5 * time.Millisecond) // another engine follows
			continue
		}
		if err != nil {
			return r, err
		}
		fillNumbered(want[:len(out.Data)], out.Start)
		switch {
		case out.Data != string(want[:len(out.Data)]):
			return r, errors.New("what was read at " + strconv.FormatInt(out.Start, 10) + " is not what was written there")
		case out.Start < at, out.Start > at && out.Dropped < out.Start, out.NextCursor != out.Start+int64(len(out.Data)):
			return r, errors.New("asked for " + strconv.FormatInt(at, 10) + ", got " + strconv.FormatInt(out.Start, 10))
		}
		r.skipped += out.Start - at
		r.read += int64(len(out.Data))
		r.pages++
		at = out.NextCursor
		if out.State.Ended() && at == out.End {
			return r, nil
		}
	}
}

// diskUse returns the bytes a file takes on disk.
func diskUse(path string) int64 {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return 0
	}
	return st.Blocks * 512
}

// wantFlood fails unless a log has the size of a flood, and every byte after its hole is right. It
// returns the end of the hole, which may still grow.
func (m *machine) wantFlood(path string, size int64) (hole int64) {
	m.Helper()
	f, err := os.Open(path)
	if err != nil {
		m.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		m.Fatal(err)
	}
	if info.Size() != size {
		m.Errorf("the log has %d bytes of %d", info.Size(), size)
	}
	if hole, err = f.Seek(0, unix.SEEK_DATA); err != nil {
		m.Fatal(err)
	}
	got, want := make([]byte, 1<<20), make([]byte, 1<<20)
	for at := hole; ; {
		n, err := f.ReadAt(got, at)
		fillNumbered(want[:n], at)
		if !bytes.Equal(got[:n], want[:n]) {
			was := hole
			if hole, _ = f.Seek(0, unix.SEEK_DATA); hole == was {
				m.Fatalf("the log is damaged behind %d", at)
			}
			at = max(at, hole)
			continue
		}
		if at += int64(n); err == io.EOF {
			return hole
		} else if err != nil {
			m.Fatal(err)
		}
	}
}

// checkFlood writes numbered lines at full speed, follows them, and checks the log afterwards.
func (m *machine) checkFlood(size, limit int64) {
	m.Helper()
	began := time.Now()
	p := m.startFlood(size, 0, limit)
	r, err := m.readFlood(context.Background(), p)
	if err != nil {
		m.Fatal(err)
	}
	end := m.awaitState(p.ID, api.StateExited)
	if end.ExitCode == nil || *end.ExitCode != 7 {
		m.Errorf("ended as %+v", end)
	}
	if r.read+r.skipped != size {
		m.Errorf("%d bytes read and %d dropped of %d", r.read, r.skipped, size)
	}
	var hole int64
	m.eventually("the log within its limit", func() bool {
		hole = m.wantFlood(p.LogPath, size)
		return size-hole <= limit+limit/8+(8<<20)
	})
	if size-hole < limit {
		m.Errorf("only %d bytes are kept", size-hole)
	}
	const mega = 1 << 20
	took := end.ExitedAt.Sub(end.StartedAt)
	m.Logf("%d MB written in %.1f s (%.0f MB/s), followed for %.1f s: %d MB read in %d pages, %d MB dropped before; at most %d MB of disk, %d MB kept",
		size/mega, took.Seconds(), float64(size)/mega/took.Seconds(), time.Since(began).Seconds(), r.read/mega, r.pages, r.skipped/mega, r.most/mega, (size-hole)/mega)
}

func TestFloodIsReadWithoutErrorsOrHiddenGaps(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	m.checkFlood(256<<20, 16<<20)
}

// BenchmarkLogFlood writes and follows 10 GB of numbered lines at full speed with the default limit
// of 64 MB. Run it with go test -run '^$' -bench LogFlood -benchtime 1x ./tests/engine.
func BenchmarkLogFlood(b *testing.B) {
	const size = 10 << 30
	b.SetBytes(size)
	m := startMachine(b)
	for b.Loop() {
		m.checkFlood(size, 64<<20)
	}
}
