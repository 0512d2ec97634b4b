package scrub

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/engine/record/logs"
	"tandem/engine/screen/rendered"
)

// A span is a range of bytes, from [0] up to but excluding [1].
type span = [2]int64

// A pattern describes the text to overwrite.
type pattern struct {
	re    *regexp.Regexp // of text in one line
	shown *logs.Pattern  // finds the lines that show a match of re; faster
	all   bool           // all text, whatever re is
}

// compile returns the pattern of an expression (RE2), or of plain texts.
func compile(expression string, texts []string) (*pattern, error) {
	if expression == "" {
		quoted := make([]string, len(texts))
		for i, t := range texts {
			quoted[i] = regexp.QuoteMeta(t)
		}
		slices.SortFunc(quoted, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // the longest match of several
		expression = strings.Join(quoted, "|")
	}
	shown, err := logs.CompileSearch(expression, false)
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "search: %v", err)
	}
	if re.MatchString("") {
		return nil, api.Errorf(api.CodeInvalid, "overwrite %q: it matches empty text", expression).
			WithHint("give an expression that matches at least one character")
	}
	return &pattern{re: re, shown: shown}, nil
}

// isShown reports whether any of several lines matches as a terminal shows it.
func (p *pattern) isShown(lines []byte) (found bool) {
	p.shown.Each(lines, func(int, int) bool { found = true; return false })
	return found
}

// inText returns the matches in a text.
func (p *pattern) inText(text []byte) (found []span) {
	if p.all {
		return []span{{0, int64(len(text))}}
	}
	for _, m := range p.re.FindAllIndex(text, -1) {
		found = append(found, span{int64(m[0]), int64(m[1])})
	}
	return found
}

// inLine returns the spans to overwrite in a line of a terminal's output: text matching as it was
// printed, as it is shown once the line is complete, or within a control string, such as a title.
// Escape sequences keep their structure.
func (p *pattern) inLine(line []byte) []span {
	if rendered.IsPlain(line) {
		return withoutControls(line, p.inText(line))
	}
	printed, controls, moves := rendered.Printed(line)
	found := traced(printed, p.inText(printed.Text))
	if moves && !p.all {
		shown := rendered.Shown(line)
		found = append(found, traced(shown, p.inText(shown.Text))...)
	}
	found = withoutControls(line, found)
	for _, c := range controls {
		for _, s := range p.inControl(line[c[0]:c[1]]) {
			found = append(found, span{s[0] + int64(c[0]), s[1] + int64(c[0])})
		}
	}
	return merged(found)
}

// traced returns the bytes of the line that drew matches in a text.
func traced(t rendered.Trace, matches []span) (found []span) {
	for _, m := range matches {
		for _, at := range t.From[m[0]:m[1]] {
			at := int64(at)
			if n := len(found); at >= 0 && n > 0 && found[n-1][1] == at {
				found[n-1][1]++
			} else if at >= 0 {
				found = append(found, span{at, at + 1})
			}
		}
	}
	return found
}

// withoutControls returns spans without the control characters in them.
func withoutControls(line []byte, spans []span) (found []span) {
	for _, s := range spans {
		from := s[0]
		for at := s[0]; at <= s[1]; at++ {
			if at < s[1] && line[at] >= ' ' {
				continue
			}
			if at > from {
				found = append(found, span{from, at})
			}
			from = at + 1
		}
	}
	return found
}

const commandMark = "633;E;" // OSC, with the command line and a nonce

// inControl returns the spans to overwrite in an escape sequence or control character.
func (p *pattern) inControl(sequence []byte) (found []span) {
	if len(sequence) < 2 || sequence[0] != 0x1b || strings.IndexByte("]PX^_", sequence[1]) < 0 {
		return nil
	}
	from, to := 2, len(sequence)
	for to > from && (sequence[to-1] == 0x07 || sequence[to-1] == '\\' && sequence[to-2] == 0x1b || sequence[to-1] == 0x1b) {
		to--
	}
	content := sequence[from:to]
	switch {
	case sequence[1] == '_':
		return nil // pictures, and the marks in a checkpoint
	case sequence[1] != ']':
	case bytes.HasPrefix(content, []byte(commandMark)):
		line, _, _ := bytes.Cut(content[len(commandMark):], []byte(";"))
		return shifted(withoutControls(line, p.inEscaped(line)), from+len(commandMark))
	case bytes.HasPrefix(content, []byte("133;")), p.all && bytes.HasPrefix(content, []byte("7;")):
		return nil
	}
	// The number in front is its kind.
	number := len(content) - len(bytes.TrimLeft(content, "0123456789"))
	return shifted(withoutControls(content[number:], p.inText(content[number:])), from+number)
}

func shifted(spans []span, by int) []span {
	for i := range spans {
		spans[i][0] += int64(by)
		spans[i][1] += int64(by)
	}
	return spans
}

// inEscaped returns the spans to overwrite in a command line as OSC 633;E encodes it.
func (p *pattern) inEscaped(line []byte) []span {
	if p.all || bytes.IndexByte(line, '\\') < 0 {
		return p.inText(line)
	}
	units := func(at int) (text []byte, n int) {
		switch rest := line[at:]; {
		case rest[0] == '\\' && len(rest) > 3 && rest[1] == 'x':
			if c, ok := hexByte(rest[2], rest[3]); ok {
				return []byte{c}, 4
			}
		case rest[0] == '\\' && len(rest) > 1:
			return rest[1:2], 2
		}
		return line[at : at+1], 1
	}
	return p.inUnits(len(line), units)
}

func hexByte(hi, lo byte) (byte, bool) {
	const digits = "0123456789abcdef"
	h, l := strings.IndexByte(digits, hi|0x20), strings.IndexByte(digits, lo|0x20)
	return byte(h<<4 | l), h >= 0 && l >= 0
}

// inUnits returns the spans to overwrite in size bytes of encoded text. next decodes the unit at an
// offset, such as an escape, and returns its length. A unit is overwritten as a whole.
func (p *pattern) inUnits(size int, next func(at int) (text []byte, n int)) (found []span) {
	var text []byte
	var units []span // the unit of each byte of text
	for at := 0; at < size; {
		decoded, n := next(at)
		text = append(text, decoded...)
		for range decoded {
			units = append(units, span{int64(at), int64(at + n)})
		}
		at += n
	}
	for _, m := range p.inText(text) {
		if m[1] > m[0] {
			found = append(found, span{units[m[0]][0], units[m[1]-1][1]})
		}
	}
	return found
}

// merged returns spans in ascending order, without overlaps.
func merged(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a[0], b[0]) })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s[0] <= out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], s[1])
		} else {
			out = append(out, s)
		}
	}
	return out
}

// overwrite replaces the bytes of spans by x.
func overwrite(data []byte, spans []span) {
	for _, s := range spans {
		for i := s[0]; i < s[1] && i < int64(len(data)); i++ {
			data[i] = 'x'
		}
	}
}
