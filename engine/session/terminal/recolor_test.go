package terminal

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/engine/base/invariants"
	"tandem/engine/screen/styled"
)

const (
	darkRed = styled.ColorRGB | 0x400000
	green   = styled.ColorRGB | 0x00FF00
	white   = styled.ColorRGB | 0xFFFFFF
)

func TestFramesUseTheProgramsColours(t *testing.T) {
	defer invariants.Never("full frame")()
	synctest.Test(t, func(t *testing.T) {
		l := &memoryLog{}
		s := memorySession(t, l)
		s.output(l, "\x1b[31mred\x1b[m text\x1b[2;1H\x1b[7mreversed")
		synctest.Wait()
		f := view(t, s, api.AttachOptions{Cols: 20, Rows: 3})
		first := func() []styled.Run {
			synctest.Wait()
			out := <-f.out
			if out.Frame == nil || !out.Frame.Full {
				t.Fatalf("sent %+v, want a full frame", out)
			}
			return out.Frame.Lines[0].Line.Runs
		}
		plain := first()
		s.output(l, "\x1b]4;1;#00ff00\a\x1b]10;#ffffff\a\x1b]11;#400000\a")
		got := first()
		cols, _ := s.Size()
		want := []styled.Run{
			{Style: styled.Style{Rendition: styled.Rendition{FG: green, BG: darkRed}}, Text: "red", Cells: 3},
			{Style: styled.Style{Rendition: styled.Rendition{FG: white, BG: darkRed}}, Text: " text", Cells: 5},
		}
		if diff := cmp.Diff(want, got[:2]); diff != "" {
			t.Error(diff)
		}
		if last := got[len(got)-1]; len(got) != 3 || last.Cells != cols-8 || last.Style.BG != darkRed {
			t.Errorf("after the text: %+v, want the changed background", got[2:])
		}
		f.in <- api.Input{Lines: &api.LineRange{From: 0, Count: 1}}
		if out := <-f.out; len(out.Lines) != 1 || out.Lines[0].Line.Runs[0].Style.FG != green {
			t.Errorf("requested lines are not recoloured: %+v", out)
		}
		s.output(l, "\x1b]104\a\x1b]110\a\x1b]111\a")
		if diff := cmp.Diff(plain, first()); diff != "" {
			t.Errorf("after the colours were reset: %s", diff)
		}
		s.output(l, "\x1b]11;?\a\x1b]12;#123456\a\x1b[3;1Hx")
		if out := <-f.out; out.Frame == nil || out.Frame.Full {
			t.Errorf("sent %+v, want a partial frame because no drawn colour changed", out)
		}
	})
}
