package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/cellwidth"
	"tandem/engine/styled"
	"tandem/panes/widget"
)

// A cluster is what one or two cells of a line show.
type cluster struct {
	text  string
	x, w  int
	style *api.Style
}

// clusters appends the clusters of a line as it is drawn: each run takes the
// cells that it says.
func clusters(dst []cluster, l api.Line) []cluster {
	x := 0
	for i := range l.Runs {
		r := &l.Runs[i]
		end := x + max(r.Cells, 0)
		for text := r.Text; text != "" && x < end; {
			piece, width := cellwidth.Fit(text, end-x)
			text = text[len(piece):]
			if width == 0 && !widget.IsControl(piece) {
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

// spread is a line of double width (DECDWL, DECDHL) with a blank behind each
// cell, which is as wide as a terminal's own characters can be; any other line
// is as it was.
func spread(l api.Line) api.Line {
	if l.Size == styled.SingleSize {
		return l
	}
	wide := l
	wide.Runs = nil
	for _, c := range clusters(nil, l) {
		wide.Runs = append(wide.Runs, api.Run{Style: *c.style, Text: c.text + widget.Spaces(c.w), Cells: 2 * c.w})
	}
	return wide
}

// scale is how many columns of a pane a cell of a line takes.
func scale(l api.Line) int {
	if l.Size == styled.SingleSize {
		return 1
	}
	return 2
}

// at is the index of the cluster that has column x, or len(row) behind the last.
func at(row []cluster, x int) int {
	for i := range row {
		if x < row[i].x+row[i].w {
			return i
		}
	}
	return len(row)
}

// lastCell is the column of a row's last character.
func lastCell(row []cluster) int {
	if len(row) == 0 {
		return 0
	}
	return row[len(row)-1].x
}

// width is how many cells a row's text takes.
func width(row []cluster) int {
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

// A class is what words are made of.
type class uint8

const (
	blankClass class = iota
	wordClass
	otherClass
)

func (c cluster) class() class {
	r, _ := utf8.DecodeRuneInString(c.text)
	switch {
	case unicode.IsSpace(r):
		return blankClass
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
		return wordClass
	}
	return otherClass
}

// A span is columns from and up to, and not including, to, in an ink.
type span struct {
	from, to int
	ink      widget.Ink
}

// appendMarked appends a line as appendLine does, with spans of it in inks of
// their own; where they overlap, the last one counts. A wide cluster is in an
// ink as soon as one of its cells is.
func appendMarked(dst []byte, l api.Line, w int, spans []span) []byte {
	var style api.Style
	var ink widget.Ink
	change := func(toStyle api.Style, toInk widget.Ink) {
		if ink == toInk && (ink != "" || style == toStyle) {
			return
		}
		if ink != "" {
			dst = append(dst, widget.SgrReset...)
			style = api.Style{}
		}
		if toInk != "" {
			dst = append(widget.AppendStyle(dst, style, api.Style{}), toInk...)
			toStyle = api.Style{}
		} else {
			dst = widget.AppendStyle(dst, style, toStyle)
		}
		style, ink = toStyle, toInk
	}
	x := 0
	for _, c := range clusters(nil, l) {
		if c.x+c.w > w {
			break
		}
		change(*c.style, inkAt(spans, c.x, c.x+c.w))
		if len(c.text) == 1 && c.text[0] >= 0x20 && c.text[0] < 0x7f {
			dst = append(dst, c.text[0])
		} else {
			dst = widget.AppendCluster(dst, c.text, c.w)
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

// inkAt is the ink of the last span with any of some columns.
func inkAt(spans []span, from, to int) widget.Ink {
	for i := len(spans) - 1; i >= 0; i-- {
		if spans[i].from < to && from < spans[i].to {
			return spans[i].ink
		}
	}
	return ""
}
