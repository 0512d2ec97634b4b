package graphics

import (
	"errors"
	"fmt"
	"image"
	"testing"
	"testing/synctest"
	"time"
)

func TestUsageLimitsUnpackingPerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var u Usage
		for range 4 {
			if !u.allowUnpack(MaxUnpacked / 4) {
				t.Fatal("unpack rejected a quarter of the limit")
			}
		}
		if u.allowUnpack(1) {
			t.Error("unpack allowed more than the limit at once")
		}
		time.Sleep(time.Second / 2)
		if !u.allowUnpack(MaxUnpacked/2) || u.allowUnpack(1) {
			t.Error("unpack does not allow exactly half the limit after half a second")
		}
		if err := u.WaitForQuota(t.Context()); err != nil || !u.allowUnpack(MaxUnpacked) {
			t.Errorf("unpack rejected the limit after Rested (%v)", err)
		}
		time.Sleep(time.Hour)
		if !u.allowUnpack(MaxUnpacked) || u.allowUnpack(1) {
			t.Error("unpack does not allow exactly the limit after an idle hour")
		}
	})
}

func TestImageReturnsErrBusyOverTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pictures := map[string]*Picture{}
		var err error
		if pictures["PNG"], err = FromPNG(testPNG(64, 64)); err != nil {
			t.Fatal(err)
		}
		if pictures["zlib"], err = FromPacked(image.Pt(64, 64), 4, compress(make([]byte, 4*64*64))); err != nil {
			t.Fatal(err)
		}
		if pictures["sixels"], _, err = FromSixels([]byte("#1!64~")); err != nil {
			t.Fatal(err)
		}
		var s Store
		for _, p := range pictures {
			s.Add(&Image{Picture: p}, func() map[*Image]bool { return nil })
		}
		s.usage.allowUnpack(MaxUnpacked)
		bare, err := FromPixels(image.Pt(64, 64), 3, make([]byte, 3*64*64))
		if err != nil {
			t.Fatal(err)
		}
		s.Add(&Image{Picture: bare}, func() map[*Image]bool { return nil })
		if _, err := bare.PNG(); err != nil {
			t.Errorf("unpacked pixels count towards the limit: %v", err)
		}
		for name, p := range pictures {
			if _, err := p.Image(); !errors.Is(err, ErrBusy) {
				t.Errorf("%s: Image returned %v, want %v", name, err, ErrBusy)
			}
		}
		time.Sleep(time.Second)
		for name, p := range pictures {
			if _, err := p.Image(); err != nil {
				t.Errorf("%s, a second later: %v", name, err)
			}
		}
	})
}

func TestStoreWeightMatchesItsPictures(t *testing.T) {
	var s Store
	add := func(id uint32, p *Picture, err error) {
		if err != nil {
			t.Fatal(err)
		}
		s.Add(&Image{ID: id, Picture: p}, func() map[*Image]bool { return nil })
	}
	p, err := FromPixels(image.Pt(64, 64), 4, make([]byte, 4*64*64))
	add(1, p, err)
	p, err = FromPacked(image.Pt(64, 64), 3, compress(make([]byte, 3*64*64)))
	add(2, p, err)
	p, _, err = FromSixels([]byte("#1!64~"))
	add(3, p, err)
	check := func(when string) {
		t.Helper()
		sum := 0
		for _, i := range s.All() {
			sum += i.Picture.weight()
		}
		if s.Weight() != sum {
			t.Errorf("%s: Weight is %d bytes, but the pictures have %d", when, s.Weight(), sum)
		}
	}
	check("added")
	for _, i := range s.All() {
		if _, err := i.Picture.PNG(); err != nil {
			t.Fatal(err)
		}
	}
	check("encoded")
	s.Remove(func(i *Image) bool { return i.ID == 2 })
	check("removed")
	if s.Find(false, 2) != nil || s.Find(false, 3) == nil {
		t.Error("Find returned a removed image, or not the one left")
	}
	s.Remove(func(*Image) bool { return true })
	check("all removed")
}

func TestLoaderHoldsNoMoreThanTheDeclaredSize(t *testing.T) {
	for _, control := range []string{"f=32,s=100,v=100", "f=24,s=100,v=100", "f=32,s=100,v=100,o=z"} {
		var l Loader
		most := 0
		for n := range 100 {
			text := "m=1;" + encodeBase64(make([]byte, 3000))
			if n == 0 {
				text = control + "," + text
			}
			c, _ := ParseCommand([]byte(text))
			l.Add(c)
			most = max(most, cap(l.data))
		}
		if most > 4*100*100+2000 {
			t.Errorf("%s: Loader holds %d bytes", control, most)
		}
	}
}

func TestLoaderDoesNotAllocateTheDeclaredSizeAtOnce(t *testing.T) {
	var l Loader
	c, _ := ParseCommand(fmt.Appendf(nil, "f=32,s=%d,v=%d,m=1;AAAA", MaxSide, MaxSide))
	l.Add(c)
	if cap(l.data) > 1<<10 {
		t.Errorf("Loader holds %d bytes for 3", cap(l.data))
	}
}

func TestUnpackedPNGExceedsTheLimitForLargePNGs(t *testing.T) {
	for name, c := range map[string]struct{ depth, interlaced byte }{"16 bits": {16, 0}, "interlaced": {8, 1}} {
		header := make([]byte, 29)
		header[bitDepth], header[interlaced] = c.depth, c.interlaced
		if n := pngUnpackSize(image.Config{Width: MaxSide, Height: MaxSide}, header); n <= MaxUnpacked {
			t.Errorf("%s: unpackedPNG returned %d, want more than %d", name, n, MaxUnpacked)
		}
	}
}

func TestSixelsAreOpaqueIfAllPixelsArePainted(t *testing.T) {
	for in, want := range map[string]bool{
		"#1!9~":              true,
		"#1!9~-!9~":          true,
		"\"1;1;9;8#1!9~-!9B": true,
		"\"1;1;9;8#1!9~-!9A": false,
		"\"1;1;9;8#1!9~":     false,
		"#1!4~$???!5~":       true,
		"#1!4~$?????!4~":     false,
		"#1!9~--!9~":         false,
		"#1!200~":            true,
		"#1!9N$#2!9o":        true,
	} {
		p, _, err := FromSixels([]byte(in))
		if err != nil || p.Opaque() != want {
			t.Errorf("%q: want opaque %v (%v)", in, want, err)
		}
	}
}
