package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/base/cellwidth"
	"tandem/engine/screen/styled"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// A cluster is a character with its position, one or two cells wide.
type cluster struct {
	text  string
	x, w  int
	style *api.Style
}

// appendClusters appends the clusters of a line as it is drawn: each run takes exactly the number
// of cells that it claims.
func appendClusters(dst []cluster, l api.Line) []cluster {
	x := 0
	for i := range l.Runs {
		r := &l.Runs[i]
		end := x + max(r.Cells, 0)
		for s := r.Text; s != "" && x < end; {
			piece, width := cellwidth.Fit(s, end-x)
			s = s[len(piece):]
			// Without width, it has no cell of its own.
			if width == 0 && !text.IsControl(piece) {
				continue
			}
			width = max(width, 1)
			if x+width > end {
				break
			}
			dst = append(dst, cluster{piece, x, width, &r.Style})
			x += width
		}
		for ; x < end; x++ {
			dst = append(dst, cluster{" ", x, 1, &r.Style})
		}
	}
	return dst
}

// spreadDouble returns a line of double width (DECDWL, DECDHL) with a blank after each cell, which
// comes closest to double width with ordinary characters. It returns any other line unchanged.
func spreadDouble(l api.Line) api.Line {
	if l.Size == styled.SingleSize {
		return l
	}
	wide := l
	wide.Runs = nil
	for _, c := range appendClusters(nil, l) {
		wide.Runs = append(wide.Runs, api.Run{Style: *c.style, Text: c.text + text.Spaces(c.w), Cells: 2 * c.w})
	}
	return wide
}

// cellScale returns how many columns of a pane a cell of a line takes.
func cellScale(l api.Line) int {
	if l.Size == styled.SingleSize {
		return 1
	}
	return 2
}

// clusterIndex returns the index of the cluster at column x, or len(row) after the last one.
func clusterIndex(row []cluster, x int) int {
	for i := range row {
		if x < row[i].x+row[i].w {
			return i
		}
	}
	return len(row)
}

// lastCell returns the column of a row's last character.
func lastCell(row []cluster) int {
	if len(row) == 0 {
		return 0
	}
	return row[len(row)-1].x
}

func rowWidth(row []cluster) int {
	if len(row) == 0 {
		return 0
	}
	last := row[len(row)-1]
	return last.x + last.w
}

func textOf(row []cluster) string {
	var b strings.Builder
	for _, c := range row {
		b.WriteString(c.text)
	}
	return b.String()
}

// A charClass divides characters into words.
type charClass uint8

const (
	blankClass charClass = iota
	wordClass
	otherClass
)

func (c cluster) class() charClass {
	r, _ := utf8.DecodeRuneInString(c.text)
	switch {
	case unicode.IsSpace(r):
		return blankClass
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
		return wordClass
	}
	return otherClass
}

// A span is a range of columns, from inclusive and to exclusive, with the ink for drawing them.
type span struct {
	from, to int
	ink      look.Ink
}

// appendMarked appends a line like text.AppendLine, but draws the columns of spans in the ink of
// the span. Where spans overlap, the last one counts. A wide character is marked if one of its
// cells is marked.
func appendMarked(dst []byte, l api.Line, w int, spans []span) []byte {
	var style api.Style
	var ink look.Ink
	change := func(toStyle api.Style, toInk look.Ink) {
		if ink == toInk && (ink != "" || style == toStyle) {
			return
		}
		if ink != "" {
			dst = append(dst, text.SgrReset...)
			style = api.Style{}
		}
		if toInk != "" {
			dst = append(text.AppendStyle(dst, style, api.Style{}), toInk...)
			toStyle = api.Style{}
		} else {
			dst = text.AppendStyle(dst, style, toStyle)
		}
		style, ink = toStyle, toInk
	}
	x := 0
	for _, c := range appendClusters(nil, l) {
		if c.x+c.w > w {
			break
		}
		change(*c.style, inkAt(spans, c.x, c.x+c.w))
		if len(c.text) == 1 && c.text[0] >= 0x20 && c.text[0] < 0x7f {
			dst = append(dst, c.text[0])
		} else {
			dst = text.AppendCluster(dst, c.text, c.w)
		}
		x = c.x + c.w
	}
	for ; x < w; x++ {
		change(api.Style{}, inkAt(spans, x, x+1))
		dst = append(dst, ' ')
	}
	change(api.Style{}, "")
	return dst
}

// inkAt returns the ink of the last span that overlaps the columns from (inclusive) to (exclusive);
// "" if none does.
func inkAt(spans []span, from, to int) look.Ink {
	for i := len(spans) - 1; i >= 0; i-- {
		if spans[i].from < to && from < spans[i].to {
			return spans[i].ink
		}
	}
	return ""
}
