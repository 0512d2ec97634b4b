package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A testEntry is an archive entry for a test.
type testEntry struct {
	name, text, link string
	kind             byte // type flag of tar; 0 is a file
}

func makeTar(t *testing.T, entries ...testEntry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: e.kind, Linkname: e.link, Size: int64(len(e.text)), Mode: 0o6777, ModTime: time.Unix(1e9, 0)}
		if e.kind == 0 {
			h.Typeflag = tar.TypeReg
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func makeGzip(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func makeZip(t *testing.T, entries ...testEntry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if h.SetMode(0o644); e.link != "" {
			h.SetMode(fs.ModeSymlink | 0o777)
			e.text = e.link
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, e.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// extractTo unpacks data into a new folder called "in".
func extractTo(t *testing.T, data []byte, bound Bound) (dir string, err error) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "in")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	a, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return dir, err
	}
	return dir, a.Extract(t.Context(), root, bound)
}

func TestExtractKeepsFoldersLinksAndTimes(t *testing.T) {
	entries := []testEntry{{name: "./"}, {name: "./dir/a.txt", text: "first"}, {name: "dir/a.txt", text: "alpha"}, {name: "l", link: "dir/a.txt", kind: tar.TypeSymlink}}
	whole := makeTar(t, append(entries[1:], testEntry{name: "hard", link: "dir/a.txt", kind: tar.TypeLink}, testEntry{name: "pipe", kind: tar.TypeFifo},
		testEntry{name: "empty/", kind: tar.TypeDir})...)
	for name, data := range map[string][]byte{"tar": whole, "tar.gz": makeGzip(t, whole), "zip": makeZip(t, entries[2:]...)} {
		dir, err := extractTo(t, data, Bound{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if text, err := os.ReadFile(filepath.Join(dir, "l")); string(text) != "alpha" {
			t.Errorf("%s: through the link is %q, %v", name, text, err)
		}
		if name == "zip" {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, "hard"))
		if err != nil || info.Mode() != 0o755 || info.ModTime().Unix() != 1e9 {
			t.Errorf("%s: the file is %v, %v", name, info, err)
		}
		if _, err := os.Lstat(filepath.Join(dir, "pipe")); err == nil {
			t.Errorf("%s: a pipe was created", name)
		}
		if info, err := os.Stat(filepath.Join(dir, "empty")); err != nil || !info.IsDir() || info.Mode().Perm()&0o022 != 0 {
			t.Errorf("%s: the folder is %v, %v", name, info, err)
		}
	}
}

func TestExtractCannotWriteOutsideFolder(t *testing.T) {
	link := func(name, target string) testEntry { return testEntry{name: name, link: target, kind: tar.TypeSymlink} }
	for name, entries := range map[string][]testEntry{
		"above":             {{name: "../out", text: "x"}},
		"absolute":          {{name: "/tmp/out", text: "x"}},
		"above in between":  {{name: "a/../../out", text: "x"}},
		"an absolute link":  {link("l", "/etc/passwd")},
		"a link above":      {link("a/l", "../../out")},
		"a hard link above": {{name: "l", link: "../out", kind: tar.TypeLink}},
		"a chain":           {{name: "x/y/f", text: "f"}, link("x/y/d", "../.."), link("x/y/q", "d/..")},
	} {
		dir, err := extractTo(t, makeTar(t, entries...), Bound{})
		if err == nil {
			t.Errorf("%s is extracted", name)
		}
		if _, err := os.Lstat(filepath.Join(filepath.Dir(dir), "out")); err == nil {
			t.Errorf("%s has written outside", name)
		}
	}
	if _, err := extractTo(t, makeZip(t, testEntry{name: "../out", text: "x"}), Bound{}); err == nil {
		t.Error("a zip has written outside")
	}
	// Nothing is written through a link to another folder either: the folder d is created first,
	// and then the link fails.
	outside := t.TempDir()
	if _, err := extractTo(t, makeTar(t, link("d", outside), testEntry{name: "d/f", text: "x"}), Bound{}); err == nil {
		t.Error("a file was written through a link")
	}
	if all, _ := os.ReadDir(outside); len(all) > 0 {
		t.Errorf("outside the folder: %v", all)
	}
}

func TestBoundForIsTwentyTimesTheSizeWithinLimits(t *testing.T) {
	for size, want := range map[int64]int64{0: 100 << 20, 285_000: 100 << 20, 10 << 20: 200 << 20, 1 << 30: 1 << 30, 1 << 40: 1 << 30} {
		if got := BoundFor(size).Bytes; got != want {
			t.Errorf("%d bytes may unpack to %d, want %d", size, got, want)
		}
	}
}

func TestExtractStopsAtBound(t *testing.T) {
	zeros := strings.Repeat("\x00", 5<<20)
	many := make([]testEntry, 30)
	for i := range many {
		many[i].name = strings.Repeat("a", i+1)
	}
	for name, c := range map[string]struct {
		data  []byte
		bound Bound
	}{
		"tar.gz":  {makeGzip(t, makeTar(t, testEntry{name: "a", text: zeros})), Bound{Bytes: 4 << 20}},
		"zip":     {makeZip(t, testEntry{name: "a", text: zeros}), Bound{Bytes: 4 << 20}},
		"entries": {makeTar(t, many...), Bound{Entries: 29}},
	} {
		if _, err := extractTo(t, c.data, c.bound); !errors.Is(err, ErrBound) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := extractTo(t, c.data, Bound{5<<20 + 1, 30}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	single := makeGzip(t, []byte(zeros))
	a, err := Open(bytes.NewReader(single), int64(len(single)))
	if err != nil || !a.Single() {
		t.Fatal(err)
	}
	if err := a.Copy(t.Context(), io.Discard, Bound{Bytes: 4 << 20}); !errors.Is(err, ErrBound) {
		t.Errorf("a single file: %v", err)
	}
}

func TestExtractStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	data := makeTar(t, testEntry{name: "a", text: "a"})
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	a, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Extract(ctx, root, Bound{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Extract = %v", err)
	}
}

func TestOpenExplainsUnreadableArchives(t *testing.T) {
	encrypted := makeZip(t, testEntry{name: "a", text: "a"})
	encrypted[6] |= 1                                              // in the entry
	encrypted[bytes.Index(encrypted, []byte("PK\x01\x02"))+8] |= 1 // and in the directory
	for says, data := range map[string][]byte{
		"not a zip or tar": []byte("hello"), "zstd is not supported": []byte("\x28\xb5\x2f\xfdxxxx"), "encrypted": encrypted,
		"unexpected EOF": makeGzip(t, makeTar(t, testEntry{name: "a", text: strings.Repeat("abc", 1000)}))[:60],
	} {
		if _, err := extractTo(t, data, Bound{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", says, err)
		}
	}
}

func FuzzExtract(f *testing.F) {
	f.Add([]byte("PK\x05\x06"))
	f.Add([]byte("\x1f\x8b"))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir, _ := extractTo(t, data, Bound{1 << 20, 100})
		if all, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(all) != 1 {
			t.Errorf("next to the folder: %v, %v", all, err)
		}
	})
}
