package picture

import (
	"iter"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/clipperhouse/uax29/v2/graphemes"

	"tandem/engine/vt"
)

// pieces cuts a line into clusters. A cluster's width is the emulator's only in
// the sum of its run; what the sum has more or less goes to the last ones.
func (s *Screen) pieces(l vt.Line) iter.Seq[piece] {
	return func(yield func(piece) bool) {
		x := 0
		for _, r := range l.Runs {
			look := s.look(r.Style)
			end := x + r.Cells
			for text := r.Text; text != "" && x < end; {
				cluster := firstCluster(text)
				text = text[len(cluster):]
				cells := min(clusterCells(cluster), end-x)
				if !yield(piece{cluster, x, cells, look}) {
					return
				}
				x += cells
			}
			for ; x < end; x++ {
				if !yield(piece{" ", x, 1, look}) {
					return
				}
			}
		}
	}
}

func firstCluster(s string) string {
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		return s[:1]
	}
	it := graphemes.FromString(s)
	it.Next()
	return it.Value()
}

func clusterCells(cluster string) int {
	if len(cluster) == 1 {
		return 1
	}
	return max(displaywidth.String(cluster), 1)
}
