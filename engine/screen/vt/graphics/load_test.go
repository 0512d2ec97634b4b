package graphics

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"slices"
	"testing"

	"tandem/tests/needs"
	"tandem/tests/seed"
)

// loadCommands passes commands to a loader and returns the last result.
func loadCommands(t *testing.T, commands ...string) (*Picture, error) {
	t.Helper()
	var l Loader
	for _, text := range commands {
		c, ok := ParseCommand([]byte(text))
		if !ok {
			t.Fatalf("%.40q is no command", text)
		}
		if done, p, err := l.Add(c); done != nil {
			return p, err
		}
	}
	return nil, nil
}

func encodeBase64(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

func testPNG(w, h int) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = byte(i * 7)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func TestPNGIsKeptUnchanged(t *testing.T) {
	want := testPNG(30, 20)
	text := encodeBase64(want)
	for name, commands := range map[string][]string{
		"whole":     {"a=T,f=100;" + text},
		"in pieces": {"a=T,f=100,i=1,m=1;" + text[:40], "m=1;" + text[40:80], "q=2,m=0;" + text[80:]},
	} {
		p, err := loadCommands(t, commands...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, _ := p.PNG(); !bytes.Equal(got, want) || p.Size != image.Pt(30, 20) {
			t.Errorf("%s: another PNG, of %v", name, p.Size)
		}
	}
}

func TestPixelsSurviveConversionToPNG(t *testing.T) {
	raw := []byte{255, 0, 0, 255, 0, 255, 0, 128, 0, 0, 255, 0, 9, 8, 7, 255}
	for _, c := range []struct {
		command string
		want    []color.NRGBA
	}{
		{"f=32,s=2,v=2;" + encodeBase64(raw), []color.NRGBA{{255, 0, 0, 255}, {0, 255, 0, 128}, {0, 0, 255, 0}, {9, 8, 7, 255}}},
		{"f=24,s=2,v=2;" + encodeBase64(raw), []color.NRGBA{{255, 0, 0, 255}, {255, 0, 255, 255}, {0, 128, 0, 255}, {0, 255, 0, 255}}},
	} {
		p, err := loadCommands(t, c.command)
		if err != nil {
			t.Fatal(err)
		}
		for _, how := range []string{"raw", "png"} {
			img, err := p.Image()
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range c.want {
				if got := color.NRGBAModel.Convert(img.At(i%2, i/2)); got != want {
					t.Errorf("%.8s as %s: pixel %d is %v, want %v", c.command, how, i, got, want)
				}
			}
			if _, err := p.PNG(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestNewPictureReplacesUnfinishedOne(t *testing.T) {
	p, err := loadCommands(t, "f=24,s=9,v=9,m=1;AAAA", "f=24,s=1,v=1;AAAA")
	if err != nil || p.Size != image.Pt(1, 1) {
		t.Errorf("got %v, %v", p, err)
	}
}

func TestInvalidZlibDataIsRejected(t *testing.T) {
	for _, command := range []string{"f=100,o=z;", "f=32,s=4096,v=4096,o=z;"} {
		if _, err := loadCommands(t, command+encodeBase64([]byte("not zlib"))); err == nil {
			t.Errorf("%s is a picture", command)
		}
	}
}

// compress returns b compressed with zlib.
func compress(b []byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func TestCompressedPixelsAreUnpackedOnUse(t *testing.T) {
	const side = 1000
	flat := compress(bytes.Repeat([]byte{1, 2, 3}, side*side))
	p, err := loadCommands(t, "f=24,s=1000,v=1000,o=z;"+encodeBase64(flat))
	if err != nil || p.weight() > 2*len(flat)+1000 {
		t.Fatalf("%v, it takes %d bytes, of %d that came", err, p.weight(), len(flat))
	}
	for range 2 {
		img, err := p.Image()
		if err != nil || color.NRGBAModel.Convert(img.At(side-1, side-1)) != (color.NRGBA{1, 2, 3, 255}) {
			t.Fatalf("%v", err)
		}
		if _, err := p.PNG(); err != nil {
			t.Fatal(err)
		}
	}
	short := compress(make([]byte, 3*side*side-1))
	if p, err = loadCommands(t, "f=24,s=1000,v=1000,o=z;"+encodeBase64(short)); err == nil {
		_, err = p.Image()
	}
	if err == nil {
		t.Error("a picture with a byte too few is one")
	}
	if _, err := loadCommands(t, "f=24,s=9,v=9,o=z;"+encodeBase64(compress(make([]byte, 3*81-1)))); err == nil {
		t.Error("a small one with a byte too few is taken")
	}
}

func TestCompressedPNGMustNotGrowMuch(t *testing.T) {
	p, err := loadCommands(t, "f=100,o=z;"+encodeBase64(compress(testPNG(40, 30))))
	if err != nil || p.Size != image.Pt(40, 30) {
		t.Errorf("%v, %v", p, err)
	}
	bomb := append(testPNG(40, 30), make([]byte, 8<<20)...)
	if _, err := loadCommands(t, "f=100,o=z;"+encodeBase64(compress(bomb))); err == nil {
		t.Error("8 MB of zeros are a PNG")
	}
}

// noisePicture returns a picture of noise, as large in PNG form as in pixels.
func noisePicture(t *testing.T, side int) *Picture {
	random := seed.Rand(t)
	pixels := make([]byte, 3*side*side)
	for i := range pixels {
		pixels[i] = byte(random.Uint32())
	}
	p, err := FromPixels(image.Pt(side, side), 3, pixels)
	if err != nil {
		panic(err)
	}
	return p
}

func TestFullStoreDropsOldestImages(t *testing.T) {
	needs.FullRun(t)
	var s Store
	var dropped []*Image
	noise := noisePicture(t, 1024)
	pixels := slices.Clone(noise.pixels)
	encoded, err := noise.PNG()
	if err != nil {
		t.Fatal(err)
	}
	for n := range 24 { // of 3 MB each
		i := &Image{ID: uint32(n + 1), Picture: &Picture{Size: noise.Size, png: slices.Clone(encoded)}}
		if n%6 == 0 { // bare pixels, which the store encodes when it is full
			i.Picture = &Picture{Size: noise.Size, channels: 3, pixels: slices.Clone(pixels)}
		}
		dropped = append(dropped, s.Add(i, func() map[*Image]bool { return nil })...)
		if w := s.Weight(); w > MaxBytes {
			t.Fatalf("after %d pictures it holds %d bytes", n+1, w)
		}
	}
	for n, i := range dropped {
		if i.ID != uint32(n+1) {
			t.Fatalf("image %d went as number %d", i.ID, n)
		}
	}
	if len(dropped)+len(s.All()) != 24 || len(s.All()) < 20 {
		t.Errorf("%d images dropped, %d kept", len(dropped), len(s.All()))
	}
}

func TestStoreDropsUnreachableImagesFirst(t *testing.T) {
	var s Store
	named := &Image{ID: 1, Picture: noisePicture(t, 512)}
	shown := &Image{Picture: noisePicture(t, 512)}
	used := func() map[*Image]bool { return map[*Image]bool{shown: true} }
	s.Add(named, used)
	s.Add(shown, used)
	for range 100 {
		if gone := s.Add(&Image{Picture: noisePicture(t, 512)}, used); len(gone) > 0 {
			t.Fatalf("images %v were dropped", gone)
		}
	}
	if s.Weight() > 2*sweepStep {
		t.Errorf("it holds %d bytes", s.Weight())
	}
	if s.All()[0] != named || s.All()[1] != shown {
		t.Error("a shown or named image was dropped")
	}
}

func TestStoreLimitsNumberOfImages(t *testing.T) {
	var s Store
	for n := range maxImages + 10 {
		p, err := FromPixels(image.Pt(1, 1), 3, make([]byte, 3))
		if err != nil {
			t.Fatal(err)
		}
		s.Add(&Image{ID: uint32(n + 1), Picture: p}, func() map[*Image]bool { return nil })
	}
	if n := len(s.All()); n > maxImages {
		t.Errorf("there are %d", n)
	}
}

func FuzzCommands(f *testing.F) {
	for _, s := range []string{"a=T,f=24,s=1,v=1;AAAA", "m=1,f=100;AA|m=0;AA", "o=z,f=32,s=4,v=4;eJxjYBgFAAABAAE=", fmt.Sprintf("f=100;%s", encodeBase64(testPNG(3, 3)))} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var l, restored Loader
		for text := range bytes.SplitSeq(b, []byte{'|'}) {
			c, ok := ParseCommand(text)
			if !ok {
				continue
			}
			if _, p, err := l.Add(c); err == nil && p != nil {
				if !isValidSize(p.Size) {
					t.Fatalf("a picture of %v", p.Size)
				}
				_, _ = p.Image()
			}
			restored.Restore(l.Save())
		}
	})
}
