package wire

import (
	"encoding/binary"
	"math"

	"tandem/engine/api"
	"tandem/engine/screen/styled"
	"tandem/keys"
)

// The binary form of a Frame must be compact, because a Frame is sent for every change of the
// screen. It must also be safe to decode if the peer is hostile. Numbers are varints. A style is
// written in full at its first use, and later as its index (0 is the default style). The texts of a
// line's runs follow the runs in one piece.

const (
	frameFull = 1 << iota
	frameAlt
	framePaste
	frameCursorVisible
	frameCursorBlink
	frameAnchors
	frameCursorOwn
	frameCursorColor
)

// A line starts with a head: its flags in the low bits, then its size, then the number of its runs.
const (
	lineSizeShift = 3
	lineHeadBits  = 5
)

// minRunBytes and minLineBytes are the minimum sizes of a run and of a line. They limit the memory
// allocated for a message.
const (
	minRunBytes  = 3
	minLineBytes = 2
)

// AppendFrame appends the binary form of f to dst.
func AppendFrame(dst []byte, f *api.Frame) []byte {
	dst = append(dst, frameFlags(f), byte(f.Mouse), byte(f.Cursor.Shape))
	dst = binary.AppendVarint(dst, int64(f.Cols))
	dst = binary.AppendVarint(dst, int64(f.Rows))
	dst = binary.AppendVarint(dst, f.First)
	dst = binary.AppendVarint(dst, f.First-f.Oldest)
	dst = binary.AppendVarint(dst, int64(f.Cursor.X))
	dst = binary.AppendVarint(dst, int64(f.Cursor.Y))
	dst = binary.AppendUvarint(dst, uint64(f.Bells))
	dst = appendString(dst, f.Title)
	if f.Cursor.Color != 0 {
		dst = binary.AppendUvarint(dst, uint64(f.Cursor.Color))
	}
	if len(f.Anchors) > 0 {
		dst = appendPlaces(dst, f.Anchors, f.First)
	}
	return appendStrips(appendLines(dst, f.Lines, f.First), f.Lines)
}

func frameFlags(f *api.Frame) byte {
	var b byte
	for i, on := range [...]bool{f.Full, f.Alt, f.Paste, f.Cursor.Visible, f.Cursor.Blink, len(f.Anchors) > 0, f.Cursor.Own, f.Cursor.Color != 0} {
		if on {
			b |= 1 << i
		}
	}
	return b
}

// DecodeFrame decodes the output of AppendFrame. For any other input, it returns an error, and
// allocates at most a multiple of its length. The frame does not refer to b.
func DecodeFrame(b []byte) (*api.Frame, error) {
	d := decoder{b: b}
	flags := d.byte()
	f := &api.Frame{
		Full: flags&frameFull != 0, Alt: flags&frameAlt != 0, Paste: flags&framePaste != 0,
		Mouse: keys.MouseMode(d.byte()),
		Cursor: api.Cursor{
			Visible: flags&frameCursorVisible != 0, Blink: flags&frameCursorBlink != 0, Own: flags&frameCursorOwn != 0,
			Shape: styled.CursorShape(d.byte()),
		},
	}
	f.Cols, f.Rows = d.small(), d.small()
	f.First = d.varint()
	f.Oldest = f.First - d.varint()
	f.Cursor.X, f.Cursor.Y = d.small(), d.small()
	f.Bells = uint32(d.uvarint(math.MaxUint32))
	f.Title = d.string()
	if flags&frameCursorColor != 0 {
		if f.Cursor.Color = api.Color(d.uvarint(math.MaxUint32)); f.Cursor.Color == 0 {
			d.fail()
		}
	}
	if flags&frameAnchors != 0 {
		f.Anchors = d.places(f.First)
	}
	f.Lines = d.lines(f.First)
	d.strips(f.Lines)
	if err := d.end(); err != nil {
		return nil, err
	}
	return f, nil
}

// appendLines appends numbered lines. Each number is encoded as the distance from the number after
// the previous line. For the first line, that is the distance from next.
func appendLines(dst []byte, lines []api.NumberedLine, next int64) []byte {
	var styles styleTable
	dst = binary.AppendUvarint(dst, uint64(len(lines)))
	for i := range lines {
		l := &lines[i]
		dst = binary.AppendVarint(dst, l.N-next)
		next = l.N + 1
		dst = appendLine(dst, &l.Line, &styles)
	}
	return dst
}

func appendLine(dst []byte, l *api.Line, styles *styleTable) []byte {
	head := uint64(len(l.Runs))<<lineHeadBits | uint64(l.Size&3)<<lineSizeShift
	for i, on := range [...]bool{l.Wrapped, l.Prompt, l.Output} {
		if on {
			head |= 1 << i
		}
	}
	dst = binary.AppendUvarint(dst, head)
	for i := range l.Runs {
		r := &l.Runs[i]
		dst = styles.append(dst, &r.Style)
		dst = binary.AppendUvarint(dst, uint64(max(r.Cells, 0)))
		dst = binary.AppendUvarint(dst, uint64(len(r.Text)))
	}
	// The texts are last and in one piece, so the decoder allocates one string for all of them.
	for i := range l.Runs {
		dst = append(dst, l.Runs[i].Text...)
	}
	return dst
}

func (d *decoder) lines(next int64) []api.NumberedLine {
	n := d.count(minLineBytes)
	if n == 0 {
		return nil
	}
	lines := make([]api.NumberedLine, n)
	ld := lineDecoder{decoder: d, styles: make([]api.Style, 1, 8)}
	for i := range lines {
		lines[i].N = next + d.varint()
		next = lines[i].N + 1
		lines[i].Line = ld.line()
		if d.err != nil {
			return nil
		}
	}
	return lines
}

// appendPlaces appends places. Their lines are encoded as distances from base.
func appendPlaces(dst []byte, places []api.Place, base int64) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(places)))
	for _, p := range places {
		dst = binary.AppendVarint(dst, p.Line-base)
		dst = binary.AppendVarint(dst, int64(p.Cell))
	}
	return dst
}

func (d *decoder) places(base int64) []api.Place {
	n := d.count(2)
	if n > api.MaxAnchors {
		d.fail()
	}
	if n == 0 || d.err != nil {
		return nil
	}
	places := make([]api.Place, n)
	for i := range places {
		places[i] = api.Place{Line: base + d.varint(), Cell: d.small()}
	}
	return places
}

// A lineDecoder decodes the lines of one message.
type lineDecoder struct {
	*decoder
	styles  []api.Style // styles so far; the first is the default
	lengths []int       // lengths of the texts of one line's runs
}

// line decodes one line. The texts of its runs share one string, but not with other lines. So a
// line that is kept longer than its neighbours does not keep their memory.
func (d *lineDecoder) line() api.Line {
	head := d.uvarint(uint64(len(d.b))<<lineHeadBits | 1<<lineHeadBits - 1)
	l := api.Line{Wrapped: head&1 != 0, Prompt: head&2 != 0, Output: head&4 != 0, Size: api.LineSize(head >> lineSizeShift & 3)}
	n := int(head >> lineHeadBits)
	if n > len(d.b)/minRunBytes {
		d.fail()
	}
	if n == 0 || d.err != nil {
		return l
	}
	l.Runs = make([]api.Run, n)
	d.lengths = d.lengths[:0]
	total := 0
	for i := range l.Runs {
		l.Runs[i].Style = d.style()
		l.Runs[i].Cells = int(d.uvarint(math.MaxInt32))
		length := d.count(1)
		d.lengths = append(d.lengths, length)
		total += length
	}
	text := string(d.bytes(total))
	if d.err != nil {
		return api.Line{}
	}
	for i, length := range d.lengths {
		l.Runs[i].Text, text = text[:length], text[length:]
	}
	return l
}

func (d *lineDecoder) style() api.Style {
	i := d.uvarint(uint64(len(d.styles)))
	if i < uint64(len(d.styles)) {
		return d.styles[i]
	}
	s := api.Style{Rendition: api.Rendition{
		FG: api.Color(d.uvarint(math.MaxUint32)), BG: api.Color(d.uvarint(math.MaxUint32)), UL: api.Color(d.uvarint(math.MaxUint32)),
		Attrs: api.Attr(d.uvarint(math.MaxUint16)), Underline: api.Underline(d.byte()),
	}, Link: d.string()}
	d.styles = append(d.styles, s)
	return s
}

// A styleTable numbers the styles of one message. It searches up to fewStyles of them linearly, and
// uses a map for more.
type styleTable struct {
	list  []api.Style // from number 1 on
	index map[api.Style]uint64
	last  api.Style
	n     uint64 // number of last
}

const fewStyles = 8

func (t *styleTable) append(dst []byte, s *api.Style) []byte {
	// Fast path: neighbouring runs often alternate between the same two styles.
	if *s == t.last {
		return binary.AppendUvarint(dst, t.n)
	}
	n, known := t.number(s)
	t.last, t.n = *s, n
	dst = binary.AppendUvarint(dst, n)
	if known {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(s.FG))
	dst = binary.AppendUvarint(dst, uint64(s.BG))
	dst = binary.AppendUvarint(dst, uint64(s.UL))
	dst = binary.AppendUvarint(dst, uint64(s.Attrs))
	dst = append(dst, byte(s.Underline))
	return appendString(dst, s.Link)
}

// number returns the number of a style. If the style is not known yet, it gets a new number, and
// known is false.
func (t *styleTable) number(s *api.Style) (n uint64, known bool) {
	if *s == (api.Style{}) {
		return 0, true
	}
	if t.index == nil {
		for i := range t.list {
			if t.list[i] == *s {
				return uint64(i) + 1, true
			}
		}
		t.list = append(t.list, *s)
		if len(t.list) > fewStyles {
			t.index = make(map[api.Style]uint64, 4*fewStyles)
			for i, known := range t.list {
				t.index[known] = uint64(i) + 1
			}
		}
		return uint64(len(t.list)), false
	}
	if n, known = t.index[*s]; !known {
		n = uint64(len(t.index)) + 1
		t.index[*s] = n
	}
	return n, known
}
