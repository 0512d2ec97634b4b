package ptylog

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/persist/linelog"
	"tandem/persist/logtest"
	"tandem/persist/memfile"
)

// A log in memory is read and bounded like one on disk.
func TestLogInMemoryIsBoundedAndReadable(t *testing.T) {
	const limit = 256 << 10
	var files memfile.Files
	path, all := logtest.LogPath(t), logtest.Text(4<<20)
	open := func() *Log {
		l, err := Open(path, Options{Limit: limit, Open: files.Open})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	l := open()
	write(t, l, all)
	if l.plain || !l.Bounded() || l.Start() == 0 {
		t.Errorf("plain %v, bounded %v, start %d", l.plain, l.Bounded(), l.Start())
	}
	r, err := linelog.Open(path, linelog.Options{End: l.End, Open: files.Open})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Start() != l.Start() || r.End() != l.End() {
		t.Errorf("read from %d to %d, want %d to %d", r.Start(), r.End(), l.Start(), l.End())
	}
	got := make([]byte, r.End()-r.Start())
	if _, err := r.ReadAt(got, r.Start()); err != nil || !bytes.Equal(got, all[r.Start():]) {
		t.Errorf("the end of the log differs: %v", err)
	}
	held, err := files.Open(path, os.O_RDONLY)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(held.Fd()), &st); err != nil || st.Blocks*512 > 2*limit {
		t.Errorf("%d bytes of memory are used, %v", st.Blocks*512, err)
	}
	start, end := l.Start(), l.End()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if again := open(); again.Start() != start || again.End() != end || !bytes.Equal(contents(t, again), all[start:]) {
		t.Errorf("opened again from %d to %d, was from %d to %d", again.Start(), again.End(), start, end)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a file: %v", err)
	}
}
