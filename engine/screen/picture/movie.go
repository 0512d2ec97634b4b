package picture

import (
	"fmt"
	"strings"
	"time"

	"tandem/engine/screen/styled"
)

// maxMovie bounds a movie, in bytes.
const maxMovie = 64 << 20

// A Movie renders a sequence of screens as one SVG that is animated with CSS alone and repeats at
// its end. Each row is a strip of all its contents side by side, with one of them visible, so that
// an unchanged row costs nothing.
type Movie struct {
	cols, rows int
	background string
	strips     []strip
	bytes      int
	last       time.Duration
}

// A strip is the sequence of contents of one row.
type strip struct {
	drawn    []string        // each content once, drawn in the top left corner
	index    map[string]int  // index in drawn by content
	sequence []int           // indices in drawn, in order of time
	since    []time.Duration // start of each of shows
}

// NewMovie returns a movie of screens of one size; larger screens are cropped.
func NewMovie(cols, rows int) *Movie {
	m := &Movie{cols: cols, rows: rows, strips: make([]strip, rows)}
	for y := range m.strips {
		m.strips[y].index = map[string]int{}
	}
	return m
}

// Add shows a screen from a time on; times must not decrease. It returns an error if the movie
// gets too large.
func (m *Movie) Add(at time.Duration, s Screen) error {
	s.Cols = min(s.Cols, m.cols)
	m.background, m.last = hexColor(rgb(s.Palette.Background)), at
	for y := range m.strips {
		n := m.strips[y].addRow(at, s.drawRow(y))
		if m.bytes += n; m.bytes > maxMovie {
			return fmt.Errorf("the picture would be larger than %d MiB", maxMovie>>20)
		}
	}
	return nil
}

// addRow shows a row's content from a time on, and returns the bytes it adds.
func (r *strip) addRow(at time.Duration, drawn string) (bytes int) {
	i, known := r.index[drawn]
	if !known {
		i = len(r.drawn)
		r.index[drawn] = i
		r.drawn = append(r.drawn, drawn)
		bytes = len(drawn)
	}
	n := len(r.sequence)
	if n > 0 && r.sequence[n-1] == i {
		return bytes
	}
	if n > 0 && r.since[n-1] == at { // replaced before it was visible
		r.sequence[n-1] = i
		return bytes
	}
	r.sequence, r.since = append(r.sequence, i), append(r.since, at)
	return bytes + len("99.99%{transform:translateX(-99999px)}")
}

// drawRow draws one row, including the cursor, at the position of the first.
func (s *Screen) drawRow(y int) string {
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

// SVG returns the movie, which repeats after end. If the user prefers reduced motion, it shows the
// last screen.
func (m *Movie) SVG(end time.Duration) []byte {
	var b, style strings.Builder
	// The last screen must be visible for a moment.
	end = max(end, m.last+time.Millisecond)
	w, h := m.cols*cellWidth+2*padding, m.rows*cellHeight+2*padding
	for y, r := range m.strips {
		if len(r.sequence) < 2 {
			continue
		}
		fmt.Fprintf(&style, ".r%d{animation:r%d %.2fs step-end infinite}@keyframes r%d{", y, y, end.Seconds(), y)
		for i, shown := range r.sequence {
			fmt.Fprintf(&style, "%.3f%%{transform:translateX(-%dpx)}", 100*r.since[i].Seconds()/end.Seconds(), shown*w)
		}
		style.WriteString("}\n")
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d">`+"\n", w, h, w, h)
	fmt.Fprintf(&b, "<style>\n%s@media(prefers-reduced-motion:reduce){g{animation:none!important}}\n</style>\n", style.String())
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="6" fill="%s"/>`+"\n", w, h, m.background)
	fmt.Fprintf(&b, `<g font-family="%s" font-size="%d">`+"\n", fonts, emPixels)
	for y, r := range m.strips {
		if len(r.sequence) == 0 {
			continue
		}
		fmt.Fprintf(&b, `<g transform="translate(0,%d)"><g class="r%d" style="transform:translateX(-%dpx)">`+"\n",
			y*cellHeight, y, r.sequence[len(r.sequence)-1]*w)
		for i, drawn := range r.drawn {
			fmt.Fprintf(&b, `<g transform="translate(%d,0)">`+"\n%s</g>\n", i*w, drawn)
		}
		b.WriteString("</g></g>\n")
	}
	b.WriteString("</g>\n</svg>\n")
	return []byte(b.String())
}
