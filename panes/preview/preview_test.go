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
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/tests/needs"
	"tandem/themes"
)

// A memorySource is a source of files in memory.
type memorySource map[string][]byte

func (s memorySource) ReadAt(_ context.Context, path string, off, n int64) ([]byte, int64, error) {
	data, ok := s[path]
	if !ok {
		return nil, 0, api.Errorf(api.CodeNotFound, "read %s: no such file or folder", path)
	}
	size := int64(len(data))
	off = min(off, size)
	return data[off:min(off+n, size)], size, nil
}

func (s memorySource) List(context.Context, string, int) ([]api.FileInfo, int, error) {
	return entries("a/", "b", "c"), 7, nil
}

// A loadedPreview is a preview with all its requests answered.
type loadedPreview struct {
	*testing.T
	Preview
	from memorySource
}

func openPreview(t *testing.T, name string, data []byte) *loadedPreview {
	t.Helper()
	v := &loadedPreview{T: t, from: memorySource{name: data}}
	v.Colors = 1 << 24
	v.Show(name, api.FileInfo{Name: name[1:], Type: "file", Size: int64(len(data))})
	return v
}

// renderRows answers all requests and returns the rows without colours.
func (v *loadedPreview) renderRows() string {
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

func (v *loadedPreview) expectText(want string) {
	v.Helper()
	if got := v.renderRows(); !strings.Contains(got, want) {
		v.Errorf("%q is not in\n%s", want, got)
	}
}

// numberedLines returns a text of n lines.
func numberedLines(n int) []byte {
	var out bytes.Buffer
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&out, "line number %d\n", i)
	}
	return out.Bytes()
}

// topLine returns the number of the first visible line, which must match its text.
func (v *loadedPreview) topLine() int {
	v.Helper()
	var number, said int
	if _, err := fmt.Sscanf(v.renderRows(), "%d line number %d", &number, &said); err != nil || number != said {
		v.Errorf("line %d is numbered %d, %v", said, number, err)
	}
	return said
}

func TestScrollingLoadsMoreOfALongText(t *testing.T) {
	needs.FullRun(t)
	const n = 700_000
	v := openPreview(t, "/long.txt", numberedLines(n))
	v.expectText("1  line number 1 ")
	for range 1500 {
		v.Scroll(190)
		v.renderRows()
	}
	if down := v.topLine(); down < 250_000 {
		t.Errorf("scrolled to line %d", down)
	}
	if v.end-v.start > 2*previewHeld {
		t.Errorf("%d bytes are held", v.end-v.start)
	}
	for range 1400 {
		v.Scroll(-190)
		v.renderRows()
	}
	if up := v.topLine(); up > 30_000 {
		t.Errorf("scrolled back to line %d", up)
	}
	v.End()
	v.expectText(fmt.Sprintf("line number %d ", n))
	v.Scroll(-5000)
	v.renderRows()
	v.Scroll(-5000)
	v.expectText("line number 689")
	v.Home()
	v.expectText("1  line number 1 ")
}

func TestGoLineShowsTheLine(t *testing.T) {
	v := openPreview(t, "/long.txt", numberedLines(50_000))
	v.GoLine(40_000)
	v.expectText("40000  line number 40000 ")
	v.End()
	v.renderRows()
	v.Search([]int64{10, 40_001, 49_999})
	for _, want := range []int{40_001, 49_999, 10, 40_001} {
		v.NextHit(false)
		v.expectText(fmt.Sprintf("%d  line number %d ", want, want))
	}
	v.NextHit(true)
	v.expectText("10  line number 10 ")
	v.NextHit(true)
	v.expectText("49999  line number 49999 ")
	v.GoLine(1_000_000)
	v.renderRows()
}

func TestGoLineHoldsOnlyAWindow(t *testing.T) {
	v := openPreview(t, "/long.txt", numberedLines(700_000))
	v.renderRows()
	v.GoLine(650_000)
	v.expectText("650000  line number 650000 ")
	if v.end-v.start > 2*previewHeld {
		t.Errorf("%d bytes are held", v.end-v.start)
	}
}

func TestBinaryFileIsShownAsHex(t *testing.T) {
	data := make([]byte, 1<<20)
	copy(data, "\x00ABC")
	v := openPreview(t, "/data", data)
	v.expectText("000000  00 41 42 43 00")
	v.expectText(".ABC....")
	v.End()
	v.expectText("0ffff0  00")
	v.Home()
	v.expectText("000000  00 41")
}

func TestEndlessLineIsShownInPieces(t *testing.T) {
	v := openPreview(t, "/line", bytes.Repeat([]byte("0123456789ü"), 100_000))
	v.expectText("1  0123456789ü0123")
	v.End()
	v.expectText("0123456789")
	v.Wrap()
	v.expectText("6789ü")
}

func TestTextIsShownWithoutControls(t *testing.T) {
	v := openPreview(t, "/t", []byte("a\tb\x1b[2J\r\nbad\xff end\n\u202ertl\n"))
	v.expectText("a   b␛[2J ")
	v.expectText("bad\ufffd end")
	v.expectText("\ufffdrtl")
}

func TestArchiveEntriesAreListed(t *testing.T) {
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
	v := openPreview(t, "/a.zip", zipped.Bytes())
	v.expectText(" dir/a.txt" + strings.Repeat(" ", 67) + "5B ")
	if got := v.describeFile(); !strings.HasSuffix(got, "1 entry") {
		t.Errorf("the heading is %q", got)
	}
	openPreview(t, "/a.tgz", tarred.Bytes()).expectText(" dir/␛[2Jb.txt" + strings.Repeat(" ", 63) + "2B ")
	openPreview(t, "/a.gz", plain.Bytes()).expectText("only text")
	openPreview(t, "/broken.zip", []byte("PK\x03\x04 and nothing more")).expectText("damaged")
}

func TestFolderPreviewHasTheColumnsOfTheList(t *testing.T) {
	v := openPreview(t, "/file", []byte("x"))
	v.Show("/folder", api.FileInfo{Name: "folder", Type: "dir"})
	rows := strings.Split(v.renderRows(), "\n")
	for i, want := range []string{" a/", " b" + strings.Repeat(" ", 75) + "1B", " c" + strings.Repeat(" ", 75) + "2B", " and 7 more"} {
		if got := strings.TrimRight(rows[i], " "); got != want {
			t.Errorf("row %d is %q, want %q", i, got, want)
		}
	}
	style := &look.Look{Glyphs: themes.UnicodeGlyphs()}
	for w := 1; w < 40; w++ {
		for _, wrap := range []bool{false, true} {
			v.wrap = wrap
			v.lines = []previewLine{{text: strings.Repeat("name", 20), side: "12.3M"}}
			for _, row := range v.Draw(w, 10, style) {
				if got := text.Width(row); got != w && w > 1 {
					t.Fatalf("%d cells, wrapped %v: a row of %d: %q", w, wrap, got, row)
				}
			}
		}
	}
}

func TestLinesCutAtTheEndAreMarked(t *testing.T) {
	v := openPreview(t, "/file.txt", []byte("short\n"+strings.Repeat("long ", 40)+"\n"))
	row := func() string { return strings.TrimRight(strings.Split(v.renderRows(), "\n")[1], "\n") }
	if got := row(); !strings.HasSuffix(got, "long›") || text.Width(got) != 80 {
		t.Errorf("the cut line is %q", got)
	}
	v.Sideways(100)
	if got := row(); strings.Contains(got, "›") {
		t.Errorf("at its end, the line is %q", got)
	}
	v.Wrap()
	if got := row(); strings.Contains(got, "›") {
		t.Errorf("the wrapped line is %q", got)
	}
}

func TestImagesAreDrawnInColoursOnly(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 4, 4))
	for i := range 16 {
		img.Set(i%4, i/4, color.RGBA{255, 0, 0, 255})
	}
	var out bytes.Buffer
	png.Encode(&out, img)
	v := openPreview(t, "/p.png", out.Bytes())
	v.expectText("▀▀▀▀ ")
	if !strings.Contains(strings.Join(v.Draw(80, 10, unicodeLook()), ""), "38;2;255;0;0") {
		t.Error("the red is lost")
	}
	if got := v.Heading(80, unicodeLook()); !strings.Contains(ansi.Strip(got), "png 4×4") {
		t.Errorf("the heading is %q", got)
	}
	v.Colors = 0
	v.expectText("too few colours")
	openPreview(t, "/half.png", out.Bytes()[:30]).expectText("damaged")
}

func TestHeadingKeepsDetailBesideALongName(t *testing.T) {
	v := openPreview(t, "/"+strings.Repeat("long", 20)+".txt", []byte("text\n"))
	v.renderRows()
	got := ansi.Strip(v.Heading(43, unicodeLook()))
	if !strings.Contains(got, " 5B ") || !strings.Contains(got, "long") || !strings.Contains(got, ".txt") || ansi.StringWidth(got) != 43 {
		t.Errorf("it is %q", got)
	}
	if got := ansi.Strip(v.Heading(14, unicodeLook())); ansi.StringWidth(got) != 14 || !strings.Contains(got, "long") {
		t.Errorf("the narrow one is %q", got)
	}
}

func TestNarrowPreviewHasFewerBytesPerRow(t *testing.T) {
	data := bytes.Repeat([]byte("\x00abcdefg\x01ABCDEFG"), 100_000)
	v := openPreview(t, "/f", data)
	v.expectText("00 61 62 63 64 65 66 67  01 41 42 43 44 45 46 47  .abcdefg.ABCDEFG")
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
	v.expectText("00 61 62 63 64 65 66 67  01 41 42 43 44 45 46 47  .abcdefg.ABCDEFG")
}

func TestMessagesAreWrapped(t *testing.T) {
	var p Preview
	p.Show("/f", api.FileInfo{Name: "f", Type: "fifo"})
	p.Resize(20, 3)
	r, _ := p.Next()
	p.Take(Load(t.Context(), memorySource{}, r))
	rows := p.Draw(20, 3, unicodeLook())
	if got := ansi.Strip(strings.Join(rows, "\n")); got != " a named pipe       \n not read, because  \n reading it could   " {
		t.Errorf("it is\n%s", got)
	}
}

func TestUnreadableFileIsDescribed(t *testing.T) {
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
		v := &loadedPreview{T: t, from: memorySource{}}
		v.Show("/"+c.info.Name, c.info)
		v.expectText(c.want)
	}
	openPreview(t, "/empty", nil).expectText("empty")
}

func TestChangedFileIsReloadedAtTheSamePosition(t *testing.T) {
	v := openPreview(t, "/log", numberedLines(1000))
	v.renderRows()
	v.Scroll(500)
	v.expectText("line number 501 ")
	v.from["/log"] = bytes.ReplaceAll(numberedLines(1000), []byte("number"), []byte("NUMBER"))
	v.Show("/log", api.FileInfo{Name: "log", Type: "file", Size: 1})
	v.expectText("line NUMBER 501 ")
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
		v := openPreview(t, "/x.go", data)
		v.renderRows()
		v.Scroll(100)
		v.Wrap()
		v.renderRows()
		v.End()
		v.renderRows()
	})
}

func unicodeLook() *look.Look { return &look.Look{Glyphs: themes.UnicodeGlyphs()} }

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
