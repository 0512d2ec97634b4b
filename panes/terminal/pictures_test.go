package terminal

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/outbox"
	"tandem/engine/screen/styled"
	"tandem/panes/kit/graphics"
)

// redPicture returns a picture of 3×2 cells.
func redPicture(t *testing.T) *api.Picture {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 30, 40))
	for i := range 30 * 40 {
		img.SetRGBA(i%30, i/30, color.RGBA{255, 0, 0, 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return &api.Picture{Number: 7, Size: image.Pt(30, 40), PNG: b.Bytes()}
}

// screenWith returns a screen of 8×4 cells with the test picture at column 3 of row 1, both counted
// from 0, and at depth z.
func screenWith(t *testing.T, z int32) *Screen {
	s := &Screen{}
	s.AddPicture(redPicture(t))
	at := &api.Placement{ID: 5, Picture: 7, Source: image.Rect(0, 0, 30, 40), Cols: 3, Rows: 2, Cell: image.Pt(10, 20), Box: image.Rect(0, 0, 30, 40), Z: z}
	f := &api.Frame{Full: true, Cols: 8, Rows: 4}
	for y := range 4 {
		l := api.Line{Runs: []api.Run{{Text: "ab漢cdefg"[:9], Cells: 8}}}
		if y == 1 || y == 2 {
			l.Pictures = []api.Strip{{Placement: at, Row: y - 1, X: 3, From: 3, To: 6}}
		}
		f.Lines = append(f.Lines, api.NumberedLine{N: int64(y), Line: l})
	}
	s.Apply(f)
	return s
}

func TestPicturesAreHalfBlocksWithoutAProtocol(t *testing.T) {
	s := screenWith(t, 0)
	win := Window{W: 8, H: 4, Pictures: graphics.Screen{Protocol: graphics.Blocks}}
	rows, _ := s.Draw(nil, win)
	if strings.Contains(rows[0], "▀") || strings.Count(rows[1], "▀") != 3 || !strings.HasPrefix(rows[1], "ab ") || !strings.Contains(rows[1], "38;2;255;0;0") {
		t.Errorf("drawn %q", rows)
	}
	if p := s.Patches(win, func(int) bool { return false }); p != nil {
		t.Errorf("there are %v", p)
	}
	win.Pictures.Protocol = graphics.Off
	if rows, _ := s.Draw(nil, win); strings.Contains(rows[1], "▀") || !strings.HasPrefix(rows[1], "ab漢") {
		t.Errorf("drawn %q", rows)
	}
}

func TestPicturesAreClippedToThePane(t *testing.T) {
	s := screenWith(t, 0)
	none := func(int) bool { return false }
	for _, c := range []struct {
		win  Window
		want image.Rectangle
		x, y int
	}{
		{Window{W: 8, H: 4}, image.Rect(0, 0, 3, 2), 3, 1},
		{Window{W: 4, H: 2}, image.Rect(0, 0, 1, 1), 3, 1},
		{Window{Top: 2, W: 8, H: 4}, image.Rect(0, 1, 3, 2), 3, 0},
	} {
		c.win.Pictures = graphics.Screen{Protocol: graphics.Kitty}
		p := s.Patches(c.win, none)
		if len(p) != 1 || p[0].Cells != c.want || p[0].X != c.x || p[0].Y != c.y {
			t.Errorf("%+v shows %+v", c.win, p)
		}
		if rows, _ := s.Draw(nil, c.win); strings.Contains(rows[0]+rows[1], "▀") || c.win.Top == 0 && !strings.Contains(rows[1], "\x1b[0;8;") {
			t.Errorf("drawn %q", rows)
		}
	}
	if p := s.Patches(Window{W: 8, H: 4, Pictures: graphics.Screen{Protocol: graphics.Kitty}}, func(y int) bool { return y == 1 }); len(p) != 1 || p[0].Cells != image.Rect(0, 1, 3, 2) || p[0].Y != 2 {
		t.Errorf("below a row that is hidden: %+v", p)
	}
	if p := s.Patches(Window{W: 3, H: 4, Pictures: graphics.Screen{Protocol: graphics.Kitty}}, none); p != nil {
		t.Errorf("outside of the pane: %+v", p)
	}
}

func TestTextCoversAPictureBelowIt(t *testing.T) {
	s := screenWith(t, -1)
	win := Window{W: 8, H: 4, Pictures: graphics.Screen{Protocol: graphics.Kitty}}
	if rows, _ := s.Draw(nil, win); !strings.HasPrefix(rows[1], "ab漢cd") {
		t.Errorf("drawn %q", rows)
	}
	if p := s.Patches(win, func(int) bool { return false }); len(p) != 1 || !p[0].Sheet.IsBelowText() {
		t.Errorf("there are %+v", p)
	}
}

func TestGalleryDropsTheOldestPicturesLikeTheEngine(t *testing.T) {
	var g gallery
	for n := range 10 {
		g.addPicture(&api.Picture{Number: uint64(n), PNG: make([]byte, api.PicturesHeld/4)})
	}
	if len(g.sources) != 4 || g.sources[5] != nil || g.sources[6] == nil {
		t.Errorf("held are %v", g.order)
	}
}

func TestNewAttachmentStartsWithoutPictures(t *testing.T) {
	f := &Feed{Outbox: new(outbox.Outbox)}
	f.Receive(api.Output{Picture: redPicture(t)})
	f.Connect(&sentInput{})
	if len(f.Screen.gallery.sources) != 0 {
		t.Error("pictures of the one before are held")
	}
	var l api.Line
	l.Pictures = []styled.Strip{{Placement: &api.Placement{ID: 1, Picture: 7, Cols: 1, Rows: 1}, To: 1}}
	f.Receive(api.Output{Frame: &api.Frame{Full: true, Cols: 8, Rows: 1, Lines: []api.NumberedLine{{Line: l}}}})
	if rows, _ := f.Screen.Draw(nil, Window{W: 8, H: 1, Pictures: graphics.Screen{Protocol: graphics.Kitty}}); rows[0] != strings.Repeat(" ", 8) {
		t.Errorf("drawn %q", rows)
	}
}

func TestRepeatedPictureIsStoredOnce(t *testing.T) {
	var g gallery
	large := make([]byte, api.PicturesHeld/2+1)
	for _, number := range []uint64{1, 1, 2, 3} {
		g.addPicture(&api.Picture{Number: number, PNG: large})
	}
	if len(g.sources) != 1 || g.sources[3] == nil || g.bytes != len(large) || len(g.order) != 1 {
		t.Errorf("it holds %d of %d bytes", len(g.sources), g.bytes)
	}
}
