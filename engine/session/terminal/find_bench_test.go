package terminal

import (
	"fmt"
	"testing"

	"tandem/engine/api"
	"tandem/engine/screen/vt"
)

// BenchmarkFind searches a scrollback of 100,000 lines.
func BenchmarkFind(b *testing.B) {
	term := vt.New(vt.Options{Cols: 120, Rows: 40, ScrollbackLines: 100_000})
	for i := range 100_000 {
		fmt.Fprintf(term, "\x1b[32m%06d\x1b[m GET /api/v1/things/%d?page=%d 200 %dms user=ann agent=curl\r\n", i, i*7, i%13, i%997)
	}
	for name, p := range map[string]api.Pattern{
		"plain": {Text: "page=12 200 996ms"}, "regexp": {Text: `page=\d+ 200 9{3}ms`, Regexp: true}, "rare": {Text: "NOWHERE"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var f finder
				if err := f.setPattern(p); err != nil {
					b.Fatal(err)
				}
				var block textBlock
				oldest, _, end := term.Bounds()
				for next := oldest; next < end; {
					block.fillFrom(term, next, end)
					next = block.end
					block.eachMatch(f.re, f.literal, f.addMatch)
				}
			}
		})
	}
}
