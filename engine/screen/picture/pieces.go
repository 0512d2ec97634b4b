package picture

import (
	"iter"

	"tandem/engine/base/cellwidth"
	"tandem/engine/screen/styled"
)

// splitPieces splits a line into clusters. A single cluster takes all cells of its run. For several,
// the widths are measured, and the last ones absorb any difference from the run.
func (s *Screen) splitPieces(l styled.Line) iter.Seq[piece] {
	return func(yield func(piece) bool) {
		x := 0
		for _, r := range l.Runs {
			look := s.lookOf(r.Style)
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
			// If the text is narrower than its run, fill the rest of the run with blanks.
			for ; x < end; x++ {
				if !yield(piece{" ", x, 1, look}) {
					return
				}
			}
		}
	}
}
