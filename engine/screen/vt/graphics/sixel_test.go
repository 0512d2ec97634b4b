package graphics

import (
	"image"
	"image/color"
	"strings"
	"testing"
)

// drawPixels draws a picture as text: a letter for each named colour, a dot for transparent pixels.
func drawPixels(t *testing.T, p *Picture, names map[color.NRGBA]byte) string {
	t.Helper()
	img, err := p.Image()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for y := range p.Size.Y {
		for x := range p.Size.X {
			c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
			name, known := names[c]
			switch {
			case c.A == 0:
				name = '.'
			case !known:
				name = '?'
			}
			b.WriteByte(name)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestSixelsDecodeToTheirPixels(t *testing.T) {
	names := map[color.NRGBA]byte{{255, 0, 0, 255}: 'r', {0, 255, 0, 255}: 'g', {0, 0, 255, 255}: 'b', {51, 51, 204, 255}: '1'}
	for name, c := range map[string]struct{ in, want string }{
		"columns, from the top down":                {"#5;2;100;0;0@A~", "r.r\n.rr\n..r\n..r\n..r\n..r\n"},
		"colours over each other and a second band": {"#5;2;100;0;0#6;2;0;100;0#5~@$#6?A-#5@", "rr\nrg\nr.\nr.\nr.\nr.\nr.\n"},
		"repeat count":                              {"#5;2;100;0;0!4@", "rrrr\n"},
		"more painted than declared":                {"\"1;1;2;1#5;2;100;0;0@@@", "rrr\n"},
		"less painted than declared":                {"\"1;1;3;2#5;2;100;0;0@", "r..\n...\n"},
		"hue, lightness and saturation":             {"#7;1;0;50;100@#7;1;120;50;100@#7;1;240;50;100@", "brg\n"},
		"the VT340's colours":                       {"#1@", "1\n"},
		"newlines and other bytes are ignored":      {"#5;2;100;0;0\r\n@ \x01@", "rr\n"},
	} {
		p, _, err := FromSixels([]byte(c.in))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := drawPixels(t, p, names); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", name, got, c.want)
		}
	}
}

func TestSixelsWithoutPixelsAreRejected(t *testing.T) {
	for _, in := range []string{"", "#1", "???", "$-$-", "\"1;1;0;9", "!5", "!5?"} {
		if p, _, err := FromSixels([]byte(in)); err == nil {
			t.Errorf("%q is a picture of %v", in, p.Size)
		}
	}
}

func TestSixelPictureSizeIsLimited(t *testing.T) {
	p, _, err := FromSixels([]byte("\"1;1;99999999;99999999#1!99999999~" + strings.Repeat("-!99999999~", 2000)))
	if err != nil || p.Size != image.Pt(MaxSide, MaxSide) {
		t.Errorf("got %v, %v", p, err)
	}
}

func TestSixelSizeIsLimitedByInputLength(t *testing.T) {
	for _, in := range []string{"\"1;1;99999;99999~", "!9999~" + strings.Repeat("-", 600) + "~"} {
		p, _, err := FromSixels([]byte(in))
		if err != nil || p.Size.X*p.Size.Y > maxSixelPixelsPerByte*len(in) {
			t.Errorf("%.20q is a picture of %v (%v)", in, p.Size, err)
		}
	}
	solid := "#1!4096~" + strings.Repeat("-!4096~", 682)
	if p, _, err := FromSixels([]byte(solid)); err != nil || p.Size != image.Pt(4096, 4096) {
		t.Errorf("the largest of one colour: %v, %v", p, err)
	}
}

func TestSixelOverpaintingIsLimited(t *testing.T) {
	names := map[color.NRGBA]byte{{255, 0, 0, 255}: 'r', {0, 0, 255, 255}: 'b'}
	colors := "#1;2;100;0;0#2;2;0;0;100"
	for often, want := range map[int]string{maxSixelPaints - 1: "b\nb\nb\nb\nb\nb\n", maxSixelPaints: "r\nr\nr\nr\nr\nr\n"} {
		p, _, err := FromSixels([]byte(colors + "#1" + strings.Repeat("~$", often) + "#2~"))
		if err != nil {
			t.Fatal(err)
		}
		if got := drawPixels(t, p, names); got != want {
			t.Errorf("painted %d times and once more: %q", often, got)
		}
	}
}

func FuzzSixel(f *testing.F) {
	for _, s := range []string{"#1~", "\"1;1;20;20#5;2;100;0;0!20~-$#6;1;2;3;4@", "!#\"$-;;;99999999999999"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, _, err := FromSixels(b)
		if err == nil && (!isValidSize(p.Size) || p.Size.X*p.Size.Y > max(maxSixelPixelsPerByte*len(b), p.Size.X)) {
			t.Errorf("a picture of %v", p.Size)
		}
	})
}
