package screen

import (
	"fmt"
	"slices"

	uv "github.com/charmbracelet/ultraviolet"
)

// A pane that scrolls by a line changes nearly all its rows. The painter moves such rows in
// the terminal and paints what then differs, often one row. It sees only rows of cells, so
// it looks for the new content of a few rows above and below them. The renderer's own
// search, SetScrollOptim, moves only rows of the whole width, and pictures with them.

// scrollRows scrolls a part of the screen if the frame moves it. The cells are then as if
// they had been painted that way.
func (p *painter) scrollRows(f frame) {
	finder := scrollFinder{
		old: p.rows.cells.Lines, wanted: p.rows.drawn, changed: p.rows.changed,
		isFixed: func(y int) bool { return f.holdsPicture(y) || p.shown.holdsPicture(y) },
	}
	m, ok := finder.find(f.margins)
	if !ok {
		return
	}
	// The renderer cannot scroll a part of the screen, but takes rows that a resize adds as
	// painted, so it is resized to the rows above the move and back.
	above := uv.RenderBuffer{Buffer: &uv.Buffer{Lines: p.rows.cells.Lines[:max(m.top, 1)]}}
	above.TouchLine(0, 0, f.w)
	p.diff.Render(&above)
	p.rows.move(m)
	p.render()
	p.diff.MoveTo(0, 0) // where the sequence leaves the cursor
	// Writing to a buffer cannot fail. Its content is replaced by the sequence.
	_ = p.diff.Flush()
	p.rendered.Reset()
	_, _ = p.diff.WriteString(m.sequence(f.w))
}

// holdsPicture reports whether a picture covers row y.
func (f *frame) holdsPicture(y int) bool {
	return f.picture.coversRow(y) || f.patches.CrossesRow(y)
}

// A move scrolls the cells of a rectangle of the screen.
type move struct {
	left, right int // columns; right is exclusive
	top, bottom int // rows; bottom is exclusive
	lines       int // how far the cells move up; negative if down
}

// sequence returns the sequence that carries out the move on a screen of w columns. It
// clears the new rows in the current style, and leaves the cursor in the upper left
// corner.
func (m move) sequence(w int) string {
	scroll, lines := "S", m.lines // SU
	if lines < 0 {
		scroll, lines = "T", -lines // SD
	}
	count := ""
	if lines > 1 {
		count = fmt.Sprint(lines)
	}
	seq := fmt.Sprintf("\x1b[%d;%dr\x1b[%s%s", m.top+1, m.bottom, count, scroll)
	if m.left > 0 || m.right < w {
		// Resetting the mode resets the margins.
		seq = fmt.Sprintf("\x1b[?69h\x1b[%d;%ds%s\x1b[?69l", m.left+1, m.right, seq)
	}
	return seq + "\x1b[r"
}

// sequenceCost is the approximate number of bytes to carry out a move between rows, and
// columnsCost that of margins at its sides.
const (
	sequenceCost = 14
	columnsCost  = 20
)

// apply moves the cells of lines as the terminal does.
func (m move) apply(lines []uv.Line) {
	width := m.right - m.left
	for i := range m.bottom - m.top {
		y := m.top + i
		if m.lines < 0 {
			y = m.bottom - 1 - i
		}
		line := lines[y][m.left:m.right]
		if from := y + m.lines; from >= m.top && from < m.bottom {
			copy(line, lines[from][m.left:m.right])
			continue
		}
		for x := range width {
			line[x] = uv.EmptyCell
		}
	}
}

// A scrollFinder finds the move that saves most when the screen changes from old to wanted.
// It looks for the new content of a few changed rows above and below them, and measures
// each distance found over the whole screen.
type scrollFinder struct {
	old, wanted []uv.Line
	changed     []bool           // rows that differ between old and wanted
	isFixed     func(y int) bool // reports whether row y has pictures, and so must not scroll
}

const (
	minScrolled = 3 // rows that must change for a move to be considered
	maxProbes   = 5 // rows whose content is looked for
	maxMoves    = 4 // distances measured
	maxRounds   = 4 // extensions of a move to keep wide cells whole
	minColumns  = 2 // terminals ignore margins around a single column
)

// find returns the best move; ok is false if none saves anything. With columns, the move
// need not have the screen's width. At least one row must change.
func (s *scrollFinder) find(columns bool) (best move, ok bool) {
	rows := s.changedRows()
	saved, measured := 0, map[int]bool{}
	for i := range maxProbes {
		y := rows[(2*i+1)*len(rows)/(2*maxProbes)]
		for _, step := range [...]int{1, -1} {
			lines := s.distance(y, step)
			if lines == 0 || measured[lines] || len(measured) == maxMoves {
				continue
			}
			measured[lines] = true
			if m, gain := s.measure(lines, 0, len(s.wanted[y])); gain > saved {
				best, saved = m, gain
			}
			if !columns {
				continue
			}
			if m, gain := s.measureColumns(y, lines); gain > saved {
				best, saved = m, gain
			}
		}
	}
	return best, saved > 0
}

func (s *scrollFinder) changedRows() (rows []int) {
	for y, changed := range s.changed {
		if changed {
			rows = append(rows, y)
		}
	}
	return rows
}

// distance returns how far below row y, or above with a step of -1, its new content was.
// The result is 0 if it was not there, and negative if it was above.
func (s *scrollFinder) distance(y, step int) int {
	from, to := s.span(y)
	for lines := step; from < to && y+lines >= 0 && y+lines < len(s.old); lines += step {
		if equalCells(s.wanted[y][from:to], s.old[y+lines][from:to]) {
			return lines
		}
	}
	return 0
}

// span returns the columns in which row y changes.
func (s *scrollFinder) span(y int) (from, to int) {
	if !s.changed[y] {
		return 0, 0
	}
	return difference(s.wanted[y], s.old[y])
}

// measureColumns measures a move of only the columns that change around row y.
func (s *scrollFinder) measureColumns(y, lines int) (m move, gain int) {
	left, right := s.span(y)
	for _, step := range [...]int{1, -1} {
		for at := y + step; at >= 0 && at < len(s.old) && at+lines >= 0 && at+lines < len(s.old); at += step {
			from, to := s.span(at)
			if from == to {
				continue
			}
			if !equalCells(s.wanted[at][from:to], s.old[at+lines][from:to]) {
				break
			}
			left, right = min(left, from), max(right, to)
		}
	}
	for range maxRounds {
		m, gain = s.measure(lines, left, right)
		if gain <= columnsCost || right-left < minColumns {
			return m, 0
		}
		if left, right = s.keepWide(m); left == m.left && right == m.right {
			return m, gain - columnsCost
		}
	}
	return m, 0
}

// keepWide returns the columns of m, extended where its sides would cut a wide cell in half. It
// also considers the rows above and below the move, because xterm 379 clears wide cells there.
func (s *scrollFinder) keepWide(m move) (left, right int) {
	left, right = m.left, m.right
	rows := s.old[max(m.top-1, 0):min(m.bottom+1, len(s.old))]
	if m.top > 0 { // already painted
		rows = append(slices.Clone(rows), s.wanted[m.top-1])
	}
	for _, line := range rows {
		if line[m.left].Width == 0 {
			left = m.left - 1
		}
		if m.right < len(line) && line[m.right].Width == 0 {
			right = m.right + 1
		}
	}
	return left, right
}

// measure returns the best move of the columns by a distance, and approximately how much shorter it
// makes the output. It visits the rows against the direction of the move, so that the rows left
// empty come after the block.
func (s *scrollFinder) measure(lines, left, right int) (m move, gain int) {
	h := len(s.old)
	step, first, above := 1, 0, 1
	if lines < 0 {
		step, first, above = -1, h-1, 0
	}
	emptied := s.emptiedGains(left, right)
	sum, start := 0, first
	for y := first; y+lines >= 0 && y+lines < h; y += step {
		if sum += s.gain(y, lines, left, right); sum <= 0 || s.isFixed(y) || s.isFixed(y+lines) {
			sum, start = 0, y+step
			continue
		}
		// The rows of the block end at y, and the rows it leaves empty end at last.
		last := y + lines
		total := sum + emptied[max(y, last)+above] - emptied[min(y, last)+above]
		if total-sequenceCost > gain {
			gain = total - sequenceCost
			m = move{left: left, right: right, top: min(start, last), bottom: max(start, last) + 1, lines: lines}
		}
	}
	return m, gain
}

// emptiedGains returns, for each row, a sum over the rows above it: how much less output they need
// if the move has cleared them.
func (s *scrollFinder) emptiedGains(left, right int) []int {
	sums := make([]int, len(s.old)+1)
	for y := range s.old {
		gain := s.cost(y, left, right) - contentCost(s.wanted[y][left:right])
		if s.isFixed(y) {
			gain = -1 << 20
		}
		sums[y+1] = sums[y] + gain
	}
	return sums
}

// gain returns how much less output row y needs once the row lines below is moved there.
func (s *scrollFinder) gain(y, lines, left, right int) int {
	return s.cost(y, left, right) - rowCost(difference(s.wanted[y][left:right], s.old[y+lines][left:right]))
}

// cost returns how much output row y needs without a move.
func (s *scrollFinder) cost(y, left, right int) int {
	if !s.changed[y] {
		return 0
	}
	return rowCost(difference(s.wanted[y][left:right], s.old[y][left:right]))
}

// rowCost returns the approximate number of bytes to write a part of a row, given by its columns.
func rowCost(from, to int) int {
	if from == to {
		return 0
	}
	return to - from + 3
}

// contentCost returns the approximate number of bytes to write a line to an empty row.
func contentCost(line uv.Line) int {
	for x := len(line); x > 0; x-- {
		if line[x-1] != uv.EmptyCell {
			return rowCost(0, x)
		}
	}
	return 0
}

// difference returns the columns in which lines of the same length differ.
func difference(a, b uv.Line) (from, to int) {
	for to = len(a); to > 0 && equalCell(&a[to-1], &b[to-1]); to-- {
	}
	for from < to && equalCell(&a[from], &b[from]) {
		from++
	}
	return from, to
}

func equalCells(a, b uv.Line) bool {
	for x := range a {
		if !equalCell(&a[x], &b[x]) {
			return false
		}
	}
	return true
}

// equalCell reports whether two cells look the same. It does not compare colours of different
// types, but takes them as different: that is faster, and costs at worst some output.
func equalCell(a, b *uv.Cell) bool {
	if a.Content != b.Content && !(isBlankEnd(a) && isBlankEnd(b)) {
		return false
	}
	return a.Width == b.Width && a.Style == b.Style && a.Link == b.Link
}

// isBlankEnd reports whether a cell may end a line that is blank there.
func isBlankEnd(c *uv.Cell) bool { return c.Content == " " || c.Content == wideEnd }
