package picture

import (
	"iter"

	"tandem/engine/cellwidth"
	"tandem/engine/styled"
)

// pieces cuts a line into clusters. A run of one cluster takes its cells; others
// are measured, and what the sum has more or less goes to the last ones.
func (s *Screen) pieces(l styled.Line) iter.Seq[piece] {
	return func(yield func(piece) bool) {
		x := 0
		for _, r := range l.Runs {
			look := s.look(r.Style)
			end := x + r.Cells
			for text := r.Text; text != "" && x < end; {
				cluster, cells := cellwidth.Fit(text, end-x)
				text = text[len(cluster):]
				cells = min(max(cells, 1), end-x)
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
