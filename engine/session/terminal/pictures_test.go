package terminal

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"strings"
	"sync"
	"tandem/engine/api"
	"tandem/engine/base/invariants"
	"tandem/engine/screen/vt/graphics"
	"tandem/tests/seed"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/screen/styled"
	"tandem/persist/store"
)

// picturesOf returns the parts of pictures in each line of the screen.
func picturesOf(t *testing.T, s *Session) (lines [][]styled.Strip) {
	t.Helper()
	err := s.onScreen(t.Context(), func(term Emulator) {
		s.screen.catchUp()
		_, first, end := term.Bounds()
		for _, l := range term.Lines(first, int(end-first)) {
			lines = append(lines, l.Line.Pictures)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestReplayRestoresPicturesFromLogAndCheckpoint(t *testing.T) {
	defer invariants.Never("replay of a whole log")()
	for name, size := range map[string]int64{"log": 1000, "checkpoint": 2*checkpointGap + minReplay} {
		l := &memoryLog{}
		l.AppendResize("a", store.Resize{Cols: 20, Rows: 5})
		s := memorySession(t, l)
		s.output(l, "\x1bPq\"1;1;30;40#1!30~\x1b\\\x1b[4;1H\x1b_Ga=T,i=1,p=1,f=24,s=1,v=1,c=5,r=1;AAAA\x1b\\")
		for i := 0; l.End() < size; i++ {
			s.output(l, fmt.Sprintf("\x1b[5;1Hframe %d %s", i, strings.Repeat("\x1b[m", 1000)))
			if i%100 == 0 {
				picturesOf(t, s)
			}
		}
		want := picturesOf(t, s)
		if len(want[0]) != 1 || len(want[1]) != 1 || len(want[3]) != 1 {
			t.Fatalf("%s: the screen shows %v", name, want)
		}
		s.onScreen(t.Context(), func(Emulator) { s.screen.saves.Wait() })
		again := memorySession(t, l)
		if diff := cmp.Diff(want, picturesOf(t, again)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if at := again.screen.saved; (at > 0) != (name == "checkpoint") {
			t.Errorf("%s: the replay started at %d", name, at)
		}
	}
}

// A damaged checkpoint in the output must not clear the screen. If it did, the session's notice
// would fail the test.
func TestReplayIgnoresForgedCheckpointInOutput(t *testing.T) {
	l := &memoryLog{}
	l.AppendResize("a", store.Resize{Cols: 20, Rows: 5})
	s := memorySession(t, l)
	s.output(l, "\x1bPq\"1;1;30;40#1!30~\x1b\\")
	var forged []byte
	s.onScreen(t.Context(), func(term Emulator) { s.screen.catchUp(); forged = term.AppendCheckpoint(nil) })
	forged = forged[bytes.Index(forged, []byte("\x1b_T")):]
	for _, text := range []string{string(forged), strings.ReplaceAll(string(forged), `"To":3`, `"To":-3`), "\x1b_C\x1b\\"} {
		old := &memoryLog{}
		old.add("hello" + text)
		again := memorySession(t, old)
		for y, pictures := range picturesOf(t, again) {
			if len(pictures) > 0 {
				t.Errorf("%.100q: row %d shows a picture", text, y)
			}
		}
		if rows, err := again.Rows(t.Context()); err != nil || rows[0] != "hello" {
			t.Errorf("%.100q: %q, %v", text, rows, err)
		}
	}
}

func TestBoundaryNeverCutsAPicture(t *testing.T) {
	l := &memoryLog{}
	s := memorySession(t, l)
	begun := "text\x1bPq\"1;1;20;20" + strings.Repeat("#1!2~$", 10<<10)
	for _, c := range []struct {
		more string
		want int64
	}{{begun, 4}, {"\x1b", 4}, {"\\", int64(len(begun)) + 2}} {
		s.output(l, c.more)
		picturesOf(t, s)
		var got int64
		s.onScreen(t.Context(), func(Emulator) { got = s.screen.findBoundary() })
		if got != c.want {
			t.Errorf("after %d bytes output is cut at %d, want %d", l.End(), got, c.want)
		}
	}
}

func TestPicturesReachViewersThatWantThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memoryLog{}
		s := memorySession(t, l)
		with, without := view(t, s, api.AttachOptions{Pictures: true}), view(t, s, api.AttachOptions{})
		<-with.out
		<-without.out
		s.output(l, "\x1b_Ga=T,f=24,s=1,v=1,c=2,r=1;AAAA\x1b\\x")
		first := <-with.out
		if first.Picture == nil || first.Picture.Number != 1 || first.Picture.Size != image.Pt(1, 1) || len(first.Picture.PNG) == 0 {
			t.Fatalf("sent %+v", first)
		}
		if f := (<-with.out).Frame; f == nil || len(f.Lines[0].Line.Pictures) != 1 || f.Lines[0].Line.Pictures[0].Picture != 1 {
			t.Errorf("frame %+v", f)
		}
		if f := (<-without.out).Frame; f == nil || f.Lines[0].Line.Pictures != nil {
			t.Errorf("frame for one who wants none %+v", f)
		}
		s.output(l, "y")
		if f := (<-with.out).Frame; f == nil {
			t.Error("the picture was sent twice")
		}
	})
}

func TestGalleryLimitsAViewersPictures(t *testing.T) {
	var g gallery
	noise := seed.Rand(t)
	pixels := make([]byte, 3*1100*1100) // 3.6 MB
	for i := range pixels {
		pixels[i] = byte(noise.Uint32())
	}
	made, err := graphics.FromPixels(image.Pt(1100, 1100), 3, pixels)
	if err != nil {
		t.Fatal(err)
	}
	text, err := made.PNG()
	if err != nil {
		t.Fatal(err)
	}
	for n := range 12 {
		p, err := graphics.FromPNG(text)
		if err != nil {
			t.Fatal(err)
		}
		p.Number = uint64(n + 1)
		f := newFakeStream()
		close(f.closed)
		g.send(f, []*graphics.Picture{p})
		if g.bytes > api.PicturesHeld || len(g.order) != len(g.held) {
			t.Fatalf("%d bytes in %d pictures, %d known", g.bytes, len(g.order), len(g.held))
		}
	}
	if _, held := g.held[1]; held || len(g.held) < 5 {
		t.Errorf("held are %v", g.order)
	}
}

func TestRepaintForARecordingContainsPictures(t *testing.T) {
	l := &memoryLog{}
	s := memorySession(t, l)
	s.output(l, "\x1bPq\"1;1;20;20#1~\x1b\\x")
	if screen, at, err := s.Repaint(t.Context()); err != nil || at != l.End() || !strings.Contains(string(screen), "\x1b_G") {
		t.Errorf("%q at %d, %v", screen, at, err)
	}
}

func TestRepaintContainsPicturesForViewersThatWantThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memoryLog{}
		s := memorySession(t, l)
		s.output(l, "\x1b_Ga=T,i=9,f=24,s=1,v=1,c=2,r=1,q=2;AAAA\x1b\\x")
		synctest.Wait()
		for _, wanted := range []bool{true, false} {
			out := <-view(t, s, api.AttachOptions{Raw: true, Pictures: wanted}).out
			if got := strings.Contains(string(out.Bytes), "\x1b_Ga=p,q=2,C=1,i=9,"); got != wanted {
				t.Errorf("wanted %v, got %q", wanted, out.Bytes)
			}
		}
	})
}

func TestPicturesAreSentApartAfterARepaint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memoryLog{}
		s := memorySession(t, l)
		v := view(t, s, api.AttachOptions{Raw: true, Pictures: true, Apart: true})
		<-v.out // the screen, which has none
		s.output(l, "one\r\n\x1b_Ga=T,i=9,f=24,s=1,v=1,c=2,r=1,q=2;AAAA\x1b\\")
		synctest.Wait()
		var shown []api.NumberedLine
		var seen []string
		for shown == nil {
			switch out := <-v.out; {
			case out.Bytes != nil:
				seen = append(seen, "bytes")
			case out.Picture != nil:
				seen = append(seen, "picture")
			default:
				seen, shown = append(seen, "lines"), out.Lines
			}
		}
		if got := strings.Join(seen, " "); !strings.HasSuffix(got, "bytes picture lines") {
			t.Fatalf("got %s", got)
		}
		if len(shown) != 1 || shown[0].N != 1 || len(shown[0].Line.Pictures) != 1 || shown[0].Line.Pictures[0].Picture != 1 {
			t.Errorf("lines %+v", shown)
		}
		s.output(l, "\x1b_Ga=d\x1b\\")
		synctest.Wait()
		for out := range v.out {
			if out.Lines != nil {
				if len(out.Lines) != 0 {
					t.Errorf("deleted, but lines %+v", out.Lines)
				}
				break
			}
		}
	})
}

// bomb returns a picture of 4,096 × 4,096 pixels, which uses up the unpacking limit of a second.
func bomb(id int) string {
	return fmt.Sprintf("\x1b[H\x1b_Ga=T,i=%d,f=32,s=%d,v=%d,o=z,c=2,r=1,C=1,q=2;%s\x1b\\", id, graphics.MaxSide, graphics.MaxSide,
		packedBomb())
}

// packedBomb is the packed pixels of a bomb in base64.
var packedBomb = sync.OnceValue(func() string {
	var packed bytes.Buffer
	w, _ := zlib.NewWriterLevel(&packed, zlib.BestSpeed)
	w.Write(make([]byte, 4*graphics.MaxSide*graphics.MaxSide))
	w.Close()
	return base64.StdEncoding.EncodeToString(packed.Bytes())
})

func TestPicturesOverTheUnpackingLimitAreSentLater(t *testing.T) {
	for name, o := range map[string]api.AttachOptions{
		"frames": {Pictures: true}, "bytes": {Raw: true, Pictures: true, Apart: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &memoryLog{}
				s := memorySession(t, l)
				s.output(l, bomb(1)+bomb(2))
				synctest.Wait()
				v := view(t, s, o)
				var sent []uint64
				begun := time.Now()
				for out := range v.out {
					if out.Picture == nil {
						continue
					}
					if len(out.Picture.PNG) == 0 {
						t.Fatalf("picture %d is damaged", out.Picture.Number)
					}
					if sent = append(sent, out.Picture.Number); len(sent) == 2 {
						break
					}
				}
				if sent[0] != 2 || sent[1] != 1 || time.Since(begun) < time.Second {
					t.Errorf("pictures %v were sent within %v", sent, time.Since(begun))
				}
			})
		})
	}
}

func TestScreenDrawsForOneCallerAtATime(t *testing.T) {
	l := &memoryLog{}
	s := memorySession(t, l)
	s.drawing <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Screen(ctx, api.SessionScreenInput{Picture: "png"}); err == nil {
		t.Error("two pictures of the screen were drawn at the same time")
	}
	if _, err := s.Screen(t.Context(), api.SessionScreenInput{}); err != nil {
		t.Errorf("reading text waited for the drawing: %v", err)
	}
	<-s.drawing
	if out, err := s.Screen(t.Context(), api.SessionScreenInput{Picture: "png"}); err != nil || len(out.Picture) == 0 {
		t.Errorf("drawing after the other one returned %d bytes, %v", len(out.Picture), err)
	}
}

func TestDrawingWaitsForTheUnpackingLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memoryLog{}
		s := memorySession(t, l)
		s.output(l, bomb(1))
		var usage *graphics.Usage
		for n := range int64(2) {
			begun := time.Now()
			if _, err := s.Screen(t.Context(), api.SessionScreenInput{Picture: "png"}); err != nil {
				t.Fatal(err)
			}
			s.onScreen(t.Context(), func(term Emulator) { usage = term.PictureUsage() })
			if got := usage.Unpacked(); got != (n+1)*graphics.MaxUnpacked || n > 0 && time.Since(begun) < time.Second {
				t.Errorf("after %d drawings %d bytes were unpacked; the last one took %v", n+1, got, time.Since(begun))
			}
		}
	})
}
