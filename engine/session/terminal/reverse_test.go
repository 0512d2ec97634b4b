package terminal

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/engine/screen/styled"
)

func TestReverseScreenSwapsDefaultColours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &memoryLog{}
		s := memorySession(t, l)
		v := view(t, s, api.AttachOptions{})
		s.output(l, "one \x1b[31mred\x1b[7mer\x1b[m\x1b[?5h")
		synctest.Wait()
		const red = styled.ColorIndexed | 1
		var f *api.Frame
		for f == nil || f.Lines[0].Line.Runs == nil || f.Lines[0].Line.Runs[0].Style.Attrs == 0 {
			f = (<-v.out).Frame
		}
		want := []styled.Run{
			{Style: styled.Style{Rendition: styled.Rendition{Attrs: styled.Reverse}}, Text: "one ", Cells: 4},
			{Style: styled.Style{Rendition: styled.Rendition{BG: red, Attrs: styled.Reverse}}, Text: "red", Cells: 3},
			{Style: styled.Style{Rendition: styled.Rendition{BG: red}}, Text: "er", Cells: 2},
			{Style: styled.Style{Rendition: styled.Rendition{Attrs: styled.Reverse}}, Text: strings.Repeat(" ", f.Cols-9), Cells: f.Cols - 9},
		}
		if diff := cmp.Diff(want, f.Lines[0].Line.Runs); diff != "" {
			t.Error(diff)
		}
		s.output(l, "\x1b[?5l")
		synctest.Wait()
		if f := (<-v.out).Frame; !f.Full || f.Lines[0].Line.Runs[0].Style != (styled.Style{}) {
			t.Errorf("after it ended: %+v", f)
		}
	})
}
