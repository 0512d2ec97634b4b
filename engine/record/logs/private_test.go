package logs

import (
	"os"
	"path/filepath"
	"testing"

	"tandem/engine/api"
	"tandem/persist/memfile"
)

func TestPrivateLogIsReadFromMemory(t *testing.T) {
	r := newLogRig(t)
	var files memfile.Files
	r.logs.OpenInMemory = files.Open
	path := filepath.Join(t.TempDir(), "process.log")
	f, err := files.Open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("one\ntwo\n"), 0); err != nil {
		t.Fatal(err)
	}
	r.source.Path, r.source.Private = path, true
	if out := r.read(api.ProcessLogInput{}); out.Data != "one\ntwo\n" {
		t.Errorf("read %+v", out)
	}
	if out := r.read(api.ProcessLogInput{Grep: "tw", Backward: true}); len(out.Matches) != 1 || out.Matches[0].Text != "two" {
		t.Errorf("found %+v", out)
	}
	if lines := r.logs.LastLines(r.source, 1); len(lines) != 1 || lines[0] != "two" {
		t.Errorf("last lines %q", lines)
	}
	pattern, err := CompilePattern("p", "one")
	if err != nil {
		t.Fatal(err)
	}
	if line, _, err := r.logs.WaitLine(t.Context(), r.source, pattern, r.source.Places(0, 0)); err != nil || line != "one" {
		t.Errorf("waited for %q, %v", line, err)
	}
}
