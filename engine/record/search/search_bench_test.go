package search

import (
	"bytes"
	"fmt"
	"testing"
)

// BenchmarkEach searches lines without a match.
func BenchmarkEach(b *testing.B) {
	var lines bytes.Buffer
	for i := range 1 << 16 {
		fmt.Fprintf(&lines, "2026-11-20T17:%02d:%02d.%03dZ INFO  http request id=%08x method=GET path=/api/v1/items/%d status=200\n", i/60%60, i%60, i%1000, i*2654435761, i%5000)
	}
	for _, expr := range []string{"(?i)panic: runtime", "id=[0-9a-f]+ method=POST", "[A-Z]$"} {
		p, err := Compile(expr, false)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(expr, func(b *testing.B) {
			b.SetBytes(int64(lines.Len()))
			for b.Loop() {
				p.Each(lines.Bytes(), func(lo, hi int) bool { b.Fatalf("found %d to %d", lo, hi); return false })
			}
		})
	}
}
