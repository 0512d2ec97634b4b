package inputnotes

import (
	"fmt"
	"path/filepath"
	"testing"
)

func free(*Note) bool { return false }

func TestNotesOutliveTheirMapping(t *testing.T) {
	path := filepath.Join(t.TempDir(), "input")
	for engine := range 2 {
		notes, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		note, known := notes.Find("x", free)
		if known != (engine == 1) || int(note.Begun.Load()) != engine*7 {
			t.Errorf("engine %d: known %v, begun %d", engine, known, note.Begun.Load())
		}
		note.Begun.Store(7)
		note.Paste.Store(1)
		if at := notes.Pasting(); at != note {
			t.Errorf("engine %d: pasting %p, want %p", engine, at, note)
		}
		if err := notes.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOldestNoteThatIsNotBusyIsReplaced(t *testing.T) {
	notes := New()
	var all []*Note
	for i := range capacity {
		note, known := notes.Find(fmt.Sprint("viewer ", i), free)
		if note == nil || known {
			t.Fatalf("note %d: %v, known %v", i, note, known)
		}
		note.Connected.Store(int64(i + 1))
		all = append(all, note)
	}
	busy := func(n *Note) bool { return n == all[0] }
	if note, known := notes.Find("another", busy); note != all[1] || known || note.Connected.Load() != 0 {
		t.Errorf("note %p, known %v", note, known)
	}
	if note, known := notes.Find("viewer 0", busy); note != all[0] || !known {
		t.Errorf("of the busy one: %p, known %v", note, known)
	}
	if note, _ := notes.Find("one more", func(*Note) bool { return true }); note != nil {
		t.Error("a busy note is replaced")
	}
}
