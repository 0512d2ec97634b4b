package preview

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/panes/widget"
	"tandem/tests/needs"
	"tandem/themes"
)

// A memory is a source of files that are in memory.
type memory map[string][]byte

func (s memory) ReadAt(_ context.Context, path string, off, n int64) ([]byte, int64, error) {
	data, ok := s[path]
	if !ok {
		return nil, 0, api.Errorf(api.CodeNotFound, "read %s: no such file or folder", path)
	}
	size := int64(len(data))
	off = min(off, size)
	return data[off:min(off+n, size)], size, nil
}

func (s memory) List(context.Context, string, int) ([]api.FileInfo, int, error) {
	return entries("a/", "b", "c"), 7, nil
}

// A viewing is a preview that has all that it asks for.
type viewing struct {
	*testing.T
	Preview
	from memory
}

func view(t *testing.T, name string, data []byte) *viewing {
	t.Helper()
	v := &viewing{T: t, from: memory{name: data}}
	v.Colors = 1 << 24
	v.Show(name, api.FileInfo{Name: name[1:], Type: "file", Size: int64(len(data))})
	return v
}

// see settles and gives the rows without colours.
func (v *viewing) see() string {
	v.Helper()
	const w, h = 80, 10
	for range 1000 {
		v.Draw(w, h, unicodeLook())
		r, ok := v.Next()
		if !ok {
			rows := v.Draw(w, h, unicodeLook())
			for _, row := range rows {
				if got := ansi.StringWidth(row); got != w || len(rows) != h {
					v.Errorf("row of %d cells, not %d: %q", got, w, row)
				}
			}
			return ansi.Strip(strings.Join(rows, "\n"))
		}
		v.Take(Load(v.Context(), v.from, r))
	}
	v.Fatal("it asks for ever")
	return ""
}

func (v *viewing) shows(want string) {
	v.Helper()
	if got := v.see(); !strings.Contains(got, want) {
		v.Errorf("%q is not in\n%s", want, got)
	}
}

// countedLines is text of n lines.
func countedLines(n int) []byte {
	var out bytes.Buffer
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&out, "line number %d\n", i)
	}
	return out.Bytes()
}

// atTop is the line in sight first, which has to be numbered as it says.
func (v *viewing) atTop() int {
	v.Helper()
	var number, said int
	if _, err := fmt.Sscanf(v.see(), "%d line number %d", &number, &said); err != nil || number != said {
		v.Errorf("line %d is numbered %d, %v", said, number, err)
	}
	return said
}

func TestLongTextIsReadAsItIsScrolled(t *testing.T) {
	needs.FullRun(t)
	const n = 700_000
	v := view(t, "/long.txt", countedLines(n))
	v.shows("1  line number 1 ")
	for range 1500 {
		v.Scroll(190)
		v.see()
	}
	if down := v.atTop(); down < 250_000 {
		t.Errorf("scrolled to line %d", down)
	}
	if v.end-v.start > 2*previewHeld {
		t.Errorf("%d bytes are held", v.end-v.start)
	}
	for range 1400 {
		v.Scroll(-190)
		v.see()
	}
	if up := v.atTop(); up > 30_000 {
		t.Errorf("scrolled back to line %d", up)
	}
	v.End()
	v.shows(fmt.Sprintf("line number %d ", n))
	v.Scroll(-5000)
	v.see()
	v.Scroll(-5000)
	v.shows("line number 689")
	v.Home()
	v.shows("1  line number 1 ")
}

func TestALineIsGoneTo(t *testing.T) {
	v := view(t, "/long.txt", countedLines(50_000))
	v.GoLine(40_000)
	v.shows("40000  line number 40000 ")
	v.End()
	v.see()
	v.Search([]int64{10, 40_001, 49_999})
	for _, want := range []int{40_001, 49_999, 10, 40_001} {
		v.NextHit(false)
		v.shows(fmt.Sprintf("%d  line number %d ", want, want))
	}
	v.NextHit(true)
	v.shows("10  line number 10 ")
	v.NextHit(true)
	v.shows("49999  line number 49999 ")
	v.GoLine(1_000_000)
	v.see()
}

func TestFarLinesAreGoneToWithoutHoldingAll(t *testing.T) {
	v := view(t, "/long.txt", countedLines(700_000))
	v.see()
	v.GoLine(650_000)
	v.shows("650000  line number 650000 ")
	if v.end-v.start > 2*previewHeld {
		t.Errorf("%d bytes are held", v.end-v.start)
	}
}

func TestBytesAreShownAsNumbers(t *testing.T) {
	data := make([]byte, 1<<20)
	copy(data, "\x00ABC")
	v := view(t, "/data", data)
	v.shows("000000  00 41 42 43 00")
	v.shows(".ABC....")
	v.End()
	v.shows("0ffff0  00")
	v.Home()
	v.shows("000000  00 41")
}

func TestOneLineWithoutEndIsShownInPieces(t *testing.T) {
	v := view(t, "/line", bytes.Repeat([]byte("0123456789ü"), 100_000))
	v.shows("1  0123456789ü0123")
	v.End()
	v.shows("0123456789")
	v.Wrap()
	v.shows("6789ü")
}

func TestTextIsShownSafely(t *testing.T) {
	v := view(t, "/t", []byte("a\tb\x1b[2J\r\nbad\xff end\n\u202ertl\n"))
	v.shows("a   b␛[2J ")
	v.shows("bad\ufffd end")
	v.shows("\ufffdrtl")
}

func TestArchivesAreListed(t *testing.T) {
	var zipped, tarred bytes.Buffer
	z := zip.NewWriter(&zipped)
	w, _ := z.Create("dir/a.txt")
	w.Write([]byte("hello"))
	z.Close()
	packed := gzip.NewWriter(&tarred)
	ta := tar.NewWriter(packed)
	ta.WriteHeader(&tar.Header{Name: "dir/\x1b[2Jb.txt", Size: 2, Mode: 0o644})
	ta.Write([]byte("hi"))
	ta.Close()
	packed.Close()
	var plain bytes.Buffer
	g := gzip.NewWriter(&plain)
	g.Write([]byte("only text\n"))
	g.Close()
	v := view(t, "/a.zip", zipped.Bytes())
	v.shows("5B  dir/a.txt")
	if got := v.detail(); !strings.HasSuffix(got, "1 entry") {
		t.Errorf("the heading is %q", got)
	}
	view(t, "/a.tgz", tarred.Bytes()).shows("2B  dir/␛[2Jb.txt")
	view(t, "/a.gz", plain.Bytes()).shows("only text")
	view(t, "/broken.zip", []byte("PK\x03\x04 and nothing more")).shows("damaged")
}

func TestPicturesAreDrawnWhereThereAreColours(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 4, 4))
	for i := range 16 {
		img.Set(i%4, i/4, color.RGBA{255, 0, 0, 255})
	}
	var out bytes.Buffer
	png.Encode(&out, img)
	v := view(t, "/p.png", out.Bytes())
	v.shows("▀▀▀▀ ")
	if !strings.Contains(strings.Join(v.Draw(80, 10, unicodeLook()), ""), "38;2;255;0;0") {
		t.Error("the red is lost")
	}
	if got := v.Heading(80, unicodeLook()); !strings.Contains(ansi.Strip(got), "png 4×4") {
		t.Errorf("the heading is %q", got)
	}
	v.Colors = 0
	v.shows("too few colours")
	view(t, "/half.png", out.Bytes()[:30]).shows("damaged")
}

func TestAHeadingTellsWhatAFileIsHoweverLongItsName(t *testing.T) {
	v := view(t, "/"+strings.Repeat("long", 20)+".txt", []byte("text\n"))
	v.see()
	got := ansi.Strip(v.Heading(43, unicodeLook()))
	if !strings.Contains(got, " 5B ") || !strings.Contains(got, "long") || !strings.Contains(got, ".txt") || ansi.StringWidth(got) != 43 {
		t.Errorf("it is %q", got)
	}
	if got := ansi.Strip(v.Heading(14, unicodeLook())); ansi.StringWidth(got) != 14 || !strings.Contains(got, "long") {
		t.Errorf("the narrow one is %q", got)
	}
}

func TestANarrowPreviewHasFewerBytesInARow(t *testing.T) {
	data := bytes.Repeat([]byte("\x00abcdefg\x01ABCDEFG"), 100_000)
	v := view(t, "/f", data)
	v.shows("00 61 62 63 64 65 66 67  01 41 42 43 44 45 46 47  .abcdefg.ABCDEFG")
	rows := func() string {
		for range 1000 {
			v.Resize(43, 10)
			r, ok := v.Next()
			if !ok {
				break
			}
			v.Take(Load(v.Context(), v.from, r))
		}
		return ansi.Strip(strings.Join(v.Draw(43, 10, unicodeLook()), "\n"))
	}
	if got := rows(); !strings.Contains(got, " 000000  00 61 62 63 64 65 66 67  .abcdefg") || !strings.Contains(got, " 000008  01 41") {
		t.Errorf("it is\n%s", got)
	}
	v.End()
	rows()
	v.End()
	if got := rows(); !strings.Contains(got, fmt.Sprintf(" %06x  01 41", len(data)-8)) {
		t.Errorf("its end is\n%s", got)
	}
	v.Resize(80, 10)
	v.shows("00 61 62 63 64 65 66 67  01 41 42 43 44 45 46 47  .abcdefg.ABCDEFG")
}

func TestWordsInPlaceOfContentAreWrapped(t *testing.T) {
	var p Preview
	p.Show("/f", api.FileInfo{Name: "f", Type: "fifo"})
	p.Resize(20, 3)
	r, _ := p.Next()
	p.Take(Load(t.Context(), memory{}, r))
	rows := p.Draw(20, 3, unicodeLook())
	if got := ansi.Strip(strings.Join(rows, "\n")); got != " a named pipe       \n not read, because  \n reading it could   " {
		t.Errorf("it is\n%s", got)
	}
}

func TestWhatIsNotReadSaysWhatItIs(t *testing.T) {
	cases := []struct {
		info api.FileInfo
		want string
	}{
		{api.FileInfo{Name: "p", Type: "fifo"}, "a named pipe"},
		{api.FileInfo{Name: "d", Type: "device"}, "a device"},
		{api.FileInfo{Name: "l", Type: "link", Broken: true, Target: "no\nwhere"}, "broken link → no␊where"},
		{api.FileInfo{Name: "f", Type: "dir"}, "and 7 more"},
		{api.FileInfo{Name: "gone", Type: "file"}, "no such file"},
	}
	for _, c := range cases {
		v := &viewing{T: t, from: memory{}}
		v.Show("/"+c.info.Name, c.info)
		v.shows(c.want)
	}
	view(t, "/empty", nil).shows("empty")
}

func TestAChangedFileIsReadAgainAtTheSamePlace(t *testing.T) {
	v := view(t, "/log", countedLines(1000))
	v.see()
	v.Scroll(500)
	v.shows("line number 501 ")
	v.from["/log"] = bytes.ReplaceAll(countedLines(1000), []byte("number"), []byte("NUMBER"))
	v.Show("/log", api.FileInfo{Name: "log", Type: "file", Size: 1})
	v.shows("line NUMBER 501 ")
}

func FuzzPreview(f *testing.F) {
	f.Add([]byte("PK\x03\x04"), 3)
	f.Add([]byte("\x1f\x8b\x08"), 1)
	f.Add([]byte("\x89PNG\r\n\x1a\n"), 1)
	f.Add([]byte("GIF89a"), 1)
	f.Add([]byte("package x\n/*"), 50)
	f.Add([]byte("\xff\xfe\x00"), 9000)
	f.Fuzz(func(t *testing.T, data []byte, times int) {
		data = bytes.Repeat(data, min(max(times, 1), 10_000))
		data = data[:min(len(data), 1<<20)]
		v := view(t, "/x.go", data)
		v.see()
		v.Scroll(100)
		v.Wrap()
		v.see()
		v.End()
		v.see()
	})
}

func unicodeLook() *widget.Look { return &widget.Look{Glyphs: themes.UnicodeGlyphs()} }

func entries(names ...string) (all []api.FileInfo) {
	for i, name := range names {
		f := api.FileInfo{Name: strings.TrimSuffix(name, "/"), Type: "file", Mode: "0644", Size: int64(i), Modified: noon.Add(time.Duration(i) * time.Minute)}
		if f.Name != name {
			f.Type = "dir"
		}
		all = append(all, f)
	}
	return all
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
