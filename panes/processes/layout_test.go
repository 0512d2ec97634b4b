package processes

import (
	"testing"

	"pgregory.net/rapid"

	"tandem/panes/kit/look"
	"tandem/tests/seed"
)

func TestLayoutFillsTheView(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		c := contents{
			tableRows: rapid.IntRange(0, 100).Draw(t, "rows"),
			covered:   rapid.SampledFrom([]int{0, 3}).Draw(t, "covered"),
			process:   rapid.Bool().Draw(t, "process"),
			charts:    rapid.SampledFrom([]int{0, 1, chartRows}).Draw(t, "charts"),
			reason:    make([]string, rapid.IntRange(0, maxReasonRows).Draw(t, "reason")),
		}
		a := arrangement{
			contents:    func() contents { return c },
			w:           80,
			h:           rapid.IntRange(12, 100).Draw(t, "h"),
			zoomed:      rapid.Bool().Draw(t, "zoomed"),
			logFocused:  rapid.Bool().Draw(t, "log"),
			tableHeight: rapid.SampledFrom([]int{0, 0, 3, 7, 200}).Draw(t, "height"),
		}
		all := a.layout()
		if a.zoomed && !a.logFocused {
			if all.table.H != a.h || all.log.H != 0 {
				t.Fatalf("the zoomed table leaves room: %+v", all)
			}
			return
		}
		y := 0
		for _, part := range []look.Rect{all.table, all.charts, all.heading, all.reason, all.log} {
			if part.H > 0 && part.Y != y {
				t.Fatalf("a part is at %d, not at %d: %+v", part.Y, y, all)
			}
			y += part.H
		}
		if y+c.covered != a.h || all.heading.H != 1 {
			t.Fatalf("the parts and the search line take %d of %d rows: %+v", y+c.covered, a.h, all)
		}
		if all.log.H < minLogHeight-1 {
			t.Fatalf("%d rows are left for the log: %+v", all.log.H, all)
		}
	})
}
