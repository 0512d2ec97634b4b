package preview

import (
	"strings"
	"time"

	"github.com/alecthomas/chroma/v2"

	"tandem/panes/kit/look"
)

// An inkSpan is a range of a line whose text has the same syntax class.
type inkSpan struct {
	n     int // bytes
	class syntaxClass
}

// A syntaxClass is a syntax element with a colour in the themes.
type syntaxClass uint8

const (
	classText syntaxClass = iota
	classKeyword
	classString
	classNumber
	classComment
	className // types, functions and built-ins if distinguished
	classHeading
	classBad
)

func (c syntaxClass) ink(style *look.Look) look.Ink {
	return [...]look.Ink{style.Text, style.Accent, style.Good, style.Warn, style.Faint, style.Info, style.Strong, style.Bad}[c]
}

// classOfToken maps chroma's many token types to classes.
func classOfToken(t chroma.TokenType) syntaxClass {
	switch {
	case t == chroma.Error:
		return classText // the start of a part often looks like an error
	case t == chroma.GenericDeleted:
		return classBad
	case t == chroma.GenericInserted:
		return classString
	case t == chroma.GenericHeading, t == chroma.GenericSubheading, t == chroma.GenericStrong:
		return classHeading
	case t == chroma.NameFunction, t == chroma.NameClass, t == chroma.NameBuiltin, t == chroma.NameTag,
		t == chroma.NameAttribute, t == chroma.NameDecorator, t == chroma.NameNamespace, t == chroma.NameConstant, t == chroma.KeywordType:
		return className
	case t.InCategory(chroma.Keyword), t == chroma.OperatorWord:
		return classKeyword
	case t.InSubCategory(chroma.LiteralString):
		return classString
	case t.InSubCategory(chroma.LiteralNumber), t == chroma.Literal, t == chroma.LiteralDate:
		return classNumber
	case t.InCategory(chroma.Comment):
		return classComment
	}
	return classText
}

// paintContext is the number of lines parsed before the visible ones, because a comment or a string
// may begin there.
const paintContext = 300

// needsPaint reports whether a visible line has not been painted.
func (p *Preview) needsPaint() bool {
	for i := p.top; i < min(p.top+p.h, len(p.lines)); i++ {
		if _, ok := p.painted[p.lines[i].off]; !ok {
			return true
		}
	}
	return false
}

// linesToPaint returns the visible lines and some lines around them. The lines before the index
// from are only context.
func (p *Preview) linesToPaint() (lines []previewLine, from int) {
	first := max(p.top-p.h, 0)
	begin := max(first-paintContext, 0)
	end := min(p.top+2*p.h+previewAhead/4, len(p.lines))
	return append([]previewLine(nil), p.lines[begin:end]...), first - begin
}

func (p *Preview) takePaint(part Part) {
	const most = 20_000 // lines whose colours are kept
	// If there are too many colours, drop them all: that is simple, and the visible lines are
	// painted again at once.
	if p.painted == nil || len(p.painted) > most {
		p.painted = map[int64][]inkSpan{}
	}
	for off, spans := range part.painted {
		p.painted[off] = spans
	}
	for i := p.top; i < min(p.top+p.h, len(p.lines)); i++ { // do not ask again for lines that cannot be painted
		if _, ok := p.painted[p.lines[i].off]; !ok && part.Err != nil {
			p.painted[p.lines[i].off] = []inkSpan{}
		}
	}
}

// paintTimeout limits the time for painting the visible lines.
const paintTimeout = 2 * time.Second

// paintLines returns the colours of lines.
func paintLines(lexer string, lines []previewLine, from int) (painted map[int64][]inkSpan) {
	painted = make(map[int64][]inkSpan, len(lines))
	for _, l := range lines[from:] {
		// Lines without spans count as painted too, so that they are not asked for again.
		painted[l.off] = []inkSpan{}
	}
	l := lexers().Get(lexer)
	if l == nil {
		return painted
	}
	var text strings.Builder
	for _, l := range lines {
		text.WriteString(l.text)
		text.WriteByte('\n')
	}
	defer func() { _ = recover() }() // chroma reports errors by panicking
	tokens, err := chroma.Coalesce(l).Tokenise(nil, text.String())
	if err != nil {
		return painted
	}
	at, begin := 0, time.Now()
	for t := range tokens.Stdlib() {
		if time.Since(begin) > paintTimeout {
			return painted
		}
		class := classOfToken(t.Type)
		for i, piece := range strings.Split(t.Value, "\n") {
			if i > 0 {
				at++
			}
			if at >= len(lines) {
				return painted
			}
			if at >= from && piece != "" {
				off := lines[at].off
				painted[off] = append(painted[off], inkSpan{len(piece), class})
			}
		}
	}
	return painted
}
