package terminal

import (
	"bytes"
	"context"
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/screen/vt"
)

// findBatch is how many rows of the scrollback are searched at once. Between two batches, the
// session can show new output.
const findBatch = 4000

// maxLineRows is the maximum number of rows of a wrapped line.
const maxLineRows = 10_000

// A markedText is text with a shell's marks.
type markedText interface {
	rowText
	MarkOf(n int64) vt.RowMark
	CellAt(n int64, offset int) (x, behind int)
}

// A finder searches a session's scrollback and screen, from the oldest row.
type finder struct {
	session  *Session
	re       *regexp.Regexp
	literal  []byte     // every match of re in lower case; nil if matches differ
	mark     vt.RowMark // to find instead of re
	from     api.Place
	backward bool
	wrap     bool

	start   spot // first position, in bytes
	total   int
	first   finding // first match
	last    finding // last match
	nearest finding
}

// A spot is a byte of a row's text.
type spot struct {
	row    int64
	offset int
}

func (a spot) before(b spot) bool { return a.row < b.row || a.row == b.row && a.offset < b.offset }

// A finding is a match and its number, from 1.
type finding struct {
	from, to spot
	number   int
}

// setPattern sets the pattern. Most patterns are plain text regardless of case. These are searched
// for as a lower-case literal in lower-case text, which is faster.
func (f *finder) setPattern(p api.Pattern) (err error) {
	f.re, err = p.Compile()
	if err == nil && !p.Regexp && isASCII(p.Text) && strings.ToLower(p.Text) == p.Text {
		f.literal = []byte(p.Text)
		f.re, err = regexp.Compile(regexp.QuoteMeta(p.Text))
	}
	return err
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func (f *finder) find(ctx context.Context) (api.SessionFindOutput, error) {
	var next, end int64
	err := f.session.onScreen(ctx, func(t Emulator) {
		next, _, end = t.Bounds()
		f.start = spot{f.from.Line, len(t.AppendCells(nil, f.from.Line, 0, f.from.Cell))}
	})
	var b textBlock
	for err == nil && next < end && ctx.Err() == nil {
		err = f.session.onScreen(ctx, func(t Emulator) {
			if f.re == nil {
				next = f.noteMarks(t, next, min(next+findBatch, end))
			} else {
				b.fillFrom(t, next, end)
				next = b.end
			}
		})
		if f.re != nil {
			b.eachMatch(f.re, f.literal, f.addMatch)
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return api.SessionFindOutput{}, err
	}
	return f.buildAnswer(ctx)
}

func (f *finder) noteMarks(t markedText, from, to int64) (next int64) {
	for n := from; n < to; n++ {
		if t.MarkOf(n)&f.mark != 0 {
			f.addMatch(spot{n, 0}, spot{n, 0})
		}
	}
	return to
}

// addMatch records the next match.
func (f *finder) addMatch(from, to spot) {
	f.total++
	m := finding{from, to, f.total}
	if f.total == 1 {
		f.first = m
	}
	f.last = m
	switch {
	case f.backward && from.before(f.start):
		f.nearest = m
	case !f.backward && f.start.before(from) && f.nearest.number == 0:
		f.nearest = m
	}
}

// buildAnswer returns the requested match and its columns.
func (f *finder) buildAnswer(ctx context.Context) (out api.SessionFindOutput, err error) {
	out.Total = f.total
	m := f.nearest
	if m.number == 0 && f.wrap {
		if m = f.first; f.backward {
			m = f.last
		}
	}
	if m.number == 0 {
		return out, nil
	}
	err = f.session.onScreen(ctx, func(t Emulator) {
		from, _ := t.CellAt(m.from.row, m.from.offset)
		to := from
		if m.to.offset > 0 {
			_, to = t.CellAt(m.to.row, m.to.offset-1)
		}
		out.Match = &api.SessionMatch{From: api.Place{Line: m.from.row, Cell: from}, To: api.Place{Line: m.to.row, Cell: to}}
	})
	out.Number = m.number
	return out, err
}

// A textBlock is the text of consecutive rows, without line breaks.
type textBlock struct {
	text []byte
	rows []textRow
	end  int64 // number after the last row
}

type textRow struct {
	n       int64
	start   int // in the block's text
	wrapped bool
}

// fillFrom fills a block with whole lines, beginning at row n.
func (b *textBlock) fillFrom(t rowText, n, end int64) {
	b.text, b.rows = b.text[:0], b.rows[:0]
	most := n + findBatch
	for ; n < end; n++ {
		start := len(b.text)
		text, wrapped, ok := t.AppendText(b.text, n)
		b.text = text
		if ok {
			b.rows = append(b.rows, textRow{n, start, wrapped})
		}
		if n+1 >= most && (!wrapped || n+1 >= most+maxLineRows) {
			n++
			break
		}
	}
	b.end = n
}

// eachMatch calls yield for each match in the block, with its start and the position after its last
// byte, in the row of that byte. If literal is not nil, it is the lower-case text of all matches.
func (b *textBlock) eachMatch(re *regexp.Regexp, literal []byte, yield func(from, to spot)) {
	if literal != nil {
		b.lowerASCII()
		if !bytes.Contains(b.text, literal) {
			return
		}
	}
	for i := 0; i < len(b.rows); {
		last := i
		for b.rows[last].wrapped && last+1 < len(b.rows) {
			last++
		}
		start, end := b.rows[i].start, len(b.text)
		if last+1 < len(b.rows) {
			end = b.rows[last+1].start
		}
		for _, at := range re.FindAllIndex(bytes.TrimRight(b.text[start:end], " "), -1) {
			if at[0] < at[1] {
				yield(b.spotOf(start+at[0]), b.spotAfter(start+at[1]))
			}
		}
		i = last + 1
	}
}

// lowerASCII converts ASCII letters to lower case.
func (b *textBlock) lowerASCII() {
	for i, c := range b.text {
		if 'A' <= c && c <= 'Z' {
			b.text[i] = c + 'a' - 'A'
		}
	}
}

// spotOf returns the row that contains a byte of the text, and its offset in the row.
func (b *textBlock) spotOf(at int) spot {
	i := sort.Search(len(b.rows), func(i int) bool { return b.rows[i].start > at }) - 1
	return spot{b.rows[i].n, at - b.rows[i].start}
}

// spotAfter returns the position after the byte before at, in the row of that byte.
func (b *textBlock) spotAfter(at int) spot {
	s := b.spotOf(at - 1)
	s.offset++
	return s
}

// Find serves session.find.
func (s *Session) Find(ctx context.Context, in api.SessionFindInput) (api.SessionFindOutput, error) {
	f := finder{session: s, from: in.From, backward: in.Backward, wrap: in.Wrap}
	switch in.Mark {
	case "":
		if in.Text == "" {
			return api.SessionFindOutput{}, api.Errorf(api.CodeInvalid, "search: no text given")
		}
		if err := f.setPattern(in.Pattern); err != nil {
			return api.SessionFindOutput{}, err
		}
	case api.MarkedPrompt:
		f.mark = vt.MarkPrompt
	case api.MarkedOutput:
		f.mark = vt.MarkOutput
	default:
		return api.SessionFindOutput{}, api.Errorf(api.CodeInvalid, "search: unknown mark %q", in.Mark)
	}
	return f.find(ctx)
}
