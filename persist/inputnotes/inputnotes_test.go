package inputnotes

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func free(*Note) bool { return false }

func TestNotesAreKeptAfterTheirMappingIsClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "input")
	for engine := range 2 {
		notes, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		note, known := notes.Find("x", free)
		if known != (engine == 1) || int(note.Begun) != engine*7 {
			t.Errorf("engine %d: known %v, begun %d", engine, known, note.Begun)
		}
		note.Begun, note.Paste = 7, true
		note.Save()
		if at := notes.Pasting(); at != note {
			t.Errorf("engine %d: pasting %p, want %p", engine, at, note)
		}
		if err := notes.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Any process of the user may truncate the file, and a disk may become read-only.
func TestNotesContinueInMemoryWithoutTheirFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "input")
	notes, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer notes.Close()
	note, _ := notes.Find("x", free)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		note.Begun++
		note.Save()
	}
	if again, known := notes.Find("x", free); again != note || !known || note.Begun != 2 {
		t.Errorf("note %p, known %v, begun %d", again, known, note.Begun)
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
		note.Connected = int64(i + 1)
		all = append(all, note)
	}
	busy := func(n *Note) bool { return n == all[0] }
	if note, known := notes.Find("another", busy); note != all[1] || known || note.Connected != 0 {
		t.Errorf("note %p, known %v", note, known)
	}
	if note, known := notes.Find("viewer 0", busy); note != all[0] || !known {
		t.Errorf("of the busy one: %p, known %v", note, known)
	}
	if note, _ := notes.Find("one more", func(*Note) bool { return true }); note != nil {
		t.Error("a busy note is replaced")
	}
}
