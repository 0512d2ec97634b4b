package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tandem/tests/seed"
)

func TestReadReturnsRequestedLines(t *testing.T) {
	g := newTestTree(t)
	g.addFile("f", "1\n2\r\n3\n\n5")
	for _, c := range []struct {
		offset, limit int64
		want          ReadResult
	}{
		{0, 0, ReadResult{Text: "1\n2\r\n3\n\n5", FirstLine: 1, LastLine: 5}},
		{2, 2, ReadResult{Text: "2\r\n3\n", FirstLine: 2, LastLine: 3, Cut: CutLimit}},
		{4, 0, ReadResult{Text: "\n5", FirstLine: 4, LastLine: 5}},
		{4, 2, ReadResult{Text: "\n5", FirstLine: 4, LastLine: 5}},
		{5, 9, ReadResult{Text: "5", FirstLine: 5, LastLine: 5}},
		{6, 1, ReadResult{}},
	} {
		got, err := g.Read(t.Context(), ReadRequest{Path: "f", Offset: c.offset, Limit: c.limit})
		c.want.Path, c.want.Kind, c.want.Size, c.want.TotalLines = g.root+"/f", Text, 9, 5
		c.want.ReadBytes = int64(len(c.want.Text))
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%d, %d: %v %s", c.offset, c.limit, err, diff)
		}
	}
}

func TestReadStopsAtSizeLimits(t *testing.T) {
	g := newTestTree(t)
	line := strings.Repeat("x", 1023) + "\n"
	g.addFile("bytes", strings.Repeat(line, 60))
	g.addFile("lines", strings.Repeat("\n", 2001))
	g.addFile("long", "a\n"+strings.Repeat("y", 70000)+"\nb\n")
	g.addFile("just", strings.Repeat("z", maxTextBytes))
	read := func(path string, offset int64) ReadResult {
		t.Helper()
		out, err := g.Read(t.Context(), ReadRequest{Path: path, Offset: offset})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if out := read("bytes", 0); out.Cut != CutBytes || out.LastLine != 50 || out.TotalLines != 60 || len(out.Text) != 50*1024 {
		t.Errorf("bytes: %s %d %d %d", out.Cut, out.LastLine, out.TotalLines, len(out.Text))
	}
	if out := read("lines", 0); out.Cut != CutLines || out.LastLine != 2000 || out.TotalLines != 2001 {
		t.Errorf("lines: %+v", out)
	}
	if out := read("long", 0); out.Cut != CutBytes || out.Text != "a\n" || out.TotalLines != 3 {
		t.Errorf("long: %+v", out)
	}
	if out := read("long", 2); out.Cut != CutLine || out.Text != "" || out.FirstLine != 2 || out.LineBytes != 70000 || out.TotalLines != 3 {
		t.Errorf("long line: %s %d %d %d", out.Cut, out.FirstLine, out.LineBytes, out.TotalLines)
	}
	if out := read("just", 0); out.Cut != "" || len(out.Text) != maxTextBytes {
		t.Errorf("just: %s %d", out.Cut, len(out.Text))
	}
	out, err := g.Read(t.Context(), ReadRequest{Path: "bytes", Unbounded: true})
	if err != nil || out.Cut != "" || len(out.Text) != 60*1024 {
		t.Errorf("unbounded: %s %d %v", out.Cut, len(out.Text), err)
	}
}

// The result must not depend on how the reader splits the file.
func TestLineRangesCoverWholeFile(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([a-c]{0,5}\n?){0,12}`).Draw(t, "text")
		limit := rapid.Int64Range(1, 4).Draw(t, "limit")
		var all strings.Builder
		for offset := int64(1); ; {
			var out ReadResult
			in := iotest.OneByteReader(strings.NewReader(text))
			if err := out.readLines(context.Background(), in, ReadRequest{Offset: offset, Limit: limit}); err != nil {
				t.Fatal(err)
			}
			want := int64(strings.Count(text, "\n"))
			if text != "" && !strings.HasSuffix(text, "\n") {
				want++
			}
			if out.TotalLines != want {
				t.Fatalf("%d lines, want %d", out.TotalLines, want)
			}
			all.WriteString(out.Text)
			if out.Cut == "" {
				break
			}
			offset = out.LastLine + 1
		}
		if all.String() != text {
			t.Fatalf("got %q", all.String())
		}
	})
}

func TestReadUsesLittleMemoryForHugeFile(t *testing.T) {
	g := newTestTree(t)
	path := filepath.Join(g.root, "huge")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	block := bytes.Repeat([]byte("0123456789abcde\n"), 1<<16)
	for range 64 {
		if _, err := f.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	f.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out, err := g.Read(t.Context(), ReadRequest{Path: "huge", Offset: 64<<16 - 1})
	runtime.ReadMemStats(&after)
	if err != nil || out.TotalLines != 64<<16 || out.Text != "0123456789abcde\n0123456789abcde\n" {
		t.Errorf("%+v, %v", out, err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 2<<20 {
		t.Errorf("allocated %d bytes", used)
	}
}

func TestReadStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out ReadResult
	endless := readerFunc(func(b []byte) (int, error) { return len(b), nil })
	if err := out.readLines(ctx, endless, ReadRequest{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func TestByteRangeIsTextIfValidUTF8(t *testing.T) {
	g := newTestTree(t)
	g.addFile("f", "aé€😀")
	g.addFile("raw", "a\xff\x00b")
	for _, c := range []struct {
		path          string
		offset, limit int64
		text, data    string
		read          int64
		cut           Cut
	}{
		{"f", 0, 0, "aé€😀", "", 10, ""},
		{"f", 0, 2, "a", "", 1, CutLimit},
		{"f", 1, 4, "é", "", 2, CutLimit},
		{"f", 3, 3, "€", "", 3, CutLimit},
		{"f", 6, 4, "😀", "", 4, ""},
		{"f", 6, 3, "", "\xf0\x9f\x98", 3, CutLimit},
		{"f", 2, 1, "", "\xa9", 1, CutLimit},
		{"f", 10, 5, "", "", 0, ""},
		{"raw", 0, 0, "", "a\xff\x00b", 4, ""},
		{"raw", 2, 1, "\x00", "", 1, CutLimit},
	} {
		out, err := g.Read(t.Context(), ReadRequest{Path: c.path, Offset: c.offset, Limit: c.limit, Bytes: true})
		if err != nil || out.Text != c.text || string(out.Data) != c.data || out.ReadBytes != c.read || out.Cut != c.cut {
			t.Errorf("%s %d %d: %q %q %d %s %v", c.path, c.offset, c.limit, out.Text, out.Data, out.ReadBytes, out.Cut, err)
		}
	}
}

func TestByteRangesCoverWholeFile(t *testing.T) {
	g := newTestTree(t)
	seed.Check(t, func(t *rapid.T) {
		want := rapid.String().Draw(t, "text")
		limit := rapid.Int64Range(utf8.UTFMax, 9).Draw(t, "limit")
		g.addFile("f", want)
		var all strings.Builder
		for {
			out, err := g.Read(context.Background(), ReadRequest{Path: "f", Offset: int64(all.Len()), Limit: limit, Bytes: true})
			if err != nil || out.Data != nil {
				t.Fatalf("%+v, %v", out, err)
			}
			if all.WriteString(out.Text); out.Cut == "" {
				break
			}
		}
		if all.String() != want {
			t.Fatalf("got %q", all.String())
		}
	})
}

func TestSpecialFilesAreRefusedWithoutBlocking(t *testing.T) {
	g := newTestTree(t)
	if err := syscall.Mkfifo(filepath.Join(g.root, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(g.shortRoot(), "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	g.addFile("dir/f", "")
	g.addLink("pipe", "to pipe")
	for path, kind := range map[string]string{"pipe": "pipe", "to pipe": "pipe", "socket": "socket", "dir": "folder"} {
		want, reason := "it is a "+kind+", not a file", NotFile
		if kind == "folder" {
			reason = IsDir
		}
		_, err := g.Read(t.Context(), ReadRequest{Path: path})
		if !errors.Is(err, reason) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("read %s: %v", path, err)
		}
		for _, add := range []bool{false, true} {
			_, err = g.Write(t.Context(), WriteRequest{Path: path, Data: []byte("x"), Append: add})
			if !errors.Is(err, reason) || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("write %s: %v", path, err)
			}
		}
		if _, _, err = g.EditFile(t.Context(), path, []Edit{{Search: "x"}}); !errors.Is(err, reason) {
			t.Errorf("edit %s: %v", path, err)
		}
	}
	for path, want := range map[string]Reason{"pipe": NotDir, "pipe/x": PathNotDir} {
		if _, err := g.List(t.Context(), ListRequest{Path: path, Hidden: true}); !errors.Is(err, want) {
			t.Errorf("list %s: %v", path, err)
		}
	}
	if _, err := (&Tree{}).Read(t.Context(), ReadRequest{Path: "/dev/zero"}); !errors.Is(err, NotFile) {
		t.Errorf("device: %v", err)
	}
	if _, err := (&Tree{}).Write(t.Context(), WriteRequest{Path: filepath.Join(g.root, "pipe", "x")}); !errors.Is(err, PathNotDir) {
		t.Errorf("below a pipe: %v", err)
	}
	if out, err := g.searcher().Grep(t.Context(), GrepRequest{Pattern: "x"}); err != nil || out.Matches != 0 {
		t.Errorf("grep: %v %v", out, err)
	}
}

// shortRoot returns a path to the root that is short enough for a socket.
func (g *testTree) shortRoot() string {
	dir, err := os.MkdirTemp("", "td")
	if err != nil {
		g.Fatal(err)
	}
	g.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Symlink(g.root, filepath.Join(dir, "r")); err != nil {
		g.Fatal(err)
	}
	return filepath.Join(dir, "r")
}

func TestReadHandlesKernelFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		return
	}
	out, err := (&Tree{}).Read(t.Context(), ReadRequest{Path: "/proc/self/status"})
	if err != nil || !strings.Contains(out.Text, "Pid:") {
		t.Errorf("%q, %v", out.Text, err)
	}
	if _, err := (&Tree{}).Read(t.Context(), ReadRequest{Path: "/proc/kmsg"}); err == nil {
		t.Error("read an endless file to its end")
	}
}

func TestDetectKindRecognizesImages(t *testing.T) {
	for head, want := range map[string]string{
		"\x89PNG\r\n\x1a\n\x00": "image/png", "\xff\xd8\xff\xe0": "image/jpeg", "GIF87a": "image/gif", "GIF89a": "image/gif",
		"RIFF\x01\x00\x00\x00WEBPVP8 ": "image/webp", "RIFF\x01\x00\x00\x00WAVE": "", "GIF8": "", "": "", "text": "", "\x00": "",
	} {
		if _, mime := detectKind([]byte(head)); mime != want {
			t.Errorf("%q: %s", head, mime)
		}
	}
}

func TestReadJSONReturnsValueUnchanged(t *testing.T) {
	g := newTestTree(t)
	for content, want := range map[string]string{
		"\ufeff { \"b\":1e400, \"a\": [ 1.0 ] }\n": `{"b":1e400,"a":[1.0]}`, "null": "null", `"\ud800"`: `"\ud800"`,
	} {
		g.addFile("f", content)
		if _, got, err := g.ReadJSON("f"); err != nil || string(got) != want {
			t.Errorf("%q: %s, %v", content, got, err)
		}
	}
	for content, want := range map[string]string{
		"": "it is empty", " \n": "it is empty", "{\"a\":\n 1,}": "line 2, column 4: invalid character '}' looking for beginning of object key string",
		"1 2": "line 1, column 3: invalid character '2' after top-level value", "\x00": "line 1, column 1: invalid character '\\x00' looking for beginning of value",
		strings.Repeat("[", 20000): "exceeded max depth",
	} {
		g.addFile("f", content)
		_, _, err := g.ReadJSON("f")
		if !errors.Is(err, NotJSON) || !strings.HasPrefix(err.Error(), "invalid JSON in "+g.root+"/f: ") || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%.20q: %v", content, err)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\r\n\nc"), int64(2), int64(1), 3)
	f.Fuzz(func(t *testing.T, data []byte, offset, limit int64, piece int) {
		var out ReadResult
		piece = 1 + max(piece, -piece-1)%64
		in := readerFunc(func(b []byte) (int, error) {
			n := copy(b[:min(len(b), piece)], data)
			data = data[n:]
			if n == 0 {
				return 0, io.EOF
			}
			return n, nil
		})
		all := string(data)
		r := ReadRequest{Offset: max(offset, 0), Limit: max(limit, 0)}
		if err := out.readLines(context.Background(), in, r); err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(all, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		if out.TotalLines != int64(len(lines)) {
			t.Fatalf("%d lines of %d", out.TotalLines, len(lines))
		}
		if out.FirstLine > 0 && out.Cut != CutLine {
			want := strings.Join(lines[out.FirstLine-1:out.LastLine], "")
			if out.ReadBytes != int64(len(want)) || out.Text != strings.ToValidUTF8(want, "\uFFFD") {
				t.Fatalf("lines %d to %d are %q", out.FirstLine, out.LastLine, out.Text)
			}
		}
	})
}

func BenchmarkReadEndsOf1GB(b *testing.B) {
	g := newTestTree(b)
	path := filepath.Join(g.root, "huge")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	block := bytes.Repeat([]byte("a line of a log that is about as long as such lines are, 80 characters or so...\n"), 1<<14)
	for n := 0; n < 1<<30; n += len(block) {
		if _, err := f.Write(block); err != nil {
			b.Fatal(err)
		}
	}
	last := int64(1<<30/len(block)+1) << 14
	for name, offset := range map[string]int64{"head": 1, "tail": last - 100} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				out, err := g.Read(b.Context(), ReadRequest{Path: "huge", Offset: offset})
				if err != nil || out.TotalLines != last {
					b.Fatal(fmt.Sprint(out.TotalLines, err))
				}
			}
		})
	}
}
