package picture

import (
	"fmt"
	"strings"
	"time"

	"tandem/engine/styled"
)

// movieMost bounds a movie in bytes.
const movieMost = 64 << 20

// A Movie draws screens that follow each other as one SVG that moves, with CSS
// alone, and begins again at its end. Each row is a strip of all that it ever shows,
// of which one place is in sight: a row that does not change costs nothing.
type Movie struct {
	cols, rows int
	background string
	strips     []strip
	bytes      int
	last       time.Duration
}

// A strip is what one row shows, in turn.
type strip struct {
	drawn []string        // each row once, at the top left corner
	index map[string]int  // in drawn
	shows []int           // of drawn, in order of time
	since []time.Duration // when each of shows begins
}

// NewMovie makes a movie of screens of one size. What of a screen is beyond it is cut
// off.
func NewMovie(cols, rows int) *Movie {
	m := &Movie{cols: cols, rows: rows, strips: make([]strip, rows)}
	for y := range m.strips {
		m.strips[y].index = map[string]int{}
	}
	return m
}

// Add has a screen be seen from a time on; times do not go back. It is an error if
// the movie gets too large.
func (m *Movie) Add(at time.Duration, s Screen) error {
	s.Cols = min(s.Cols, m.cols)
	m.background, m.last = hex(rgb(s.Palette.Background)), at
	for y := range m.strips {
		n := m.strips[y].add(at, s.row(y))
		if m.bytes += n; m.bytes > movieMost {
			return fmt.Errorf("it is larger than %d MiB as a picture", movieMost>>20)
		}
	}
	return nil
}

// add shows a row from a time on, and tells how many bytes that costs.
func (r *strip) add(at time.Duration, drawn string) (bytes int) {
	i, known := r.index[drawn]
	if !known {
		i = len(r.drawn)
		r.index[drawn] = i
		r.drawn = append(r.drawn, drawn)
		bytes = len(drawn)
	}
	n := len(r.shows)
	if n > 0 && r.shows[n-1] == i {
		return bytes
	}
	if n > 0 && r.since[n-1] == at { // nobody sees what was there for no time
		r.shows[n-1] = i
		return bytes
	}
	r.shows, r.since = append(r.shows, i), append(r.since, at)
	return bytes + len("99.99%{transform:translateX(-99999px)}")
}

// row draws one row with the cursor on it, as if it was the first.
func (s *Screen) row(y int) string {
	var b strings.Builder
	one := *s
	one.Printed = nil // each row would have them all
	if y < min(len(s.Lines), s.Rows) {
		one.Lines = s.Lines[y : y+1]
	} else {
		one.Lines = []styled.Line{{}}
	}
	one.Rows, one.Cursor.Y = 1, s.Cursor.Y-y
	one.writeLine(&b, 0)
	one.writeCursor(&b)
	return b.String()
}

// SVG is the movie, which ends after a time. Where motion is not wanted its last
// screen is shown.
func (m *Movie) SVG(end time.Duration) []byte {
	var b, style strings.Builder
	end = max(end, m.last+time.Millisecond)
	w, h := m.cols*cellWidth+2*padding, m.rows*cellHeight+2*padding
	for y, r := range m.strips {
		if len(r.shows) < 2 {
			continue
		}
		fmt.Fprintf(&style, ".r%d{animation:r%d %.2fs step-end infinite}@keyframes r%d{", y, y, end.Seconds(), y)
		for i, shown := range r.shows {
			fmt.Fprintf(&style, "%.3f%%{transform:translateX(-%dpx)}", 100*r.since[i].Seconds()/end.Seconds(), shown*w)
		}
		style.WriteString("}\n")
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d">`+"\n", w, h, w, h)
	fmt.Fprintf(&b, "<style>\n%s@media(prefers-reduced-motion:reduce){g{animation:none!important}}\n</style>\n", style.String())
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="6" fill="%s"/>`+"\n", w, h, m.background)
	fmt.Fprintf(&b, `<g font-family="%s" font-size="%d">`+"\n", fonts, emPixels)
	for y, r := range m.strips {
		if len(r.shows) == 0 {
			continue
		}
		fmt.Fprintf(&b, `<g transform="translate(0,%d)"><g class="r%d" style="transform:translateX(-%dpx)">`+"\n",
			y*cellHeight, y, r.shows[len(r.shows)-1]*w)
		for i, drawn := range r.drawn {
			fmt.Fprintf(&b, `<g transform="translate(%d,0)">`+"\n%s</g>\n", i*w, drawn)
		}
		b.WriteString("</g></g>\n")
	}
	b.WriteString("</g>\n</svg>\n")
	return []byte(b.String())
}
