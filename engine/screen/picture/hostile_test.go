package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
	"testing/synctest"

	"tandem/engine/screen/vt"
	"tandem/engine/screen/vt/graphics"
)

// hostileSide is less than the allowed size, but the pictures together exceed the unpacking limit
// many times.
const hostileSide = 2048

// kitty returns a kitty graphics command with data.
func kitty(control string, data []byte) string {
	return "\x1b_G" + control + ",q=2,C=1;" + base64.StdEncoding.EncodeToString(data) + "\x1b\\"
}

// zlibBomb returns compressed translucent pixels.
func zlibBomb() []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	w.Write(bytes.Repeat([]byte{9, 8, 7, 128}, hostileSide*hostileSide))
	w.Close()
	return b.Bytes()
}

func pngBomb() []byte {
	img := image.NewNRGBA(image.Rect(0, 0, hostileSide, hostileSide))
	img.Set(1, 1, color.White)
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// repeated returns text n times, each at the top left corner, with %d replaced by a count.
func repeated(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("\x1b[H")
		b.WriteString(strings.ReplaceAll(text, "%d", fmt.Sprint(i+1)))
	}
	return b.String()
}

func hostilePrograms() map[string]string {
	zipped := fmt.Sprintf("a=T,i=%%d,f=32,s=%d,v=%d,o=z", hostileSide, hostileSide)
	return map[string]string{
		"zlib bombs":              repeated(20, kitty(zipped, zlibBomb())),
		"PNG bombs":               repeated(20, kitty("a=T,i=%d,f=100", pngBomb())),
		"placements":              kitty("a=t,i=1,f=32,s=1,v=1", make([]byte, 4)) + repeated(5000, "\x1b_Ga=p,i=1,p=%d,q=2,C=1,c=80,r=24\x1b\\"),
		"sixels of one colour":    repeated(20, "\x1bP0;1q\"1;1;4096;4096#1"+strings.Repeat("!4096~-", 600)+"\x1b\\"),
		"sixel repeats":           repeated(5, "\x1bP0;1q#1"+strings.Repeat("!99999999~", 2000)+"\x1b\\"),
		"rows of sixel repeats":   repeated(5, "\x1bP0;1q#1"+strings.Repeat("!99999999~-", 2000)+"\x1b\\"),
		"an endless transmission": "\x1b_Ga=t,f=32,s=512,v=512,i=1,m=1;\x1b\\" + strings.Repeat("\x1b_Gm=1;"+strings.Repeat("A", 4096)+"\x1b\\", 1000),
	}
}

func TestHostilePicturesAreUnpackedWithinBounds(t *testing.T) {
	for name, written := range hostilePrograms() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // so that no time passes
				term := vt.New(vt.Options{Cols: 80, Rows: 24})
				term.Write([]byte(written))
				if n := unpacked(term); n != 0 {
					t.Errorf("%d bytes were unpacked before the screen was drawn", n)
				}
				term.AppendCheckpoint(nil)
				if n := unpacked(term); n != 0 {
					t.Errorf("%d bytes were unpacked for a checkpoint", n)
				}
				s := Of(term)
				p := newPrinter(&s, 2*cellWidth, 2*cellHeight)
				if n := unpacked(term); n > graphics.MaxUnpacked {
					t.Errorf("%d bytes were unpacked to draw the screen", n)
				}
				drawn := 0
				for _, img := range p.scaled {
					drawn += len(img.Pix) / 4
				}
				if drawn > maxDrawn {
					t.Errorf("%d pixels were drawn, want at most %d", drawn, maxDrawn)
				}
				term.AppendPictures(nil)
				if n := unpacked(term); n > graphics.MaxUnpacked {
					t.Errorf("%d bytes were unpacked to draw the screen and repaint it", n)
				}
				if u := term.PictureUsage(); u != nil && u.Kept() > graphics.MaxBytes {
					t.Errorf("%d bytes are kept, want at most %d", u.Kept(), graphics.MaxBytes)
				}
			})
		})
	}
}

func unpacked(t *vt.Terminal) int64 {
	if u := t.PictureUsage(); u != nil {
		return u.Unpacked()
	}
	return 0
}

func TestCoveredPictureIsNotUnpacked(t *testing.T) {
	opaque := kitty("a=T,f=24,s=1,v=1,c=80,r=24,z=1", make([]byte, 3))
	for name, c := range map[string]struct {
		more string
		want int64
	}{
		"visible": {"", 4 * hostileSide * hostileSide},
		"covered": {opaque, 0},
	} {
		term := vt.New(vt.Options{Cols: 8, Rows: 3})
		term.Write([]byte("\x1b[H" + kitty("a=T,i=1,f=100,c=8,r=3", pngBomb()) + c.more))
		s := Of(term)
		if _, err := PNG(s, 1); err != nil {
			t.Fatal(err)
		}
		if got := unpacked(term); got != c.want {
			t.Errorf("%s: %d bytes were unpacked, want %d", name, got, c.want)
		}
	}
}

func TestPictureIsUnpackedOncePerDrawing(t *testing.T) {
	term := vt.New(vt.Options{Cols: 40, Rows: 10})
	term.Write([]byte(kitty("a=t,i=1,f=100", pngBomb())))
	for x := range 8 {
		fmt.Fprintf(term, "\x1b[1;%dH\x1b_Ga=p,i=1,p=%d,q=2,C=1,c=4,r=2\x1b\\", 1+5*x, x+1)
	}
	s := Of(term)
	if p := newPrinter(&s, cellWidth, cellHeight); len(p.scaled) != 8 || unpacked(term) != 4*hostileSide*hostileSide {
		t.Errorf("%d placements were drawn, %d bytes unpacked", len(p.scaled), unpacked(term))
	}
}
