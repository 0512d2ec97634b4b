package preview

import (
	"fmt"
	"strings"

	"tandem/engine/base/units"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// Heading returns the title row of the preview.
func (p *Preview) Heading(w int, look *look.Look) string {
	if p.path == "" {
		return look.Heading("preview", "", w, p.Focused)
	}
	name, detail := text.FileName(p.info.Name), p.describeFile()
	if room := w - max(text.Width(detail), 4) - 6; room >= minNameWidth { // the list shows the name too
		name = text.ClipName(name, room)
	}
	return look.Heading(name, detail, w, p.Focused)
}

// minNameWidth is the minimum number of cells for a file's name.
const minNameWidth = 12

// describeFile describes the file and the visible position in it, for the heading.
func (p *Preview) describeFile() string {
	var parts []string
	if p.info.Type == "link" {
		parts = append(parts, "→ "+text.FileName(p.info.Target))
	}
	if p.info.Type == "file" || p.isWindowed() {
		parts = append(parts, units.Bytes(max(p.info.Size, p.size)))
	}
	switch {
	case p.kind == previewImage && p.image != nil:
		parts = append(parts, fmt.Sprintf("%s %d×%d", p.image.format, p.image.width, p.image.height))
	case p.kind == previewText && p.lexer != "":
		parts = append(parts, strings.ToLower(p.lexer))
	case p.kind == previewHex:
		parts = append(parts, "binary")
	}
	if name := p.encoding.name(); name != "" && p.kind == previewText {
		parts = append(parts, name)
	}
	if p.kind == previewList && p.note != "" {
		parts = append(parts, p.note)
	}
	if at, n := p.Hit(); n > 0 {
		parts = append(parts, fmt.Sprintf("match %d of %d", at, n))
	}
	if place := p.describePosition(); place != "" {
		parts = append(parts, place)
	}
	return strings.Join(parts, "  ")
}

// describePosition returns the position in the file.
func (p *Preview) describePosition() string {
	switch {
	case len(p.lines) <= p.h && (!p.isWindowed() || p.start == 0 && p.end >= p.size), len(p.lines) == 0, p.kind == previewImage:
		return ""
	case !p.isWindowed():
		return fmt.Sprintf("%d%%", min((p.top+p.h)*100/len(p.lines), 100))
	}
	bottom := p.end
	if at := p.top + p.h; at < len(p.lines) {
		bottom = p.lines[at].off
	}
	return fmt.Sprintf("%d%%", min(bottom*100/max(p.size, 1), 100))
}

// Draw returns h rows of w cells. The slice is valid until the next call.
func (p *Preview) Draw(w, h int, look *look.Look) []string {
	p.w, p.h = w, h
	p.out, p.drawn = p.out[:0], nil
	p.top = max(min(p.top, p.lastTop()), 0)
	if p.path != "" {
		p.fillRows(w, h, look)
	}
	p.out = text.PadRows(p.out, w, h)
	return p.out[:max(h, 0)]
}

func (p *Preview) fillRows(w, h int, look *look.Look) {
	switch {
	case p.bad && len(p.lines) == 0:
		for _, line := range text.WrapWords(p.note, max(w-2, 1)) {
			p.out = append(p.out, look.Bad.Text(text.Fit(" "+line, w)))
		}
	case p.kind == previewWords:
		for i := range p.lines {
			for _, line := range text.WrapWords(p.lines[i].text, max(w-2, 1)) {
				p.out = append(p.out, look.Dim.Text(text.Fit(" "+line, w)))
			}
		}
		p.out = p.out[:min(len(p.out), max(h, 0))]
	case p.kind == previewImage:
		p.out = append(p.out, p.drawPicture(w, h, look)...)
	default:
		gutter := p.gutter()
		for i := p.top; i < len(p.lines) && len(p.out) < h; i++ {
			p.drawLine(i, h, gutter, look)
		}
	}
}

// gutter returns the width of the line numbers.
func (p *Preview) gutter() int {
	if p.kind != previewText || p.number == 0 || p.w < 40 {
		return 0
	}
	return max(len(text.Itoa(int(p.number)+len(p.lines))), 3) + 1
}

// drawLine draws line i. If lines wrap, it may draw several rows.
func (p *Preview) drawLine(i, h, gutter int, look *look.Look) {
	l := &p.lines[i]
	number, here := "", false
	if gutter > 0 {
		if number = text.Spaces(gutter); !l.cont {
			n, ink := p.lineNumber(i), look.Faint
			if here = n == p.currentMatch; here {
				ink = look.FoundHere
			}
			number = ink.Text(text.PadLeft(text.Itoa(int(n)), gutter-1)) + " "
		}
	}
	drawn := p.inkLine(l, here, look)
	room, side := p.splitRow(l, gutter)
	cells := text.Width(l.text)
	if !p.wrap {
		p.out = append(p.out, number+" "+fitLine(drawn, cells, p.left, room, look.Glyphs.More)+look.Dim.Text(side))
		return
	}
	for at := 0; (at == 0 || at < cells) && len(p.out) < h; at += room {
		p.out = append(p.out, number+" "+fitLine(drawn, cells, at, room, "")+look.Dim.Text(side))
		// Only the first row of a wrapped line has the line's number and the detail at its right
		// end.
		number, side = text.Spaces(gutter), text.Spaces(text.Width(side))
	}
}

// splitRow returns the width available for a line's text, and the detail drawn after the text.
func (p *Preview) splitRow(l *previewLine, gutter int) (room int, side string) {
	room = max(p.w-gutter-1, 1)
	if l.side == "" || room-text.Width(l.side)-2 < minNameWidth {
		return room, ""
	}
	side = " " + l.side + " "
	return room - text.Width(side), side
}

// lineNumber returns the number of line i. If the line before was the last one numbered, it counts
// on from there, which is faster.
func (p *Preview) lineNumber(i int) int64 {
	if p.counted.at+1 == i && p.counted.start == p.start && i > 0 {
		p.counted.n += int64(countLines(p.lines[i : i+1]))
	} else {
		p.counted.n = p.numberOf(i)
	}
	p.counted.at, p.counted.start = i, p.start
	return p.counted.n
}

// fitLine returns the part of a line that begins at column start, exactly w cells wide. cells is
// the width of the whole line. If the end is cut off, mark takes the last cells.
func fitLine(s string, cells, start, w int, mark string) string {
	switch {
	case start >= cells:
		return text.Spaces(w)
	case start == 0 && cells <= w:
		return s + text.Spaces(w-cells)
	}
	return text.Pad(text.Cut(text.CutLeft(s, start), w, mark), w)
}

// inkLine returns a line with its colours. current says that the line is the current match.
func (p *Preview) inkLine(l *previewLine, current bool, look *look.Look) string {
	switch {
	case p.kind == previewHex:
		off, rest, _ := strings.Cut(l.text, "  ")
		at := max(len(rest)-p.row, 0)
		if end := strings.LastIndex(rest, "  "); end >= 0 {
			at = end + 1
		}
		return look.Faint.Text(off) + "  " + look.Text.Text(rest[:at]) + look.Dim.Text(rest[at:])
	case l.ink == inkDim:
		return look.Dim.Text(l.text)
	case l.ink == inkAccent:
		return look.Accent.Text(l.text)
	}
	inks := inkedText{marks: p.findMarks(l.text), found: look.Found}
	if current {
		inks.found = look.FoundHere
	}
	rest := l.text
	for _, s := range p.painted[l.off] {
		n := min(s.n, len(rest))
		inks.addText(rest[:n], s.class.ink(look))
		rest = rest[n:]
	}
	inks.addText(rest, look.Text)
	return inks.out.String()
}

// findMarks returns the ranges of a line to mark.
func (p *Preview) findMarks(text string) [][]int {
	if p.find == nil {
		return nil
	}
	return p.find.FindAllStringIndex(text, -1)
}

// An inkedText builds a line from parts with inks and marks.
type inkedText struct {
	out   strings.Builder
	at    int     // number of bytes added
	marks [][]int // start and end, in order
	found look.Ink
}

func (t *inkedText) addText(text string, ink look.Ink) {
	for text != "" {
		for len(t.marks) > 0 && t.marks[0][1] <= t.at {
			t.marks = t.marks[1:]
		}
		n, part := len(text), ink
		if len(t.marks) > 0 {
			if from, to := t.marks[0][0], t.marks[0][1]; t.at < from {
				n = min(n, from-t.at)
			} else {
				n, part = min(n, to-t.at), t.found
			}
		}
		t.out.WriteString(part.Text(text[:n]))
		text, t.at = text[n:], t.at+n
	}
}
